"""Language servers and monitors of a plugin. They are read, shown and counted; no session starts them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from checkrein.base.jsonpos import Json, JsonError, decode, join
from checkrein.base.origin import Origin
from checkrein.dialects import text
from checkrein.dialects.codes import Log, diagnose
from checkrein.facts.claude_plugins import LSP_REQUIRED, MONITOR_REQUIRED, MONITOR_WHEN
from checkrein.model.items import PluginProgram

_OPTION = "${user_config."


def lsp_servers(entries: Any, origin: Origin, path: str, log: Log) -> Iterator[PluginProgram]:
    """The first server that names an extension has it; a broken entry claims none."""
    taken: dict[str, str] = {}
    for name, entry in entries.items() if isinstance(entries, dict) else ():
        place = origin.at(None, join(path, name))
        problem = _lacks(entry, LSP_REQUIRED)
        if problem is not None:
            log.append(diagnose("PLUGIN006", f"The language server `{name}` {problem}; it is skipped", place))
            yield PluginProgram("lsp", name, _command(entry), place, problem=problem)
            continue
        extensions = [str(one) for one in entry["extensionToLanguage"]]
        late = [one for one in extensions if taken.setdefault(one, name) != name]
        if late:
            message = f"`{late[0]}` belongs to the language server `{taken[late[0]]}` already"
            log.append(diagnose("PLUGIN006", message, place))
        mine = " ".join(one for one in extensions if taken[one] == name)
        yield PluginProgram("lsp", name, _command(entry), place, detail=mine)


def monitor_file(path: str, log: Log) -> Iterator[PluginProgram]:
    """A file with a list of monitors, or with the list under `monitors`."""
    found = text.read(path, "plugin", log)
    decoded = decode(found.text) if found is not None else None
    origin = Origin(path, "plugin")
    if isinstance(decoded, JsonError):
        log.append(diagnose("JSON001", f"Not JSON: {decoded.message}", origin.at(decoded.span)))
    elif isinstance(decoded, Json):
        listed = decoded.value.get("monitors") if isinstance(decoded.value, dict) else decoded.value
        yield from monitors(listed, origin, "$", log)


def monitors(entries: Any, origin: Origin, path: str, log: Log) -> Iterator[PluginProgram]:
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, str):
            continue
        place = origin.at(None, join(path, index))
        problem = _lacks(entry, MONITOR_REQUIRED)
        when = entry.get("when", "always") if isinstance(entry, dict) else ""
        if problem is None and not (isinstance(when, str) and re.fullmatch(MONITOR_WHEN, when)):
            problem = "has a `when` that is neither `always` nor `on-skill-invoke:SKILL`"
        if problem is None and _OPTION in _command(entry):
            problem = "uses `${user_config.…}` in its command, which is a shell line"
        name = str(entry.get("name", index)) if isinstance(entry, dict) else str(index)
        if problem is not None:
            log.append(diagnose("PLUGIN006", f"The monitor `{name}` {problem}; it is skipped", place))
        yield PluginProgram("monitor", name, _command(entry), place, str(when), problem)


def _lacks(entry: Any, required: Mapping[str, type]) -> str | None:
    if not isinstance(entry, dict):
        return "must be an object"
    for key, wanted in required.items():
        if not isinstance(entry.get(key), wanted) or not entry[key]:
            return f"needs `{key}`"
    return None


def _command(entry: Any) -> str:
    if not isinstance(entry, dict):
        return ""
    args = entry.get("args")
    more = args if isinstance(args, list) else ()
    return " ".join(map(str, (entry.get("command", ""), *more)))
