"""What a step says when it runs a skill: `/name arguments` in `skill_command`."""

from __future__ import annotations

import re

from msgspec import Struct

from checkrein.model.expression import Reference, references
from checkrein.model.recipe import Step

OWN_NAMESPACES = ("checkrein", "autoskillit")
"""Prefixes that mean a bundled skill: ours, and the source's."""

_COMMAND = re.compile(r"/((?:[\w.-]+:)*[\w.-]+)(?:\s+(.*))?\Z", re.DOTALL)
_WORD = re.compile(r"(?:\$\{\{.*?\}\}|\"[^\"]*\"|'[^']*'|\S)+", re.DOTALL)
_LOOKED_AT = 4_000
_NAMED = re.compile(r"(?:--)?([A-Za-z_][\w-]*)=")


class SkillCall(Struct, frozen=True):
    """`written` is the name as the step has it, with its namespace."""

    written: str
    arguments: tuple[str, ...]

    @property
    def namespace(self) -> str:
        return self.written.rpartition(":")[0]

    @property
    def name(self) -> str:
        """The name without a prefix that only says that the skill is bundled."""
        return self.written.rpartition(":")[2] if self.namespace in OWN_NAMESPACES else self.written

    def names_input(self, name: str) -> bool:
        """Whether an argument is for this input: `name=...`, or a reference of that name."""
        return any(_names(argument, name) for argument in self.arguments)

    def nameless(self, inputs: frozenset[str]) -> tuple[str, ...]:
        """The arguments that are for none of these inputs by name."""
        return tuple(one for one in self.arguments if not any(_names(one, name) for name in inputs))


def skill_call(step: Step) -> SkillCall | None:
    """None for a step that runs no skill, or one whose name only a run knows."""
    text = step.skill_command
    match = _COMMAND.match(text.strip()) if text is not None else None
    if match is None:
        return None
    return SkillCall(match[1], tuple(_WORD.findall((match[2] or "")[:_LOOKED_AT])))


def is_prose(argument: str) -> bool:
    """Whether an argument has no reference in it."""
    return not references(argument)


def _names(argument: str, name: str) -> bool:
    match = _NAMED.match(argument)
    if match is not None:
        return match[1].replace("-", "_") == name.replace("-", "_")
    return any(_is(reference, name) for reference in references(argument))


def _is(reference: Reference, name: str) -> bool:
    return reference.namespace in ("inputs", "context") and reference.name == name
