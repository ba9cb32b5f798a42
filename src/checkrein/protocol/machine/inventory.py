"""All commands, skills and tools, each with its source and its purpose."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from checkrein.base.errors import NotFoundError
from checkrein.base.nearest import did_you_mean
from checkrein.policy.remote import PREFIX

if TYPE_CHECKING:
    from checkrein.model.items import Invocable, Server
    from checkrein.model.project import Project
    from checkrein.passes.extensions import Added
    from checkrein.runtime.tools.declarations import Entry as ToolEntry
    from checkrein.runtime.tools.port import AnyTool

Kind = Literal["command", "skill", "tool", "server"]


class Entry(Struct, frozen=True, kw_only=True):
    """One command, skill or tool. `source` is builtin, plugin:NAME, package:NAME, or the scope of its file;
    `path` is the file on disk. `words` is more text about when to use it."""

    kind: Kind
    name: str
    source_hint: str
    responsibility: str
    source: str
    path: str
    words: str = ""
    plugin: str | None = None
    details: dict[str, Any] = {}


class Shown(Struct, frozen=True, kw_only=True):
    """The answer with the same fields for commands and tools."""

    name: str
    found: bool
    source_hint: str
    responsibility: str
    source: str
    path: str
    details: dict[str, Any]


def show_tool(name: str, project: str) -> Shown:
    """A tool, or the MCP server in place of its tools."""
    if name.lower().startswith(PREFIX):
        return _shown(_need(name, servers(project), "tool"))
    return _shown(find_tool(name, project))


def show_command(name: str, project: Project) -> Shown:
    return _shown(find_command(name, project))


def find_command(name: str, project: Project) -> Entry:
    return _need(name.strip().removeprefix("/"), commands(project), "command")


def find_tool(name: str, *projects: str) -> Entry:
    from checkrein.runtime.tools.declarations import TOOLS

    declared = next((entry for entry in TOOLS if entry.name == name), None)
    return _tool(declared) if declared is not None else _need(name, tools(*projects), "tool")


def tools(*projects: str) -> list[Entry]:
    """The built-in tools, in the order in which requests list them, then those of installed packages.
    `projects` can't add any."""
    from checkrein.passes.tools import added_tools
    from checkrein.runtime.tools.declarations import TOOLS

    added = added_tools(*projects).added
    return [*(_tool(entry) for entry in TOOLS), _skill_tool(), *map(_added_tool, added)]


def servers(project: str) -> list[Entry]:
    """The MCP servers of a project, each in place of its tools."""
    from checkrein.protocol.machine.project import load_project

    loaded = load_project(project)
    return [server(resolved.item, loaded.place.root) for resolved in loaded.servers.values()]


def server(item: Server, root: str) -> Entry:
    """An MCP server in place of its tools, which only a connection reveals: `mcp__NAME`."""
    place = _shown_path(item.origin.file, root)
    return Entry(
        kind="server",
        name=f"mcp__{item.name}",
        source_hint=f"{place}:{item.origin.line}" if item.origin.line else place,
        responsibility=f"All tools of the MCP server {item.name}; a session finds them when it connects.",
        source=f"plugin:{item.plugin}" if item.plugin else item.origin.scope,
        path=item.origin.file,
        plugin=item.plugin,
    )


def commands(project: Project) -> list[Entry]:
    """What a user can type after a slash, in order of name: built-in commands and those of the project, the
    user and the plugins. A skill hides a command with its name, as it does in a session."""
    found = {entry.name: entry for entry in BUILTINS}
    found |= {name: _invocable("command", r.item, project) for name, r in project.commands.items()}
    found |= {name: _invocable("skill", r.item, project) for name, r in project.skills.items()}
    return [found[name] for name in sorted(found)]


def _need(name: str, known: Iterable[Entry], kind: Literal["command", "tool"]) -> Entry:
    """Find a name in upper or lower case; an exact match wins."""
    entries = {entry.name: entry for entry in known}
    found = entries.get(name) or next(
        (entry for one, entry in entries.items() if one.lower() == name.lower()), None
    )
    if found is None and kind == "tool":
        found = next((e for e in entries.values() if name in e.details.get("aliases", ())), None)
    if found is not None:
        return found
    raise NotFoundError(
        f"The {kind} {name[:200]!r} was not found.{did_you_mean(name[:200], entries)}",
        kind=f"{kind}_not_found",
    ).during(f"find_{kind}", name, name=name, found=False)


def _shown(entry: Entry) -> Shown:
    return Shown(
        name=entry.name,
        found=True,
        source_hint=entry.source_hint,
        responsibility=entry.responsibility,
        source=entry.source,
        path=entry.path,
        details=entry.details,
    )


def _tool(entry: ToolEntry) -> Entry:
    from checkrein.runtime.tools import declarations

    folder = os.path.dirname(declarations.__file__)
    with open(os.path.join(folder, f"{entry.name}.md"), encoding="utf-8") as file:
        description = file.read()
    module = entry.place.partition(":")[0]
    return Entry(
        kind="tool",
        name=entry.name,
        source_hint=f"checkrein.runtime.tools.{entry.place}",
        responsibility=first_sentence(description),
        source="builtin",
        path=os.path.join(folder, f"{module}.py"),
        details={
            "input_schema": entry.schema,
            "read_only": entry.read_only,
            "eager": entry.eager,
            "aliases": list(entry.aliases),
        },
    )


def _added_tool(added: Added) -> Entry:
    import sys

    tool: AnyTool = added.value
    declared = tool.declaration
    module = sys.modules.get(added.extension.value.partition(":")[0].strip())
    return Entry(
        kind="tool",
        name=tool.name,
        source_hint=added.extension.value,
        responsibility=first_sentence(declared.description),
        source=f"package:{added.extension.distribution}",
        path=getattr(module, "__file__", None) or added.extension.file,
        details={
            "input_schema": declared.schema,
            "read_only": tool.read_only,
            "eager": tool.eager,
            "aliases": list(tool.aliases),
        },
    )


def _skill_tool() -> Entry:
    from checkrein.runtime.skills import skill_tool as tool

    return Entry(
        kind="tool",
        name=tool.SkillTool.name,
        source_hint="checkrein.runtime.skills.skill_tool:SkillTool",
        responsibility=first_sentence(tool._DESCRIPTION),
        source="builtin",
        path=tool.__file__,
        details={"input_schema": tool._SCHEMA, "read_only": False, "eager": True, "aliases": []},
    )


def _invocable(kind: Kind, item: Invocable, project: Project) -> Entry:
    file = item.origin.file
    return Entry(
        kind=kind,
        name=item.name,
        source_hint=_shown_path(file, project.place.root),
        responsibility=first_sentence(item.summary),
        source=f"plugin:{item.plugin}" if item.plugin else item.origin.scope,
        path=file,
        words=f"{item.summary} {item.when_to_use or ''}",
        plugin=item.plugin,
        details={
            "argument_hint": item.argument_hint,
            "arguments": list(item.arguments),
            "allowed_tools": list(item.allowed_tools),
            "model": item.model,
            "model_invocable": item.model_invocable,
            "user_invocable": item.user_invocable,
        },
    )


def _shown_path(file: str, root: str) -> str:
    """The path with forward slashes, relative to the project when it is inside."""
    relative = os.path.relpath(file, root)
    return (file if relative.startswith("..") else relative).replace(os.sep, "/")


def first_sentence(text: str) -> str:
    line = " ".join(text.split())
    end = line.find(". ")
    return line if end < 0 else line[: end + 1]


def _own(module: str) -> str:
    import checkrein

    return os.path.join(os.path.dirname(checkrein.__file__), *module.split(".")[1:]) + ".py"


BUILTINS: tuple[Entry, ...] = (
    Entry(
        kind="command",
        name="compact",
        source_hint="checkrein.runtime.turn.compactor:compact",
        responsibility="Replace the conversation so far with a summary.",
        source="builtin",
        path=_own("checkrein.runtime.turn.compactor"),
        details={
            "argument_hint": "[what to keep]",
            "arguments": [],
            "allowed_tools": [],
            "model": None,
            "model_invocable": False,
            "user_invocable": True,
        },
    ),
    Entry(
        kind="command",
        name="loop",
        source_hint="checkrein.runtime.turn.loop_command:begin_loop",
        responsibility="Run a prompt now, and again at an interval or when the model chooses.",
        source="builtin",
        path=_own("checkrein.runtime.turn.loop_command"),
        details={
            "argument_hint": "[interval] <prompt>",
            "arguments": [],
            "allowed_tools": [],
            "model": None,
            "model_invocable": False,
            "user_invocable": True,
        },
    ),
)
