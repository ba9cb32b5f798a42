"""The functions that a package offers its model, from allowed tools, servers and commands in the text."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from checkrein.compile.details import ServerDetails, ToolDetails
from checkrein.compile.names import identifier, snake
from checkrein.compile.values import Element, Tool
from checkrein.facts.compile import Disposition
from checkrein.facts.compile_rows import FILE_TOOLS
from checkrein.model.rule import split_rule

WRITERS = ("write_file", "edit_file", "edit_notebook")
ARGUMENTS = {
    "command": "The command line.",
    "path": "The path, relative to the project.",
    "pattern": "The pattern to look for.",
    "url": "An https address.",
    "query": "The words to search for.",
    "arguments": "The arguments, as JSON.",
    "tool": "The name of the server's tool, a blank, and its arguments as JSON.",
}
_SUMMARIES = {
    "run_bash": "Run one command line in the project and return its output.",
    "read_file": "Return the text of a file.",
    "write_file": "Write a file; the content replaces what was there.",
    "edit_file": "Change a file as the instruction says.",
    "web_fetch": "Fetch a page from an allowed host and return its text.",
    "web_search": "Search the web and return the results.",
    "find_files": "Return the paths that match a pattern.",
    "search_files": "Return the lines that match a pattern.",
    "list_directory": "Return the names in a directory.",
}


def tool_of(element: Element) -> Tool | None:
    """The function that an element of category C6 needs; commands in the text need the shell."""
    if element.category != "C6":
        return None
    known = element.details
    if isinstance(known, ServerDetails):
        server = known.server
        name = f"{identifier(server, 'server')}_call"
        return _tool(
            name, f"mcp__{server}", "tool", f"Call a tool of the MCP server {server}.", element, server
        )
    if not isinstance(known, ToolDetails) or not known.tool:
        return _tool("run_bash", "Bash", "command", _SUMMARIES["run_bash"], element)
    entry = known.tool
    if entry.startswith("mcp__"):
        parts = entry.split("__", 2)
        server = parts[1] if len(parts) > 1 else entry
        rest = parts[2] if len(parts) > 2 else "call"
        name = identifier(f"{server} {rest}".replace("_", " "), "mcp_tool", 30, 100)
        return _tool(name, entry, "arguments", f"Call {entry} of the MCP server {server}.", element, server)
    if entry in ("Bash", "PowerShell"):
        return _tool("run_bash", entry, "command", _SUMMARIES["run_bash"], element)
    if entry == "WebFetch":
        real = known.specifier is not None
        found = _tool("web_fetch", entry, "url", _SUMMARIES["web_fetch"], element)
        return replace(found, disposition="real_impl" if real else "stub")
    if entry in FILE_TOOLS:
        name, argument = FILE_TOOLS[entry]
        return _tool(name, entry, argument, _SUMMARIES.get(name, f"Use the tool {entry}."), element)
    if entry == "WebSearch":
        return _tool("web_search", entry, "query", _SUMMARIES["web_search"], element)
    return _tool(f"use_{snake(entry)}", entry, "arguments", f"Use the tool {entry}.", element)


def _tool(
    function: str, tool: str, argument: str, summary: str, element: Element, server: str | None = None
) -> Tool:
    disposition: Disposition = "stub"
    return Tool(
        function=function,
        tool=tool,
        argument=argument,
        summary=summary,
        disposition=disposition,
        server=server,
        entries=(element.content_full,) if isinstance(element.details, ToolDetails) else (),
        elements=(element.element_id,),
    )


def collect(elements: Iterable[Element]) -> dict[str, Tool]:
    """One Tool per function name, in order of first mention. A stub wins over a real implementation."""
    grouped: dict[str, list[Tool]] = {}
    listed = tuple(elements)
    used = _used_servers(listed)
    for element in listed:
        tool = tool_of(element)
        if tool is None or (isinstance(element.details, ServerDetails) and tool.server in used):
            continue
        grouped.setdefault(tool.function, []).append(tool)
    return {
        function: replace(
            same[0],
            entries=tuple(dict.fromkeys(entry for tool in same for entry in tool.entries)),
            elements=tuple(element for tool in same for element in tool.elements),
            disposition="stub" if any(tool.disposition == "stub" for tool in same) else same[0].disposition,
        )
        for function, same in grouped.items()
    }


def hosts(tool: Tool) -> tuple[str, ...]:
    """The host patterns of `WebFetch(domain:…)` entries."""
    found = []
    for entry in tool.entries:
        specifier = split_rule(entry)[1]
        if specifier and specifier.startswith("domain:"):
            found.append(specifier.removeprefix("domain:").strip().lower())
    return tuple(dict.fromkeys(host for host in found if host))


def unused_servers(elements: Iterable[Element]) -> tuple[str, ...]:
    """Declared servers without a named tool."""
    listed = tuple(elements)
    declared = [e.details.server for e in listed if isinstance(e.details, ServerDetails)]
    used = _used_servers(listed)
    return tuple(server for server in dict.fromkeys(declared) if server not in used)


def _used_servers(elements: Iterable[Element]) -> set[str]:
    """Servers with a named tool."""
    tools = (tool_of(one) for one in elements if not isinstance(one.details, ServerDetails))
    return {tool.server for tool in tools if tool is not None and tool.server}
