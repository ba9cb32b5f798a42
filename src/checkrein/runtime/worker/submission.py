"""The tool with which a worker reports: its input is the typed result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from checkrein.policy.effects import Use
from checkrein.policy.tools import Meaning
from checkrein.runtime.tools.port import ToolContext, ToolDeclaration, ToolFailure, ToolOutput
from checkrein.runtime.tools.structured import validator

NAME = "submit_result"
_DESCRIPTION = (
    "Report the result of the skill. Call it exactly once, when the work is done, as the last call."
)


class SubmitResult:
    """Validates its input against the contract and hands it to `keep`. The first valid submission counts."""

    name = NAME
    eager = True
    read_only = False
    aliases = ()
    meaning = Meaning(name=NAME, effects=lambda _: (Use(NAME),), free=True)

    def __init__(self, schema: Mapping[str, Any], keep: Callable[[dict[str, Any]], None]) -> None:
        made = dict(schema)
        self.declaration = ToolDeclaration(name=NAME, schema=made, description=_DESCRIPTION, eager=True)
        self._keep = keep
        self._check = validator(made)
        self._done = False

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        if self._done:
            raise ToolFailure("The result is already submitted. Say nothing more; the session is over.")
        problem = self._check(input)
        if problem is not None:
            raise ToolFailure(
                f"The result does not match the contract: {problem}. Correct it and call again."
            )
        self._done = True
        self._keep(input)
        return ToolOutput(content="Submitted. The session is over; say nothing more.")
