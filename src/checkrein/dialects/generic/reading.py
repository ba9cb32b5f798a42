"""What readers of other agents share: a tree of texts, and items made of one text each.

A key that only the other agent knows goes to the item's `agents.<agent>` section, so that nothing is lost on
the way back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec import structs

from checkrein.base.frontmatter import Frontmatter
from checkrein.base.origin import Origin, Span
from checkrein.dialects import agents, markdown, skills
from checkrein.dialects.claude.imports import scan
from checkrein.dialects.codes import Log
from checkrein.facts.claude_fields import AGENT_FIELDS, SKILL_FIELDS, names
from checkrein.model.items import Agent, Command, Import, Instruction, InstructionKind, Skill

Tree = Mapping[str, str]
"""Texts by path, relative to the project's directory and with forward slashes."""

_SKILL_KEYS = names(SKILL_FIELDS)
_AGENT_KEYS = names(AGENT_FIELDS)
_NEUTRAL = ("behavior", "agents")


def below(tree: Tree, directory: str, pattern: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Paths in `directory` whose rest matches `pattern` as a whole, by path."""
    start = f"{directory}/" if directory else ""
    wanted = re.compile(pattern)
    for path in sorted(tree):
        if path.startswith(start) and (found := wanted.fullmatch(path[len(start) :])):
            yield path, found


def full_path(root: str, path: str) -> str:
    return os.path.join(root, *path.split("/")) if root else path


def parse_front(text: str, path: str, root: str, known: Collection[str], log: Log) -> Frontmatter:
    return markdown.parse(text, full_path(root, path), "project", known, log)


def read_skills(tree: Tree, directory: str, root: str, agent: str, log: Log) -> list[Skill]:
    """Every `<directory>/<name>/SKILL.md`."""
    found = []
    for path, match in below(tree, directory, r"([^/]+)/SKILL\.md"):
        skill = parse_skill(tree[path], path, match[1], root, log)
        found.append(into_section(skill, agent, skill.unknown))
    return found


def parse_skill(text: str, path: str, name: str, root: str, log: Log) -> Skill:
    front = parse_front(text, path, root, _SKILL_KEYS, log)
    file = full_path(root, path)
    return skills.parse_skill(front, file, os.path.dirname(file), name, "project", log)


def parse_command(text: str, path: str, name: str, root: str, log: Log) -> Command:
    """A command file. A command has no label and no paths: what a file says of them is not known there."""
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
    """An agent file. `name` stands in for a missing one; a missing description is empty."""
    front = parse_front(text, path, root, _AGENT_KEYS, log)
    values = dict(front.values)
    if name is not None:
        values.setdefault("name", name)
    described = bool(values.get("description"))
    values.setdefault("description", "-")
    made = structs.replace(front, values=values)
    agent = agents.build(made, Origin(full_path(root, path), "project"), log)
    if agent is None or described:
        return agent
    return structs.replace(agent, description=None)


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


def _moved(span: Span, lines: int) -> Span:
    return Span(
        span.line + lines, span.column, span.end_line + lines if span.end_line else 0, span.end_column
    )


def memory_files(tree: Tree, name: str, root: str, kind: InstructionKind = "memory") -> list[Instruction]:
    """Every file of this name, in the root and below it."""
    pattern = rf"(?:[^/]+/)*{re.escape(name)}"
    return [instruction(tree[path], path, root, kind) for path, _ in below(tree, "", pattern)]


def invert_body(body: str, whole: str, shell: str | None = None, file: str | None = None) -> str:
    """The other agent's placeholders in our words: all arguments, injected output, attached files."""
    text = body.replace(whole, "$ARGUMENTS") if whole != "$ARGUMENTS" else body
    if shell is not None:
        text = re.sub(shell, lambda found: f"!`{found[1]}`", text)
    if file is not None:
        text = re.sub(file, lambda found: f"@{found[1]}", text)
    return text
