"""One file by itself: which kind it is, and what it says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

from checkrein.base import frontmatter
from checkrein.base.files import read_text
from checkrein.base.origin import Origin, Scope
from checkrein.dialects import agents, hooks, jsonfile, markdown, servers, skills, text
from checkrein.dialects.claude import imports, manifest, marketplaces, settings
from checkrein.dialects.codes import Log
from checkrein.facts import claude
from checkrein.facts import claude_plugins as plugin_facts
from checkrein.model.items import Instruction, InstructionKind
from checkrein.model.project import Place, Sources

FileKind = Literal[
    "skill",
    "command",
    "agent",
    "instruction",
    "rule",
    "settings",
    "mcp",
    "hooks",
    "plugin",
    "marketplace",
    "other",
]

_INSTRUCTIONS: dict[str, InstructionKind] = {
    claude.MEMORY_FILE: "memory",
    claude.LOCAL_MEMORY_FILE: "local",
    claude.AGENTS_FILE: "agents_md",
}
# File name -> (kind, the folders it must be in; None for anywhere).
_JSON: dict[str, tuple[FileKind, tuple[str, ...] | None]] = {
    claude.SETTINGS_FILE: ("settings", (claude.CONFIG_DIR,)),
    claude.LOCAL_SETTINGS_FILE: ("settings", (claude.CONFIG_DIR,)),
    claude.MANAGED_SETTINGS_FILE: ("settings", None),
    claude.MCP_FILE: ("mcp", None),
    claude.MANAGED_MCP_FILE: ("mcp", None),
    "hooks.json": ("hooks", ("hooks",)),
    plugin_facts.MANIFEST_FILE: ("plugin", (plugin_facts.MANIFEST_DIR,)),
    plugin_facts.MARKETPLACE_FILE: ("marketplace", (plugin_facts.MANIFEST_DIR,)),
}
_FOLDERS: dict[str, FileKind] = {"rules": "rule", "agents": "agent", "commands": "command"}
FOREIGN = (".agent.md", ".prompt.md", ".instructions.md", ".chatmode.md")


def kind_of(path: str) -> FileKind:
    """The kind of a file by its name and folder; `other` for files that Claude Code does not load."""
    directory, name = os.path.split(path)
    folders = directory.split(os.sep)
    if name in _JSON:
        kind, holders = _JSON[name]
        return kind if holders is None or folders[-1] in holders else "other"
    if name.lower() == claude.SKILL_FILE.lower():
        return "skill"
    if name in _INSTRUCTIONS:
        return "instruction"
    if not name.endswith(".md") or name.endswith(FOREIGN):
        return "other"
    return next((_FOLDERS[folder] for folder in reversed(folders) if folder in _FOLDERS), "other")


def guess(path: str) -> FileKind:
    """The kind of a Markdown file outside all known folders, by its fields."""
    kind = kind_of(path)
    if kind != "other" or not path.endswith(".md"):
        return kind
    fields = frontmatter.parse(read_text(path, within=()).text).values
    if "name" in fields and "description" in fields:
        return "agent"
    return "command" if "description" in fields else "instruction"


def read(
    path: str, kind: FileKind | None = None, scope: Scope = "project", within: Sequence[str] = ()
) -> Sources:
    """The items of one file and every Diagnostic about it. Total on any file."""
    log = Log(within)
    found = _read(path, kind or kind_of(path), scope, log)
    return found + Sources(diagnostics=tuple(log))


def _read(path: str, kind: FileKind, scope: Scope, log: Log) -> Sources:
    directory = os.path.dirname(path)
    stem = os.path.splitext(os.path.basename(path))[0]
    if kind == "skill":
        skill = skills.read_skill(path, directory, os.path.basename(directory), scope, log)
        return Sources(skills=(skill,)) if skill else Sources()
    if kind == "command":
        command = skills.read_command(path, command_name(path, stem), scope, log)
        return Sources(commands=(command,)) if command else Sources()
    if kind == "agent":
        agent = agents.read(path, scope, log)
        return Sources(agents=(agent,)) if agent else Sources()
    if kind in ("instruction", "rule", "other"):
        return _instruction(path, kind, scope, log)
    document = jsonfile.read(path, scope, log)
    if document is None:
        return Sources()
    if kind == "mcp":
        return Sources(servers=servers.read_document(document, log))
    if kind == "hooks":
        wrapped = "hooks" in document.value
        written = document.value["hooks"] if wrapped else document.value
        at = "$.hooks" if wrapped else "$"
        return Sources(hooks=hooks.read(written, document.origin, log, path=at, spans=document.spans))
    if kind == "marketplace":
        catalog = marketplaces.parse(document, log)
        return Sources(marketplaces=(catalog,)) if catalog else Sources()
    if kind == "plugin":
        root = (
            os.path.dirname(directory)
            if os.path.basename(directory) == plugin_facts.MANIFEST_DIR
            else directory
        )
        checked = manifest.check(document, log)
        return (
            Sources(plugins=(manifest.build(checked, root, marketplace=None, enabled=False),))
            if checked
            else Sources()
        )
    return settings.items(document, _nowhere(directory), log)


def _instruction(path: str, kind: FileKind, scope: Scope, log: Log) -> Sources:
    loaded = text.read(path, scope, log)
    if loaded is None:
        return Sources()
    body = loaded.text
    if kind != "instruction":
        body = markdown.parse(loaded.text, path, scope, (), log).body
    stripped, _ = imports.scan(body)
    name = os.path.basename(path)
    item = Instruction(
        name=path,
        origin=Origin(path, scope),
        kind="rule" if kind == "rule" else _INSTRUCTIONS.get(name, "import"),
        text=stripped,
        size=len(loaded.text.encode("utf-8", "surrogatepass")),
    )
    return Sources(instructions=(item,))


def command_name(path: str, stem: str) -> str:
    parts = os.path.dirname(path).split(os.sep)
    if "commands" not in parts:
        return stem
    below = parts[len(parts) - parts[::-1].index("commands") :]
    return ":".join((*below, stem))


def _nowhere(directory: str) -> Place:
    return Place(cwd=directory, root=directory, root_reason="fallback", home=directory, config_dir=directory)
