"""Shared by the readers of other agents: a tree of texts, and items made of one text each.

A key that only the other agent knows goes to the item's `agents.<agent>` section, so it is not lost on the
way back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec import structs

from checkrein.base.frontmatter import Frontmatter
from checkrein.base.origin import Origin, Span
from checkrein.dialects import agents, markdown, skills
from checkrein.dialects.claude.imports import scan
from checkrein.dialects.codes import Log
from checkrein.dialects.dialect import Tree
from checkrein.facts.agents import Target
from checkrein.facts.claude_fields import AGENT_FIELDS, SKILL_FIELDS, names
from checkrein.model.items import Agent, Command, Import, Instruction, InstructionKind, Skill

_SKILL_KEYS = names(SKILL_FIELDS)
_AGENT_KEYS = names(AGENT_FIELDS)
_NEUTRAL = ("behavior", "agents")


def placed(tree: Tree, places: Iterable[str], *, deep: bool = False) -> Iterator[tuple[str, str]]:
    """(path, name) of every text at one of these places, by path; a `deep` name may hold folders."""
    name = "(.+)" if deep else "([^/]+)"
    patterns = [re.compile(re.escape(place).replace(r"\{name\}", name)) for place in places]
    for path in sorted(tree):
        found = next((match for pattern in patterns if (match := pattern.fullmatch(path))), None)
        if found is not None:
            yield path, found[1] if found.re.groups else path


def full_path(root: str, path: str) -> str:
    return os.path.join(root, *path.split("/")) if root else path


def parse_front(text: str, path: str, root: str, known: Collection[str], log: Log) -> Frontmatter:
    return markdown.parse(text, full_path(root, path), "project", known, log)


def read_skills(tree: Tree, root: str, target: Target, log: Log) -> list[Skill]:
    found = []
    for path, name in placed(tree, target.files.skill):
        skill = parse_skill(tree[path], path, name, root, log)
        found.append(into_section(skill, target.key, skill.unknown))
    return found


def parse_skill(text: str, path: str, name: str, root: str, log: Log) -> Skill:
    front = parse_front(text, path, root, _SKILL_KEYS, log)
    file = full_path(root, path)
    return skills.parse_skill(front, file, os.path.dirname(file), name, "project", log)


def parse_command(text: str, path: str, name: str, root: str, log: Log) -> Command:
    """A command file. A command has no label and no paths: such fields of a file count as unknown."""
    skill = parse_skill(text, path, name, root, log)
    shared = {field: getattr(skill, field) for field in Command.__struct_fields__}
    ignored = {
        key: shared[field] for key, field in (("name", "display_name"), ("paths", "paths")) if shared[field]
    }
    shared |= {"display_name": None, "paths": (), "unknown": {**skill.unknown, **_plain(ignored)}}
    return Command(**shared)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


def parse_agent(text: str, path: str, name: str | None, root: str, log: Log) -> Agent | None:
    """An agent file. `name` replaces a missing name and a label; a missing description is empty."""
    front = parse_front(text, path, root, _AGENT_KEYS, log)
    values = dict(front.values)
    if name is not None and not _is_name(values.get("name")):
        values["name"] = name
    described = bool(values.get("description"))
    values.setdefault("description", "-")
    made = structs.replace(front, values=values)
    agent = agents.build(made, Origin(full_path(root, path), "project"), log)
    if agent is None or described:
        return agent
    return structs.replace(agent, description=None)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value[0] != "-" and ":" not in value


Neutral = Skill | Command | Agent


def into_section(item: Any, agent: str, values: Mapping[str, Any]) -> Any:
    """The item with these keys in `agents.<agent>` instead of among the unknown ones."""
    moved = {key: value for key, value in values.items() if key not in _NEUTRAL}
    if not moved:
        return item
    held = item.agents.get(agent)
    section = {**moved, **(held if isinstance(held, dict) else {})}
    unknown = {key: value for key, value in item.unknown.items() if key not in moved}
    return structs.replace(item, unknown=unknown, agents={**item.agents, agent: section})


def instruction(
    text: str,
    path: str,
    root: str,
    kind: InstructionKind = "memory",
    paths: tuple[str, ...] = (),
    spans: dict[str, Span] | None = None,
    offset: int = 0,
) -> Instruction:
    """A memory file or a rule. Comments stay: other agents read them."""
    _, mentions = scan(text)
    file = full_path(root, path)
    return Instruction(
        name=file,
        origin=Origin(file, "project", Span(1)),
        spans=spans or {},
        kind=kind,
        text=text,
        paths=paths,
        imports=tuple(Import(mention.paths[0], _moved(mention.span, offset)) for mention in mentions),
        lazy=bool(paths),
        size=len(text.encode("utf-8", "replace")),
    )


def read_rule(front: Frontmatter, path: str, root: str, paths: tuple[str, ...]) -> Instruction:
    """A rule with frontmatter that applies to these paths."""
    return instruction(front.body, path, root, "rule", paths, front.spans, front.body_line - 1)


def _moved(span: Span, lines: int) -> Span:
    return Span(
        span.line + lines, span.column, span.end_line + lines if span.end_line else 0, span.end_column
    )


def memory_files(tree: Tree, places: Iterable[str], root: str) -> list[Instruction]:
    """The instruction files at these places, in their order; a name without a folder counts everywhere."""
    found = []
    for place in places:
        anywhere = "/" not in place and place[0] != "."
        pattern = re.compile(rf"(?:[^/]+/)*{re.escape(place)}" if anywhere else re.escape(place))
        found += [instruction(tree[path], path, root) for path in sorted(tree) if pattern.fullmatch(path)]
    return found


def invert_body(body: str, whole: str, shell: str | None = None, file: str | None = None) -> str:
    """The other agent's placeholders in our form: all arguments, injected output, attached files."""
    text = body.replace(whole, "$ARGUMENTS") if whole != "$ARGUMENTS" else body
    if shell is not None:
        text = re.sub(shell, lambda found: f"!`{found[1]}`", text)
    if file is not None:
        text = re.sub(file, lambda found: f"@{found[1]}", text)
    return text
