"""Reads projects of other agents, and single files of them, as source items."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Literal, get_args

from checkrein.base.errors import UsageError
from checkrein.base.nearest import did_you_mean
from checkrein.deploy.manifest import Entry
from checkrein.deploy.shared import Joined, is_blank, part
from checkrein.dialects.dialect import Dialect, Reader
from checkrein.dialects.table import find, readable
from checkrein.facts.agents import Files
from checkrein.model.project import Sources
from checkrein.passes.extensions import installed_dialects

Kind = Literal["skill", "command", "agent", "rule", "instruction", "hooks", "servers", "settings"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def source(name: str, *projects: str, ours: bool = False) -> tuple[Files, Reader]:
    """The places of an agent's files, and its reader. Raises UsageError for an agent without a reader.

    `ours` lets the project be one of Claude Code. Installed packages may add dialects, `projects` may not.
    """
    added = {one.name: one.value for one in installed_dialects(*projects).added}
    names = (*(known for known in readable() if ours or known != "claude"), *added)
    found: Dialect | None = (added.get(name) or find(name)) if name in names else None
    if found is None or found.read is None:
        raise UsageError(
            f"There is no reader for files of {name!r}.{did_you_mean(name, names)}",
            kind="agent_unknown",
            hint=f"use one of {', '.join(names)}",
        )
    return found.files, found.read


def without_ours(tree: Mapping[str, str], deployed: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    """The texts of a project without what deploy wrote: whole files, or its keys in shared ones."""
    for path, text in tree.items():
        entry = deployed.get(path)
        if entry is None:
            yield path, text
        elif entry.merge is not None:
            left = part(path, text.encode(), entry.merge)
            if isinstance(left, Joined) and not is_blank(path, left.content):
                yield path, left.content.decode()


def read_file(text: str, path: str, agent: str, kind: Kind | None = None) -> tuple[Sources, Kind]:
    """The items of one file of an agent, wherever it is. Its name and content give the kind."""
    files, read = source(agent, ours=True)
    found = kind or guess_kind(text, path)
    places: tuple[str, ...] = (
        files.permissions or files.hooks if found == "settings" else getattr(files, found)
    )
    if not places:
        raise UsageError(f"{agent} has no files of kind {found!r}.", hint="name the kind with --kind")
    canonical = places[0].format(name=item_name(path))
    return read({canonical: text}, ""), found


def item_name(path: str) -> str:
    """The name that a file gives its item: the folder of a SKILL.md, else the stem."""
    folder, _, file = path.replace(os.sep, "/").rpartition("/")
    if file == "SKILL.md":
        return folder.rpartition("/")[2] or "skill"
    stem = file.partition(".")[0] if file.startswith(".") is False else file
    return stem or "item"


def guess_kind(text: str, path: str) -> Kind:
    """Guess the kind from the name first, then the directory, then the content."""
    slashed = "/" + path.replace(os.sep, "/")
    file = slashed.rpartition("/")[2]
    if file == "SKILL.md":
        return "skill"
    endings: tuple[tuple[str, Kind], ...] = (
        (".agent.md", "agent"),
        (".prompt.md", "command"),
        (".instructions.md", "rule"),
        (".mdc", "rule"),
    )
    for ending, kind in endings:
        if file.endswith(ending):
            return kind
    if file in ("CLAUDE.md", "AGENTS.md", "GEMINI.md", "QWEN.md", "copilot-instructions.md"):
        return "instruction"
    if file in ("settings.json", "settings.local.json", "managed-settings.json") or '"permissions"' in text:
        return "settings"
    if file.endswith(".json"):
        return "servers" if '"mcpServers"' in text or '"servers"' in text or '"mcp"' in text else "hooks"
    if file.endswith(".toml"):
        return (
            "agent" if "developer_instructions" in text else "servers" if "mcp_servers" in text else "command"
        )
    for folder, kind in (("/agents/", "agent"), ("/rules/", "rule"), ("/commands/", "command")):
        if folder in slashed:
            return kind
    return "command"
