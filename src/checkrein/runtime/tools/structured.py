"""The tool that takes a session's final answer in a required shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checkrein.base.errors import UsageError
from checkrein.policy.effects import Use
from checkrein.policy.tools import Meaning
from checkrein.runtime.tools.port import ToolContext, ToolDeclaration, ToolFailure, ToolOutput

NAME = "StructuredOutput"
_DESCRIPTION = "Give the final answer in the required form. Call it exactly once, when the work is done."


class StructuredOutput:
    """Validates its input against the caller's JSON Schema and hands it to `keep`."""

    name = NAME
    eager = True
    read_only = False
    aliases = ()
    meaning = Meaning(name=NAME, effects=lambda _: (Use(NAME),), free=True)

    def __init__(self, schema: dict[str, Any], keep: Callable[[Any], None]) -> None:
        self.declaration = ToolDeclaration(name=NAME, schema=schema, description=_DESCRIPTION, eager=True)
        self._keep = keep
        self._check = validator(schema)

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        problem = self._check(input)
        if problem is not None:
            raise ToolFailure(f"The output does not match the schema: {problem}. Correct it and call again.")
        self._keep(input)
        text = "Structured output provided successfully"
        return ToolOutput(content=text, structured=text)


def validator(schema: dict[str, Any]) -> Callable[[Any], str | None]:
    """A function that names the first mismatch of a value. Raises UsageError on a bad schema."""
    from jsonschema import exceptions, validators

    kind = validators.validator_for(schema)
    try:
        kind.check_schema(schema)
    except exceptions.SchemaError as error:
        raise UsageError(f"The JSON Schema is not valid: {error.message}", kind="schema_invalid") from error
    checker = kind(schema)

    def check(value: Any) -> str | None:
        error = exceptions.best_match(checker.iter_errors(value))
        if error is None:
            return None
        place = "/".join(str(part) for part in error.absolute_path)
        return f"{error.message} (at {place})" if place else error.message

    return check
