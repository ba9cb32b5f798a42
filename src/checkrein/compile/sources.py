"""The source items of a spec's workspace, as the readers of the dialect make them.

The inventory rules of the format choose the files and limit the imports: instructions from the spec's
directory up to the repository's root or below the home directory, imports five files deep and inside the
workspace, without `CLAUDE.local.md` and everything managed. The user's own scopes count only when the user
names them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from checkrein.compile.scope import WorkspaceScope, import_roots, instruction_root
from checkrein.compile.values import Spec, scalar
from checkrein.compile.workspace import instruction_files
from checkrein.dialects.claude import files, instructions
from checkrein.dialects.claude import settings as settings_reader
from checkrein.dialects.claude.instructions import AGAIN, MISSING, OUTSIDE, UNREADABLE, Chosen, Reach
from checkrein.dialects.claude.settings import SettingSource
from checkrein.dialects.codes import Log
from checkrein.facts import claude
from checkrein.facts import claude_plugins as plugin_facts
from checkrein.facts import compile as facts
from checkrein.model.items import Import, Instruction
from checkrein.model.project import Sources

SETTING_SOURCES: tuple[SettingSource, ...] = ("user", "project", "local")
"""The order of the settings' elements: general ones first."""
_UNREAD = frozenset({"FILE001", "FILE002", "FILE003", "FILE004", "FILE009", "JSON001", "JSON002"})
_NO_TEXT = frozenset({"origin", "spans"})


class ReadFile(Struct, frozen=True):
    """A file and the source items in it."""

    path: str
    items: Sources


def settings_path(spec: Spec, source: SettingSource, log: Log) -> str | None:
    """The settings file of one source, when it exists. The home directory has no settings of a project."""
    if source != "user" and spec.place.cwd == spec.place.home:
        return None
    path = settings_reader.file_of(source, spec.place, log)
    return path if path is not None and os.path.isfile(path) else None


def read_settings(spec: Spec, path: str, source: SettingSource, log: Log) -> ReadFile | None:
    items = settings_reader.read_file(path, source, spec.place, log)
    return None if items is None else ReadFile(path, items)


def read_hooks(config_dir: str, log: Log) -> ReadFile | None:
    return _read(os.path.join(config_dir, "hooks", "hooks.json"), "hooks", log)


def read_servers(spec: Spec, log: Log) -> ReadFile | None:
    return _read(os.path.join(spec.workspace, claude.MCP_FILE), "mcp", log)


def read_plugin(directory: str, log: Log) -> ReadFile | None:
    """The manifest in a `.claude-plugin` directory; without items where the plugin can't be loaded."""
    return _read(os.path.join(directory, plugin_facts.MANIFEST_FILE), "plugin", log)


def _read(path: str, kind: files.FileKind, log: Log) -> ReadFile | None:
    """A file of one kind; None when it does not exist or is not a JSON object."""
    if not os.path.isfile(path):
        return None
    items = files.read(path, kind, within=log.within)
    log += items.diagnostics
    return None if any(one.code in _UNREAD for one in items.diagnostics) else ReadFile(path, items)


def lists_servers(path: str, within: Sequence[str]) -> bool:
    """Whether a subagent brings MCP servers of its own."""
    return any(
        agent.servers or agent.server_names for agent in files.read(path, "agent", within=within).agents
    )


def decoded(items: Sources) -> Iterator[str]:
    """The decoded values in source items."""
    for setting in items.settings:
        yield scalar({setting.name: setting.value})
    for item in (*items.hooks, *items.servers, *items.plugins):
        fields = (name for name in item.__struct_fields__ if name not in _NO_TEXT)
        yield scalar({name: getattr(item, name) for name in fields})


def read_instructions(spec: Spec, log: Log, *, user: bool, scope: WorkspaceScope) -> tuple[Instruction, ...]:
    """The instruction files, then the body of the spec, each followed by what it imports.

    Refused imports are in the items, not in `log`.
    """
    root = instruction_root(spec, scope)
    chosen = [Chosen(path, tier) for path, tier in instruction_files(spec, user=user, root=root)]
    if os.path.isfile(spec.path):
        chosen.append(Chosen(spec.path, "project", spec.body, spec.body_line))
    reach = Reach(hops=facts.IMPORT_DEPTH, roots=import_roots(spec, scope), verbatim=True)
    found = Log(log.within)
    items = instructions.read_chosen(spec.place, chosen, found, reach=reach, known=(spec.path,))
    log += (one for one in found if not one.code.startswith("IMP"))
    return items


def refused_imports(items: tuple[Instruction, ...], name: Callable[[str], str]) -> Iterator[str]:
    """A sentence for every import that compile did not follow, in the order of the text."""
    children = {(item.imported_by, item.name): item for item in items if item.imported_by}

    def told(item: Instruction) -> Iterator[str]:
        for one in item.imports:
            child = children.get((item.name, one.target or ""))
            if one.skipped is None and child is not None:
                yield from told(child)
            elif one.skipped not in (None, MISSING):
                yield _refusal(name(item.name), one, name)

    for item in items:
        if item.imported_by is None:
            yield from told(item)


def _refusal(importer: str, one: Import, name: Callable[[str], str]) -> str:
    if one.skipped == OUTSIDE:
        return f"{importer} imports a file outside the workspace; it was not read"
    target = name(one.target or one.text)
    if one.skipped == AGAIN:
        return f"{importer} imports {target} again; the second import was skipped"
    if one.skipped == UNREADABLE:
        return f"{target} can't be read"
    return f"{importer} imports {target} more than {facts.IMPORT_DEPTH} files deep"
