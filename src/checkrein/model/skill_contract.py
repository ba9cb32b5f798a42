"""What a skill promises to report: its outputs, the patterns of its text, and whether it writes files.

`contract.yaml` beside the SKILL.md holds it. A skill without one promises a text.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from msgspec import Struct

OutputType = Literal["string", "integer", "file_path", "file_path_list", "directory_path"]
WriteBehavior = Literal["always", "conditional", "none"]
_SUMMARY = "summary"
PATH_TYPES = ("file_path", "file_path_list", "directory_path")
_READ_TO = 200_000
"""Characters of a text, from its end, that patterns are looked for in."""
_LONGEST = 1.0
"""Seconds that the search for one pattern may take."""


class Input(Struct, frozen=True, kw_only=True):
    """What a skill takes. Without a `required` input it can't work; a `recommended` one makes it better."""

    name: str
    type: str = "string"
    required: bool = False
    recommended: bool = False
    description: str = ""


class Output(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    type: OutputType = "string"
    allowed_values: tuple[str, ...] = ()
    description: str = ""

    @property
    def is_path(self) -> bool:
        return self.type in PATH_TYPES

    def schema(self) -> dict[str, Any]:
        kind: dict[str, Any] = {"type": "string"}
        if self.type == "integer":
            kind = {"type": "integer"}
        elif self.type == "file_path_list":
            kind = {"type": "array", "items": {"type": "string"}}
        if self.allowed_values:
            kind["enum"] = list(self.allowed_values)
        return kind | ({"description": self.description} if self.description else {})


class Contract(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`expected_output_patterns` must all be found in the text of a session that submits nothing; without
    any, each output has a line `name = value`. `write_expected_when` are patterns on the text: a skill that
    writes `conditional`ly must have written when one of them is found."""

    inputs: tuple[Input, ...] = ()
    outputs: tuple[Output, ...] = ()
    expected_output_patterns: tuple[str, ...] = ()
    pattern_examples: tuple[str, ...] = ()
    write_behavior: WriteBehavior = "none"
    write_expected_when: tuple[str, ...] = ()

    @property
    def patterns(self) -> tuple[str, ...]:
        lines = (rf"(?m)^[ \t]*{re.escape(one.name)}[ \t]*=[ \t]*\S" for one in self.outputs)
        return self.expected_output_patterns or tuple(lines)

    def schema(self) -> dict[str, Any]:
        """The form of a typed submission."""
        properties = {one.name: one.schema() for one in self.outputs}
        required = [one.name for one in self.outputs]
        properties.setdefault(_SUMMARY, {"type": "string", "description": "What was done, in a few lines."})
        return {"type": "object", "properties": properties, "required": required or [_SUMMARY]}

    def is_met(self, text: str) -> bool:
        plain = without_decoration(text)
        return all(is_found(pattern, plain) for pattern in self.patterns)

    def expects_writes(self, text: str) -> bool:
        if self.write_behavior != "conditional":
            return self.write_behavior == "always"
        return any(is_found(pattern, text) for pattern in self.write_expected_when)

    def values(self, text: str) -> dict[str, str]:
        """The values of the lines `name = value` in a text; the last of each counts."""
        plain = without_decoration(text)[-_READ_TO:]
        found: dict[str, str] = {}
        for one in self.outputs:
            lines = re.findall(rf"(?m)^[ \t]*{re.escape(one.name)}[ \t]*=[ \t]*(\S.*?)[ \t]*$", plain)
            if lines:
                found[one.name] = lines[-1]
        return found


NO_CONTRACT = Contract()


def without_decoration(text: str) -> str:
    """`**plan_path** = x` and `` `plan_path` = x `` as `plan_path = x`."""
    return re.sub(r"(?m)^([ \t]*)[*_`]{1,3}([\w-]+)[*_`]{1,3}([ \t]*=)", r"\1\2\3", text)


def is_found(pattern: str, text: str) -> bool:
    """A pattern that is no regular expression is never found, and neither is one that looks for too long: a
    contract comes with a skill, and its patterns must not hold a server up."""
    import regex

    try:
        return regex.search(pattern, text[-_READ_TO:], timeout=_LONGEST) is not None
    except (regex.error, TimeoutError):
        return False
