"""Commands of the command line inside the screen: the same functions, shown in the scrollback."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from checkrein.base.errors import UsageError
from checkrein.cli import out
from checkrein.cli.screen.dialog import Choice, Dialog, Entry
from checkrein.cli.screen.styled import lines_of

if TYPE_CHECKING:
    from checkrein.cli.screen.cockpit import Cockpit

_REFUSED = frozenset({"run", "cook", "serve mcp", "mock-model", "completion"})
"""Commands that take the terminal for themselves."""


def say_outcome(cockpit: Cockpit, argv: Sequence[str]) -> None:
    """Run a command and show what it says. Not for the thread of the event loop."""
    from checkrein.cli import main, registry

    said = io.StringIO()
    with redirect_stdout(said):  # help goes there
        parsed = main.parsed(argv)
    if isinstance(parsed, int):
        cockpit.say(lines_of(said.getvalue()))
        return
    name, values = parsed
    if name in _REFUSED:
        raise UsageError(f"`checkrein {name}` does not run inside of a session.")
    for unused in ("as_json", "output_format", "started_in"):
        values.pop(unused, None)
    with out.sent_to(_Inside(cockpit)):
        outcome = registry.runner(name)(**values)
        text = outcome.text() if outcome.text is not None else ""
    warned = [f"{one.origin}: {one.message}" for one in outcome.warnings]
    cockpit.say([[], *lines_of("\n".join((*warned, text)).strip("\n"))])


class _Inside:
    def __init__(self, cockpit: Cockpit) -> None:
        self._cockpit = cockpit

    def say(self, text: str) -> None:
        self._cockpit.say(lines_of(text))

    def confirm(self, question: str) -> bool:
        rows = [Choice("No", False, key="n"), Choice("Yes", True, key="y")]
        return self._cockpit.ask(Dialog(question, rows)) is True

    def prompt(self, question: str, *, hidden: bool) -> str:
        said = self._cockpit.ask(Entry(lambda: question, hidden=hidden))
        if said is None:
            raise KeyboardInterrupt
        return str(said)
