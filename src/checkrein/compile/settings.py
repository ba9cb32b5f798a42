"""Elements of settings, MCP, hook and plugin files. Values of environment variables are never kept."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from checkrein.base.jsonpos import join
from checkrein.base.origin import Scope
from checkrein.base.secrets import is_secret_name, looks_secret, redact_text
from checkrein.compile.elements import draft
from checkrein.compile.values import Element, SourceName, scalar
from checkrein.dialects import jsonfile
from checkrein.dialects.codes import Log
from checkrein.dialects.jsonfile import Document
from checkrein.facts.compile_rows import ROWS

_RULE_ROWS = {"allow": "M-26", "ask": "M-27", "deny": "M-28"}
_PERSONAL = re.compile(r"(?:^|[(\s:=])(?:~/|//?(?:home|Users)/|[A-Za-z]:\\)")


def read(path: str, scope: Scope, log: Log) -> Document | None:
    return jsonfile.read(path, scope, log)


def is_personal(text: str) -> bool:
    """A path of somebody's workstation."""
    return _PERSONAL.search(text) is not None


def settings_elements(document: Document, file: str, source: SourceName) -> Iterator[Element]:
    """Every key of one settings file, in the order it is written."""
    for key, value in document.value.items():
        at = join("$", key)
        if key == "permissions" and isinstance(value, dict):
            yield from _permissions(value, at, file, source)
        elif key == "env" and isinstance(value, dict):
            yield from _env(value, at, file)
        elif key == "hooks":
            yield from hook_elements(value, at, file, source, "M-30")
        elif key == "mcpServers":
            yield from server_elements(value, at, file, source, "M-31")
        elif key == "defaultMode":
            yield _mode(value, at, file, source)
        elif key == "apiKeyHelper":
            yield draft(
                file,
                _path(at),
                ("NO_DECOMPOSE", "—"),
                "A helper that prints an API key; never run",
                rule="claude_code:2g:api_key_helper",
                signal="settings.apiKeyHelper",
                source=source,
                sensitive=True,
            )
        else:
            yield draft(
                file,
                _path(at),
                ("NO_DECOMPOSE", "—"),
                f"Setting `{key}`: no counterpart in the package",
                rule="claude_code:2c:settings_json",
                signal=f"settings.{key}",
                source=source,
            )


def _path(path: str) -> str:
    return "json:" + path.removeprefix("$").removeprefix(".")


def _permissions(value: dict[str, Any], at: str, file: str, source: SourceName) -> Iterator[Element]:
    for key, listed in value.items():
        path = join(at, key)
        if key in _RULE_ROWS and isinstance(listed, list):
            row = ROWS[_RULE_ROWS[key]]
            for index, text in enumerate(listed):
                if not isinstance(text, str):
                    continue
                secret = looks_secret(text) or (source == "local" and is_personal(text))
                shown = "a private rule" if secret else redact_text(text)
                yield draft(
                    file,
                    _path(join(path, index)),
                    (row.tag, row.category),
                    f"{_BEHAVIOR[key]} {shown}",
                    full="" if secret else text,
                    rule=f"claude_code:2c:permissions_{key}",
                    row=row.id,
                    signal=f"settings.permissions.{key}:{shown}",
                    source=source,
                    sensitive=secret,
                    details={"behavior": key},
                )
        elif key == "defaultMode":
            yield _mode(listed, path, file, source)
        else:
            yield draft(
                file,
                _path(path),
                ("NO_DECOMPOSE", "—"),
                f"Setting `permissions.{key}`: no counterpart in the package",
                rule="claude_code:2c:settings_json",
                signal=f"settings.permissions.{key}",
                source=source,
            )


_BEHAVIOR = {"allow": "May use", "ask": "Must confirm", "deny": "Never"}


def _mode(value: object, path: str, file: str, source: SourceName) -> Element:
    row = ROWS["M-32"]
    return draft(
        file,
        _path(path),
        (row.tag, row.category),
        f"Permission mode {scalar(value)}",
        full=scalar(value),
        rule="claude_code:2c:default_mode",
        row=row.id,
        signal="settings.defaultMode",
        source=source,
    )


def _env(value: dict[str, Any], at: str, file: str) -> Iterator[Element]:
    for name in value:
        yield env_element(name, file, _path(join(at, name)), "settings.json")


def env_element(name: str, file: str, lines: str, source: SourceName) -> Element:
    row = ROWS["M-29"]
    return draft(
        file,
        lines,
        (row.tag, row.category),
        f"Environment variable {name}",
        full=name,
        rule="claude_code:2g:env",
        row=row.id,
        signal=f"env:{name}",
        source=source,
        sensitive=is_secret_name(name),
    )


def hook_elements(
    value: object, at: str, file: str, source: SourceName, row_id: str, prefix: str = "json"
) -> Iterator[Element]:
    """One element per matcher group of an event."""
    if not isinstance(value, dict):
        return
    row = ROWS[row_id]
    for event, groups in value.items():
        path = join(at, str(event))
        for index, group in enumerate(groups if isinstance(groups, list) else [groups]):
            if not isinstance(group, dict):
                continue
            listed = group.get("hooks") if isinstance(group.get("hooks"), list) else [group]
            matcher = scalar(group.get("matcher") or "")
            kinds = [str(one.get("type", "command")) for one in listed or [] if isinstance(one, dict)]
            where = join(path, index)
            lines = _path(where) if prefix == "json" else "frontmatter." + where.removeprefix("$.")
            yield draft(
                file,
                lines,
                (row.tag, row.category),
                f"{event} hook" + (f" for {redact_text(matcher)}" if matcher else ""),
                rule="claude_code:2c:hooks",
                row=row.id,
                signal=f"hooks.{event}:{redact_text(matcher)}",
                source=source,
                details={"event": str(event), "matcher": redact_text(matcher), "handlers": kinds},
            )


def server_elements(value: object, at: str, file: str, source: SourceName, row_id: str) -> Iterator[Element]:
    if not isinstance(value, dict):
        return
    row = ROWS[row_id]
    for name in value:
        yield draft(
            file,
            _path(join(at, str(name))),
            (row.tag, row.category),
            f"MCP server {name}",
            full=str(name),
            rule="claude_code:2d:mcp_server",
            row=row.id,
            signal=f"mcp:{name}",
            source=source,
            details={"server": str(name)},
        )


def plugin_elements(document: Document, file: str) -> Iterator[Element]:
    """Name, version and dependencies of a plugin; a manifest without a name is invalid and gives nothing."""
    name = document.value.get("name")
    if not isinstance(name, str) or not name:
        return
    row = ROWS["M-34"]
    for key in ("name", "version"):
        if key in document.value:
            yield draft(
                file,
                _path(join("$", key)),
                ("CONFIG", "C8"),
                f"Plugin {key} {scalar(document.value[key])}",
                full=scalar(document.value[key]),
                rule="claude_code:2e:plugin_json",
                row=row.id if key == "name" else None,
                signal=f"plugin.{key}",
            )
    listed = document.value.get("dependencies")
    if isinstance(listed, list):
        for index, one in enumerate(listed):
            text = scalar(one.get("name") if isinstance(one, dict) else one)
            yield draft(
                file,
                _path(join(join("$", "dependencies"), index)),
                ("CONFIG", "C8"),
                f"Plugin dependency {text}",
                full=text,
                rule="claude_code:2e:plugin_json",
                row="M-35",
                signal=f"plugin.dependencies:{text}",
            )


def env_names(text: str) -> list[tuple[int, str]]:
    """(line, name) of every variable of a dotenv file; what stands after the `=` is not looked at."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=", line)
        if match:
            found.append((number, match[1]))
    return found


def exists(directory: str | None, *names: str) -> str | None:
    if directory is None:
        return None
    path = os.path.join(directory, *names)
    return path if os.path.isfile(path) else None
