"""Opens the session of a screen. What is missing is asked for: trust in the project, a model and its key."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import CheckreinError
from checkrein.cli.run_ground import place, warnings
from checkrein.cli.screen.dialog import Choice, Dialog
from checkrein.cli.screen.ink import Line
from checkrein.cli.screen.pickers import choose_session
from checkrein.cli.screen.styled import lines_of
from checkrein.runtime.session.session import Session

if TYPE_CHECKING:
    from checkrein.cli.screen.cockpit import Cockpit
    from checkrein.cli.screen.person import Person
    from checkrein.model.view import View
    from checkrein.runtime.session.options import Options

_NO_MODEL = frozenset({"credentials_missing", "model_not_chosen", "model_not_found"})


@contextmanager
def opened(cockpit: Cockpit, person: Person, values: dict[str, Any]) -> Iterator[Session]:
    values = dict(values)
    if values["resume"] == "":
        values["resume"] = choose_session(cockpit)
    with place(values) as (view, options):
        for text in warnings(values, options):
            cockpit.tell(text, "warn")
        if not options.trust:
            _ask_trust(cockpit, view)
        session = _session(cockpit, person, view, options, values)
        try:
            _greet(cockpit, session)
            yield session
        finally:
            session.close()
            _say_how_to_go_on(cockpit, session, options)


def _say_how_to_go_on(cockpit: Cockpit, session: Session, options: Options) -> None:
    if options.persist and session.result is not None:
        line = f"  checkrein --resume {session.id}"
        cockpit.last_words.append([(cockpit.theme["quiet"], line)])


def _ask_trust(cockpit: Cockpit, view: View) -> None:
    """A project that would run something asks first. Without trust the session opens all the same."""
    from checkrein.cli import trust_text
    from checkrein.cli.trust import payload_of
    from checkrein.runtime import trust

    status = trust.status(view.project)
    if status.trusted or not status.items:
        return
    cockpit.say([[], *lines_of(trust_text.surface(payload_of(status)))])
    rows = [
        Choice("No: its hooks, servers, env and allow rules do not count", False, key="n"),
        Choice("Yes, as it is now", True, key="y"),
    ]
    if cockpit.ask(Dialog("Do you trust this project?", rows, hint="Esc: no")):
        trust.trust(view.project)


def _session(
    cockpit: Cockpit, person: Person, view: View, options: Options, values: dict[str, Any]
) -> Session:
    while True:
        try:
            session = Session(view, model=values["model"], options=options, asker=person, answerer=person)
        except CheckreinError as error:
            if error.kind not in _NO_MODEL:
                raise
            from checkrein.cli.screen.model_setup import set_up

            cockpit.tell(error.message, "warn")
            chosen = set_up(cockpit)
            if chosen is None:
                raise
            values["model"] = chosen
            continue
        return session


def _greet(cockpit: Cockpit, session: Session) -> None:
    from checkrein import __version__
    from checkrein.cli import paint
    from checkrein.runtime.context.reminders import git_branch
    from checkrein.runtime.turn.compactor import window

    theme, board, conversation = cockpit.theme, cockpit.board, session.conversation
    assert board is not None
    board.session_id, board.model, board.mode = session.id, conversation.state.model, conversation.gate.mode
    board.window = window(conversation)
    board.branch = git_branch(conversation.view.project.place.repo_root) or ""
    lines: list[Line] = [
        [
            (theme["accent"], "  checkrein "),
            (theme["quiet"], f"{__version__} · {conversation.state.model} · {paint.path(os.getcwd())}"),
        ],
        [(theme["quiet"], "  / commands · @ files · ! shell · Esc interrupts · Ctrl-D leaves")],
    ]
    if conversation.state.messages:
        from checkrein.cli.screen.earlier import last_exchange

        lines += last_exchange(session, board, theme)
    cockpit.say(lines)
    cockpit.face.redraw()
