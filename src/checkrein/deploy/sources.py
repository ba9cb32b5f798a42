"""Projects of other agents, and single files of them, as source items."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Literal

from checkrein.base.errors import UsageError
from checkrein.base.files import read_text
from checkrein.base.nearest import did_you_mean
from checkrein.base.origin import Origin
from checkrein.deploy.manifest import Entry
from checkrein.deploy.shared import Joined, is_blank, part
from checkrein.dialects import hooks, jsonfile, servers
from checkrein.dialects.codes import Log
from checkrein.dialects.coerce import as_globs
from checkrein.dialects.generic.reading import (
    Tree,
    full_path,
    instruction,
    parse_agent,
    parse_command,
    parse_front,
    parse_skill,
)
from checkrein.facts.agents import comments_in
from checkrein.model.project import Sources

Kind = Literal["skill", "command", "agent", "rule", "instruction", "hooks", "servers"]
KINDS: tuple[Kind, ...] = ("skill", "command", "agent", "rule", "instruction", "hooks", "servers")

READERS = {
    "copilot": "checkrein.dialects.copilot.read",
    "codex": "checkrein.dialects.codex.read",
    "gemini": "checkrein.dialects.gemini.read",
    "opencode": "checkrein.dialects.opencode.read",
    "cursor": "checkrein.dialects.cursor.read",
}
"""Agents whose projects can be imported."""

_FOLDERS = (".github", ".vscode", ".agents", ".codex", ".gemini", ".opencode", ".cursor")
_MEMORY = frozenset({"AGENTS.md", "GEMINI.md", ".cursorrules", "opencode.json"})
_SUFFIXES = (".md", ".mdc", ".json", ".toml")
_SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", "venv"})
MAX_FILES = 20_000
MAX_DEPTH = 12

# Where a file of a kind lies, so that a reader finds it.
_PLACES: dict[str, dict[Kind, str]] = {
    "claude": {
        "skill": ".claude/skills/{name}/SKILL.md",
        "command": ".claude/commands/{name}.md",
        "agent": ".claude/agents/{name}.md",
        "rule": ".claude/rules/{name}.md",
        "instruction": "CLAUDE.md",
        "hooks": ".claude/settings.json",
        "servers": ".mcp.json",
    },
    "copilot": {
        "skill": ".github/skills/{name}/SKILL.md",
        "command": ".github/prompts/{name}.prompt.md",
        "agent": ".github/agents/{name}.agent.md",
        "rule": ".github/instructions/{name}.instructions.md",
        "instruction": ".github/copilot-instructions.md",
        "hooks": ".github/hooks/{name}.json",
        "servers": ".vscode/mcp.json",
    },
    "codex": {
        "skill": ".agents/skills/{name}/SKILL.md",
        "agent": ".codex/agents/{name}.toml",
        "instruction": "AGENTS.md",
        "hooks": ".codex/hooks.json",
        "servers": ".codex/config.toml",
    },
    "gemini": {
        "skill": ".gemini/skills/{name}/SKILL.md",
        "command": ".gemini/commands/{name}.toml",
        "agent": ".gemini/agents/{name}.md",
        "instruction": "GEMINI.md",
        "hooks": ".gemini/settings.json",
        "servers": ".gemini/settings.json",
    },
    "opencode": {
        "skill": ".opencode/skills/{name}/SKILL.md",
        "command": ".opencode/commands/{name}.md",
        "agent": ".opencode/agents/{name}.md",
        "instruction": "AGENTS.md",
        "servers": "opencode.json",
    },
    "cursor": {
        "skill": ".cursor/skills/{name}/SKILL.md",
        "command": ".cursor/commands/{name}.md",
        "agent": ".cursor/agents/{name}.md",
        "rule": ".cursor/rules/{name}.mdc",
        "instruction": "AGENTS.md",
        "hooks": ".cursor/hooks.json",
        "servers": ".cursor/mcp.json",
    },
}
CONVERTIBLE = tuple(_PLACES)


def reader(agent: str) -> Callable[[Tree, str], Sources]:
    """The reader of an agent's project; UsageError when there is none."""
    if agent not in READERS:
        raise UsageError(
            f"Projects of {agent!r} can't be read.{did_you_mean(agent, READERS)}",
            kind="agent_unknown",
            hint=f"use one of {', '.join(READERS)}",
        )
    read: Callable[[Tree, str], Sources] = import_module(READERS[agent]).read
    return read


def collect(root: str) -> dict[str, str]:
    """The texts of a project that any reader may want. Links are not followed; the amount is bounded."""
    tree: dict[str, str] = {}
    for path in _candidates(root):
        found = read_text(os.path.join(root, path))
        if found.readable:
            tree[path] = found.text
        if len(tree) >= MAX_FILES:
            break
    return tree


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


def _candidates(root: str) -> Iterator[str]:
    for directory, folders, files in os.walk(root):
        short = os.path.relpath(directory, root).replace(os.sep, "/")
        parts = [] if short == "." else short.split("/")
        inside = bool(parts) and parts[0] in _FOLDERS
        folders[:] = sorted(
            name
            for name in folders
            if name not in _SKIPPED
            and len(parts) < MAX_DEPTH
            and (name[0] != "." or inside or (not parts and name in _FOLDERS))
        )
        for name in sorted(files):
            wanted = name.endswith(_SUFFIXES) if inside else name in _MEMORY
            if wanted and not os.path.islink(os.path.join(directory, name)):
                yield "/".join((*parts, name))


def read_file(text: str, path: str, agent: str, kind: Kind | None = None) -> tuple[Sources, Kind]:
    """The items of one file of an agent, wherever it lies. The kind is guessed from name and content."""
    if agent not in _PLACES:
        raise UsageError(
            f"Files of {agent!r} can't be read.{did_you_mean(agent, _PLACES)}",
            kind="agent_unknown",
            hint=f"use one of {', '.join(_PLACES)}",
        )
    found = kind or guess_kind(text, path)
    place = _PLACES[agent].get(found)
    if place is None:
        raise UsageError(f"{agent} has no files of kind {found!r}.", hint="name the kind with --kind")
    canonical = place.format(name=item_name(path))
    if agent == "claude":
        return _read_claude(text, canonical, found), found
    return reader(agent)({canonical: text}, ""), found


def item_name(path: str) -> str:
    """The name that a file gives its item: the folder of a SKILL.md, else the stem."""
    folder, _, file = path.replace(os.sep, "/").rpartition("/")
    if file == "SKILL.md":
        return folder.rpartition("/")[2] or "skill"
    stem = file.partition(".")[0] if file.startswith(".") is False else file
    return stem or "item"


def guess_kind(text: str, path: str) -> Kind:
    """From the name first, then the directory, then the content."""
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


def _read_claude(text: str, path: str, kind: Kind) -> Sources:
    log: Log = []
    name = item_name(path)
    if kind == "skill":
        return Sources(skills=(parse_skill(text, path, name, "", log),), diagnostics=tuple(log))
    if kind == "command":
        return Sources(commands=(parse_command(text, path, name, "", log),), diagnostics=tuple(log))
    if kind == "agent":
        agent = parse_agent(text, path, name, "", log)
        return Sources(agents=() if agent is None else (agent,), diagnostics=tuple(log))
    if kind == "instruction":
        return Sources(instructions=(instruction(text, path, ""),))
    if kind == "rule":
        front = parse_front(text, path, "", ("paths", "description"), log)
        globs = as_globs(front.values.get("paths") or "")
        paths = globs if isinstance(globs, tuple) else ()
        rule = instruction(front.body, path, "", "rule", paths, front.spans, front.body_line - 1)
        return Sources(instructions=(rule,), diagnostics=tuple(log))
    document = jsonfile.parse(text, Origin(full_path("", path), "project"), log, comments_in(path))
    if document is None:
        return Sources(diagnostics=tuple(log))
    if kind == "servers":
        return Sources(servers=servers.read_document(document, log), diagnostics=tuple(log))
    found = hooks.read(document.value.get("hooks"), document.origin, log, spans=document.spans)
    return Sources(hooks=found, diagnostics=tuple(log))
