"""Reading shell text: every simple command in it, with what is known of its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from checkrein.policy.abstract import ANY
from checkrein.policy.shell.grammar import strangeness
from checkrein.policy.shell.program import Program
from checkrein.policy.shell.state import State

if TYPE_CHECKING:
    from checkrein.policy.shell.walk import Walker

MAX_TEXT = 64 * 1024
"""Longer text is not looked at."""


def analyse(text: str, cwd: str, home: str) -> Program:
    """All commands of `text`, run in `cwd`. Total: what is not understood is in `problems`."""
    from checkrein.policy.shell.walk import TooMuchError, Walker

    if len(text) > MAX_TEXT:
        return Program((), ("it is too long to be read",))
    walker = Walker()
    strange = strangeness(text)
    if strange:
        walker.problem(strange)
    state = State(home=home or ANY, cwds=(cwd,))
    try:
        walker.text(text, state, ())
        uncalled(walker)
    except (TooMuchError, RecursionError):
        walker.problem("it is too long or too deeply nested to be read")
    return Program(tuple(walker.commands), tuple(walker.problems))


def uncalled(walker: Walker) -> None:
    """Walk the functions that nothing calls; something unseen may."""
    for name, (body, state, doubts) in list(walker.defined.items()):
        if name not in walker.called:
            walker.walk(body, structs.replace(state, params=None), doubts)
