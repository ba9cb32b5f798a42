"""The screen without a screen: line by line, for screen readers, dumb terminals and slow lines.

Nothing is drawn twice. Prompts are read as the terminal gives them; a backslash at the end goes on in the
next line.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import CheckreinError
from checkrein.cli import out, paint
from checkrein.cli.run_output import Terminal, screen, warn
from checkrein.cli.typed import line
from checkrein.llm.port import Cancel
from checkrein.runtime.session.session import Session

if TYPE_CHECKING:
    from types import FrameType

    from checkrein.runtime.session.events import Event


def stay(values: dict[str, Any]) -> int:
    """Read prompts and run them until the input ends, or `/exit`."""
    from checkrein.cli.run_ground import place, warnings

    with place(values) as (view, options):
        person = Terminal(view.project.place)
        for text in warnings(values, options):
            warn(text)
        _ask_trust(view, trusted=options.trust)
        session = Session(view, model=values["model"], options=options, asker=person, answerer=person)
        with session:
            out.say(f"checkrein, {session.conversation.state.model}, {paint.path(os.getcwd())}")
            out.say("Write a prompt. /help lists commands, /exit leaves, Ctrl-C interrupts.")
            return _serve(session, screen(headless=False))


def _ask_trust(view: Any, *, trusted: bool) -> None:
    from checkrein.cli import trust_text
    from checkrein.cli.trust import payload_of
    from checkrein.runtime import trust

    status = trust.status(view.project)
    if trusted or status.trusted or not status.items:
        return
    out.say(trust_text.surface(payload_of(status)))
    if out.confirm("Trust this project as it is?"):
        trust.trust(view.project)


def _serve(session: Session, show: Any) -> int:
    waits = Cancel()

    def interrupt(number: int, frame: FrameType | None) -> None:
        session.control.interrupt()
        waits.cancel()

    signal.signal(signal.SIGINT, interrupt)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    while True:
        for event in session.idle_events():
            show(event)
        waits = Cancel()
        prompt = _prompt(waits)
        if prompt is None:
            if waits.cancelled:
                continue
            return 0
        if prompt.strip() in ("/exit", "/quit"):
            return 0
        if prompt.strip():
            _run(session, prompt, show)


def _prompt(cancel: Cancel) -> str | None:
    """One prompt, or None at the end of the input or after an interrupt."""
    said = line("> ", cancel)
    while said is not None and said.endswith("\\"):
        more = line("  ", cancel)
        if more is None:
            return None
        said = f"{said[:-1]}\n{more}"
    return said


def _run(session: Session, prompt: str, show: Any) -> None:
    if _command(prompt):
        return
    try:
        event: Event
        for event in session.run(prompt):
            show(event)
    except CheckreinError as error:
        warn(error.message)


def _command(prompt: str) -> bool:
    """Commands that are commands of the command line work here too."""
    from checkrein.cli.main import run
    from checkrein.cli.screen.slash import COMMANDS, words_of

    name, _, rest = prompt[1:].partition(" ")
    command = COMMANDS.get(name) if prompt.startswith("/") else None
    if command is None or not command.argv:
        return False
    run(words_of(command, rest.strip()))
    return True
