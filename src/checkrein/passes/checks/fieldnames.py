"""Frontmatter fields that a kind of file does not have: misspelt, of another kind, or unknown."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checkrein.base.nearest import nearest
from checkrein.base.origin import Origin
from checkrein.facts import claude_fields as facts
from checkrein.facts.claude_guidance import FOREIGN_FIELDS, FOREIGN_RULE_FIELDS, UNDOCUMENTED_FIELDS
from checkrein.model.items import Agent, Command, Instruction, Skill
from checkrein.model.project import Project
from checkrein.passes.checks.parts import bodies, noun

Owner = Skill | Command | Agent | Instruction

_FIELDS: dict[str, frozenset[str]] = {
    "skill": facts.names(facts.SKILL_FIELDS),
    "command": facts.names(facts.SKILL_FIELDS),
    "agent": facts.names(facts.AGENT_FIELDS),
    "rule": facts.names(facts.RULE_FIELDS),
}
_EVERY = frozenset().union(*_FIELDS.values())
_CLOSE = 0.8


class Stranger(Struct, frozen=True):
    """An unknown field.

    `meant` is the field it probably means; `other`: another kind of file has it. `certain` says that only
    case, `-` and `_` differ from the meant field.
    """

    owner: Owner
    name: str
    origin: Origin
    meant: str | None = None
    other: bool = False
    certain: bool = False


def strangers(project: Project) -> Iterator[Stranger]:
    rules = (item for item in project.sources.instructions if item.kind == "rule")
    for owner in (*bodies(project), *rules):
        if owner.unknown:
            own = _FIELDS[noun(owner)]
            foreign = FOREIGN_RULE_FIELDS if isinstance(owner, Instruction) else ()
            for name in owner.unknown:
                if name not in own and name not in UNDOCUMENTED_FIELDS and name not in foreign:
                    yield _judge(owner, name, own)


def _judge(owner: Owner, name: str, own: frozenset[str]) -> Stranger:
    origin = owner.where(name)
    folded = _fold(name)
    meant = next((known for known in own if _fold(known) == folded), None)
    if meant is None and name in _EVERY:
        return Stranger(owner, name, origin, other=True)
    if meant is not None:
        return Stranger(owner, name, origin, meant, certain=True)
    if len(name) > 3 and name not in FOREIGN_FIELDS:
        near = nearest(name, own, _CLOSE)
        meant = None if near in owner.spans else near
    return Stranger(owner, name, origin, meant)


def _fold(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
