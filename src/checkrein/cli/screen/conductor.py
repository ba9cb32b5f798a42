"""The session's thread: opens the session while the person already types, then runs one prompt after the
other."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.errors import CheckreinError
from checkrein.cli.screen import scroll_lines
from checkrein.cli.screen.ink import words
from checkrein.llm.port import text_of
from checkrein.runtime.session.channel import WAKE
from checkrein.runtime.session.control import Prompt
from checkrein.runtime.session.session import Session
from checkrein.runtime.session.wakes import Wake

if TYPE_CHECKING:
    from checkrein.cli.screen.cockpit import Cockpit
    from checkrein.cli.screen.person import Person
    from checkrein.cli.screen.status_command import StatusCommand
    from checkrein.runtime.session.events import Event

Work = Callable[[Session], object]
"""Something that only a session between its turns can do."""
_CLOSING = 6.0
_CYCLE = ("default", "acceptEdits", "plan", "auto", "bypassPermissions")


class Spoken(Struct, frozen=True):
    """A prompt, and how the scrollback shows it: with one line for a large paste."""

    shown: str
    text: str


class Reopen(Exception):  # noqa: N818  it is no error
    """Close the session and open another, as these values of `checkrein run` say."""

    def __init__(self, **values: Any) -> None:
        super().__init__("another session")
        self.values = values


class Conductor:
    """`take`, `interrupt` and the rest are for any thread. `show` gets every event."""

    def __init__(
        self, cockpit: Cockpit, person: Person, show: Callable[[Event], None], values: dict[str, Any]
    ) -> None:
        self._cockpit = cockpit
        self._person = person
        self._show = show
        self._values = values
        self._change = threading.Condition()
        self._items: deque[Spoken | Work] = deque()
        self._leaving = False
        self.notes: list[str] = []
        """What the model gets with the next prompt."""
        self._thread = threading.Thread(target=self._run, name="checkrein-session", daemon=True)

    def start(self) -> None:
        self._thread.start()

    # -- for any thread --

    def take(self, shown: str, text: str) -> None:
        """What the person typed: a command of ours, one of theirs, or a prompt."""
        from checkrein.cli.screen import slash

        if text.startswith("!") and text[1:].strip():
            from checkrein.cli.screen.own_command import run_own

            self.put(lambda session: run_own(self._cockpit, session, text[1:].strip()))
        elif slash.takes(text):
            name, _, rest = text[1:].partition(" ")
            self._cockpit.say(scroll_lines.prompt(shown, self._cockpit.theme))
            slash.carry_out(self._cockpit, name.strip(), rest.strip())
        else:
            self._prompt(shown, text)

    def _prompt(self, shown: str, text: str) -> None:
        from checkrein.cli.screen.pictures import with_pictures

        board, session = self._cockpit.board, self._cockpit.session
        if board is not None and session is not None and board.busy and not text.startswith("/"):
            board.waiting.append(text)
            board.labels[text] = shown
            session.control.send(with_pictures(session, text, self._cockpit.tell))
            self._cockpit.face.redraw()
            return
        self.put(Spoken(shown, text))

    def put(self, item: Spoken | Work) -> None:
        with self._change:
            self._items.append(item)
            self._change.notify()

    def interrupt(self) -> list[str]:
        """End the turn. Returns the texts of the messages that it did not take."""
        session, board = self._cockpit.session, self._cockpit.board
        if session is None or board is None:
            return []
        if board.own is not None:
            board.own.cancel()
        session.control.interrupt()
        back: list[str] = []
        while (text := session.control.take_text()) is not None:
            back.append(text)
        board.waiting.clear()
        return back

    def next_mode(self) -> None:
        """The next mode that this session may enter. It counts at once, for a running turn too."""
        session, board = self._cockpit.session, self._cockpit.board
        if session is None or board is None:
            return
        conversation = session.conversation
        at = _CYCLE.index(board.mode) if board.mode in _CYCLE else -1
        for mode in (*_CYCLE[at + 1 :], *_CYCLE[: at + 1]):
            if conversation.may_enter(mode):
                conversation.enter(mode)
                session.control.set_mode(mode)
                board.mode = mode
                self._cockpit.face.redraw()
                return

    def send_to_background(self) -> None:
        """The commands and the agents that the turn waits for."""
        session = self._cockpit.session
        if session is None:
            return
        delegate = session.conversation.desk.delegate
        commands = session.conversation.services.spawner.let_go()
        if (delegate is not None and delegate.let_go()) or commands:
            self._cockpit.hint("it goes on in the background (/tasks)")
        else:
            self._cockpit.hint("nothing runs that could go to the background")

    def close(self) -> None:
        """End the session and wait for that."""
        with self._change:
            self._leaving = True
            self._change.notify()
        session = self._cockpit.session
        if session is not None:
            session.control.stop()
        self._thread.join(_CLOSING)

    # -- the session's thread --

    def _run(self) -> None:
        try:
            while not self._leaving:
                try:
                    with self._opened() as session:
                        self._serve(session)
                    return
                except Reopen as other:
                    self._values = {**self._values, **other.values}
        except CheckreinError as error:
            self._fail(error.message, error.hint)
        except Exception as error:
            self._cockpit.fail(error)

    def _fail(self, message: str, hint: str | None) -> None:
        bad, quiet = self._cockpit.theme["bad"], self._cockpit.theme["quiet"]
        lines = words(f"checkrein: {message}", bad)
        self._cockpit.exit(1, *lines, *(words(f"  {hint}", quiet) if hint else ()))

    @contextmanager
    def _opened(self) -> Iterator[Session]:
        from checkrein.cli.screen.first_run import opened

        with opened(self._cockpit, self._person, self._values) as session:
            session.control.wakes.listen(self._notify)
            session.consumers.append(self._show)
            self._cockpit.session = session
            status = self._status_command(session)
            try:
                yield session
            finally:
                self._cockpit.session = None
                status.close()

    def _status_command(self, session: Session) -> StatusCommand:
        from checkrein.cli.screen.status_command import StatusCommand
        from checkrein.runtime.session.events import Finished, ModeChanged, ReplyCompleted

        board, rows = self._cockpit.board, self._cockpit.rows
        assert board is not None
        assert rows is not None

        def show(lines: list[str]) -> None:
            rows.custom = lines
            self._cockpit.face.redraw()

        command = StatusCommand(session, board, show)

        def hear(event: Event) -> None:
            if isinstance(event, Finished | ModeChanged | ReplyCompleted):
                command.poke()

        session.consumers.append(hear)
        return command

    def _notify(self) -> None:
        with self._change:
            self._change.notify()

    def _serve(self, session: Session) -> None:
        while (item := self._next(session)) is not None:
            if callable(item):
                try:
                    item(session)
                except CheckreinError as error:
                    self._cockpit.tell(error.message, "bad")
                    if error.hint:
                        self._cockpit.tell(error.hint)
                continue
            self._play(session, item)

    def _play(self, session: Session, item: Spoken | Prompt | Wake) -> None:
        from checkrein.cli.screen.pictures import with_pictures

        if isinstance(item, Spoken):
            self._cockpit.say(scroll_lines.prompt(item.shown, self._cockpit.theme))
            item = with_pictures(session, item.text, self._cockpit.tell)
            while self.notes:
                session.control.send(self.notes.pop(0))
        self._person.turn_began()
        if self._cockpit.board is not None:
            self._cockpit.board.begin()
        for _ in session.run(item):
            pass
        self._person.turn_ended()

    def _next(self, session: Session) -> Spoken | Prompt | Wake | Work | None:
        while True:
            session.idle_events()
            with self._change:
                if self._leaving:
                    return None
                left = session.control.take_message()
                if left is not None:
                    return self._unheard(left)
                if self._items:
                    return self._items.popleft()
            wake = session.control.wakes.next()
            if wake is not None:
                return wake
            with self._change:
                if not self._items and not self._leaving:
                    self._change.wait(WAKE)

    def _unheard(self, message: Prompt) -> Spoken | Prompt:
        """A message that came too late for its turn is a prompt."""
        board = self._cockpit.board
        assert board is not None
        text = message if isinstance(message, str) else text_of(message)
        if text not in board.waiting:
            return message
        board.waiting.remove(text)
        return Spoken(board.labels.pop(text, text), text)
