"""`extension.yml`: the commands that an extension provides, checked as spec-kit checks them at install."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.frontmatter import load_block
from checkrein.base.origin import Origin, Span
from checkrein.dialects.generic.loss_codes import CODES

MANIFEST = "extension.yml"
_COMMAND_NAME = re.compile(r"speckit\.[a-z0-9-]+\.[a-z0-9-]+")
_ID = re.compile(r"[a-z0-9-]+")


class Entry(Struct, frozen=True, kw_only=True):
    """One command of the manifest: its names (aliases after the first), its file, and what it adds."""

    names: tuple[str, ...]
    file: str
    origin: Origin
    description: str | None = None
    behavior: dict[str, Any] = {}
    agents: dict[str, Any] = {}


class Manifest(Struct, frozen=True, kw_only=True):
    id: str
    name: str
    version: str
    author: str
    origin: Origin
    commands: tuple[Entry, ...] = ()


def parse_manifest(text: str, path: str, log: list[Diagnostic]) -> Manifest | None:
    """The manifest, or None when it is unusable. `log` says what is wrong."""
    origin = Origin(path, "project")
    block = load_block(text)
    if block.error is not None:
        log.append(
            report("SPK001", f"{MANIFEST} is not YAML: {block.error}", origin.at(Span(block.error_line)))
        )
        return None
    values = block.values
    about = values.get("extension")
    if not isinstance(about, dict):
        log.append(report("SPK001", "`extension` must be a map with `id`, `name` and `version`", origin))
        return None
    extension = about.get("id")
    if not isinstance(extension, str) or not _ID.fullmatch(extension):
        place = origin.at(block.spans.get("extension"), "extension.id")
        log.append(report("SPK002", "`extension.id` must be lowercase letters, digits and `-`", place))
        return None
    if str(values.get("schema_version")) != "1.0":
        place = origin.at(block.spans.get("schema_version"), "schema_version")
        log.append(report("SPK002", '`schema_version` must be "1.0"', place))
    provides = values.get("provides")
    listed = provides.get("commands", []) if isinstance(provides, dict) else None
    place = origin.at(block.spans.get("provides"), "provides.commands")
    if not isinstance(listed, list):
        log.append(report("SPK002", "`provides.commands` must be a list", place))
        listed = []
    lines = _command_lines(text)
    entries = [
        _entry(
            item,
            extension,
            place.at(Span(lines[index]) if index < len(lines) else place.span, f"provides.commands[{index}]"),
            log,
        )
        for index, item in enumerate(listed)
    ]
    return Manifest(
        id=extension,
        name=str(about.get("name", extension)),
        version=str(about.get("version", "")),
        author=str(about.get("author") or ""),
        origin=origin,
        commands=tuple(entry for entry in entries if entry is not None),
    )


def _entry(item: Any, extension: str, origin: Origin, log: list[Diagnostic]) -> Entry | None:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        log.append(report("SPK003", "a command needs a `name` and a `file`", origin))
        return None
    aliases = item.get("aliases") or []
    if not isinstance(aliases, list):
        log.append(report("SPK003", f"`aliases` of `{item['name']}` must be a list", origin))
        aliases = []
    names = [
        name
        for raw in (item["name"], *aliases)
        if (name := _command_name(raw, extension, origin, log)) is not None
    ]
    file = item.get("file")
    if not names:
        return None
    if (
        not isinstance(file, str)
        or not file
        or file.startswith(("/", "\\"))
        or ".." in re.split(r"[/\\]", file)
    ):
        log.append(report("SPK003", f"`file` of `{names[0]}` must be a path inside the extension", origin))
        return None
    behavior, agents = item.get("behavior"), item.get("agents")
    description = item.get("description")
    return Entry(
        names=tuple(dict.fromkeys(names)),
        file=file.replace("\\", "/"),
        origin=origin,
        description=description if isinstance(description, str) else None,
        behavior=behavior if isinstance(behavior, dict) else {},
        agents=agents if isinstance(agents, dict) else {},
    )


def _command_name(raw: Any, extension: str, origin: Origin, log: list[Diagnostic]) -> str | None:
    name = str(raw)
    if name.count(".") == 1 and _COMMAND_NAME.fullmatch(f"speckit.{name}"):
        log.append(report("SPK004", f"`{name}` becomes `speckit.{name}`", origin))
        name = f"speckit.{name}"
    if not _COMMAND_NAME.fullmatch(name):
        log.append(
            report("SPK003", f"`{name}` is not a command name; write `speckit.{extension}.<command>`", origin)
        )
        return None
    if name.split(".")[1] != extension:
        log.append(
            report("SPK005", f"`{name}` is outside the extension's namespace `speckit.{extension}.`", origin)
        )
    return name


def _command_lines(text: str) -> list[int]:
    """The lines of the entries of `provides.commands`, for messages that name the right one."""
    lines: list[int] = []
    inside: str | None = None
    first = 0
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        if re.fullmatch(r"commands:\s*(#.*)?", stripped):
            inside = line[:indent]
            continue
        if inside is not None and stripped and not stripped.startswith("#"):
            if indent < len(inside) or (indent == len(inside) and not stripped.startswith("- ")):
                break
            if stripped.startswith("- ") and (not lines or indent == first):
                first = indent
                lines.append(number)
    return lines


def report(code: str, message: str, origin: Origin) -> Diagnostic:
    return Diagnostic(code, CODES[code].severity, message, origin, hint=CODES[code].hint)
