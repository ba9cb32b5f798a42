"""Read shell text: every simple command in it, with what is known about its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from checkrein.policy.abstract import ANY
from checkrein.policy.paths import absolute
from checkrein.policy.shell.grammar import strangeness
from checkrein.policy.shell.program import Program
from checkrein.policy.shell.state import State

if TYPE_CHECKING:
    from checkrein.policy.shell.walk import Walker

MAX_TEXT = 64 * 1024
"""Text longer than this is not read."""


def analyse(text: str, cwd: str, home: str, places: tuple[str, ...] = ()) -> Program:
    """All commands of `text`, run in `cwd` or in one of the other `places`. Total: `problems` lists what it
    does not understand."""
    from checkrein.policy.shell.walk import TooMuchError, Walker

    if len(text) > MAX_TEXT:
        return Program((), ("it is too long to read",))
    walker = Walker()
    strange = strangeness(text)
    if strange:
        walker.problem(strange)
    cwds = dict.fromkeys((cwd, *(absolute(one, cwd, home) for one in places)))
    state = State(home=home or ANY, cwds=tuple(cwds))
    try:
        walker.text(text, state, ())
        uncalled(walker)
    except (TooMuchError, RecursionError):
        walker.problem("it is too long or too deeply nested to read")
    return Program(tuple(walker.commands), tuple(walker.problems))


def uncalled(walker: Walker) -> None:
    """Walk the functions that nothing calls; an unseen caller may exist."""
    for name, (body, state, doubts) in list(walker.defined.items()):
        if name not in walker.called:
            walker.walk(body, structs.replace(state, params=None), doubts)
