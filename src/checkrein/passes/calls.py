"""Calls as people write them: `Bash(git push)`."""

from __future__ import annotations

from checkrein.base.errors import UsageError
from checkrein.base.nearest import nearest
from checkrein.facts.tools import VALUE_FIELDS
from checkrein.model.rule import split_rule
from checkrein.passes.tools import NO_ADDED_TOOLS, AddedTools
from checkrein.policy.values import Call


def parse_call(text: str, added: AddedTools = NO_ADDED_TOOLS) -> Call:
    """`Bash(git push)` as a call: the text between the parentheses fills the tool's main field."""
    name, specifier, problem = split_rule(text)
    known = added.registry()
    tool = known.get(name)
    if problem is not None:
        raise UsageError(f"{text!r} is not a call: {problem}.", kind="call_invalid")
    if specifier is None:
        return Call(tool.name, {})
    if tool.name in VALUE_FIELDS:
        words = specifier.split(" ", len(VALUE_FIELDS[tool.name]) - 1)
        return Call(tool.name, dict(zip(VALUE_FIELDS[tool.name], words)))
    if not tool.declared and (meant := nearest(tool.name, known.names())):
        raise UsageError(
            f"There is no tool {tool.name!r}.",
            kind="call_invalid",
            hint=f"Did you mean {meant}({specifier})?",
        )
    primary = tool.primary or added.main_field(tool.name)
    if primary is None:
        raise UsageError(
            f"{tool.name} has no main field that the text in the parentheses could fill.",
            kind="call_invalid",
            hint=f"Write the call without parentheses: {tool.name}.",
        )
    return Call(tool.name, {primary: specifier})
