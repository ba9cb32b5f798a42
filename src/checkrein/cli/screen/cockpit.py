"""What the parts of the screen share: the face, the board, the session as soon as there is one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import TYPE_CHECKING, Any, Protocol

from checkrein.cli.screen.face import Face
from checkrein.cli.screen.ink import Line, encoded, words
from checkrein.cli.screen.terminal import Terminal
from checkrein.cli.screen.theme import Theme

if TYPE_CHECKING:
    from checkrein.cli.screen.board import Board
    from checkrein.cli.screen.dialog import Dialog, Entry
    from checkrein.cli.screen.painter import Painter
    from checkrein.cli.screen.status_rows import StatusRows
    from checkrein.cli.screen.watcher import Watcher
    from checkrein.runtime.session.session import Session

_HINT = 3.0


class SessionSide(Protocol):
    """The session's thread, as the keys and the commands use it. `notes` go to the model with the next
    prompt; `put` takes a prompt, or work for between the turns."""

    notes: list[str]

    def take(self, shown: str, text: str) -> None: ...
    def put(self, item: Any) -> None: ...
    def interrupt(self) -> list[str]: ...
    def next_mode(self) -> None: ...
    def send_to_background(self) -> None: ...
    def close(self) -> None: ...


class Answering(Protocol):
    """The person. `own_command` is the command that they have just typed: it needs no approval."""

    own_command: str | None


class Cockpit:
    def __init__(self, face: Face, terminal: Terminal, theme: Theme) -> None:
        self.face = face
        self.terminal = terminal
        self.theme = theme
        self.board: Board | None = None
        self.painter: Painter | None = None
        self.rows: StatusRows | None = None
        self.session: Session | None = None
        self.person: Answering
        self.conductor: SessionSide | None = None
        self.carry_out: Callable[[Cockpit, str, str], None] | None = None
        self.whole_terminal: dict[str, Callable[[Cockpit], Coroutine[Any, Any, None]]] = {}
        self.watcher: Watcher | None = None
        self.before: str | None = None
        self._early: list[tuple[str, str]] = []
        self.last_words: list[Line] = []
        self.status = 0
        self._hinted = 0.0

    @property
    def moves(self) -> bool:
        """Whether the bottom of the terminal shows a time."""
        board = self.board
        return board is not None and (board.busy or any(one.ended is None for one in board.agents.values()))

    def take(self, shown: str, text: str) -> None:
        """What the person typed. Before the session's side is there, it waits."""
        if self.conductor is None:
            self._early.append((shown, text))
        else:
            self.conductor.take(shown, text)

    def attach(self, conductor: SessionSide) -> None:
        loop = self.face.app.loop

        def hand_over() -> None:
            self.conductor = conductor
            for shown, text in self._early:
                conductor.take(shown, text)
            self._early.clear()

        if loop is not None:
            loop.call_soon_threadsafe(hand_over)

    def say(self, lines: Iterable[Line]) -> None:
        """Put lines into the scrollback, in order with everything else."""
        if self.painter is not None:
            self.painter.say(lines)
        else:
            self.face.commit(encoded(lines, colors=self.theme.colors), ())

    def tell(self, text: str, role: str = "quiet") -> None:
        self.say(words("\n".join(f"  {line}" for line in text.split("\n")), self.theme[role]))

    def ask(self, question: Dialog | Entry) -> Any:
        """Ask, after everything that the question may be about is shown. Not for the event loop's thread."""
        if self.painter is not None:
            self.painter.flush()
        return self.face.ask(question)

    def hint(self, text: str) -> None:
        """A word in the status line, for a moment."""
        if self.rows is None:
            return
        self.rows.note, self._hinted = text, time.monotonic()
        threading.Timer(_HINT, self._unhint).start()
        self.face.redraw()

    def _unhint(self) -> None:
        if self.rows is not None and time.monotonic() - self._hinted >= _HINT:
            self.rows.note = ""
            self.face.redraw()

    def command(self, name: str, rest: str) -> None:
        """Carry out a command of the screen."""
        if self.carry_out is not None and self.conductor is not None:
            self.carry_out(self, name, rest)

    def later(self, what: str) -> None:
        """Something that takes the whole terminal. Any thread may call it."""
        work, loop = self.whole_terminal.get(what), self.face.app.loop
        if work is not None and loop is not None:
            loop.call_soon_threadsafe(lambda: self.face.app.create_background_task(work(self)))

    def fail(self, error: object) -> None:
        """Leave because of a mistake of ours."""
        from checkrein.cli import out

        out.trace()
        what = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else str(error)
        hint = "This is a bug in checkrein: please report it. CHECKREIN_TRACEBACK=1 shows where it happened."
        self.exit(1, *words(f"checkrein: {what}", self.theme["bad"]), *words(f"  {hint}"))

    def exit(self, status: int, *words_: Line) -> None:
        """Leave the screen. Any thread may call it, and more than one."""
        self.status = self.status or status
        self.last_words += words_
        app, loop = self.face.app, self.face.app.loop

        def leave() -> None:
            if app.is_running and not app.is_done:
                app.exit(result=status)

        if loop is not None:
            loop.call_soon_threadsafe(leave)
