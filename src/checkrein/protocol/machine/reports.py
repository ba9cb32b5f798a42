"""The opt-out verbs: the project, the protocol, and lists."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.protocol.machine.inventory import Entry, commands, first_sentence, tools
from checkrein.protocol.machine.kinds import KINDS
from checkrein.protocol.machine.verbs import EXITS, MACHINE, OPT_OUT, VERSIONS

if TYPE_CHECKING:
    from checkrein.model.project import Project


_COUNTED = (
    "instructions",
    "skills",
    "commands",
    "agents",
    "rules",
    "hooks",
    "servers",
    "plugins",
    "settings",
)


class Summary(Struct, frozen=True, kw_only=True):
    """The project at a glance. `problems` counts what is wrong with its files, by severity."""

    root: str
    dialect: str
    counts: dict[str, int]
    tools: int
    sessions: int
    trusted: bool
    problems: dict[str, int]


class KindRow(Struct, frozen=True, rename={"error_class": "class"}):
    kind: str
    error_class: str
    action: str
    hint: str


class VerbRow(Struct, frozen=True, kw_only=True):
    verb: str
    surface: str
    summary: str
    errors: tuple[str, ...]


class Manifest(Struct, frozen=True, kw_only=True):
    """What a client can rely on, before its first call."""

    version: str
    schema_versions: tuple[str, ...]
    deprecated_versions: tuple[str, ...]
    exits: dict[str, str]
    verbs: tuple[VerbRow, ...]
    error_kinds: tuple[KindRow, ...]


class Parity(Struct, frozen=True, kw_only=True):
    """One verb: whether it is declared, speaks JSON, and has a schema. `problem` names what is missing."""

    verb: str
    surface: str
    declared: bool
    json: bool
    schema: bool
    problem: str | None


class ParityAudit(Struct, frozen=True, kw_only=True):
    """`agrees`: every verb is in exactly one class, declared, and speaks JSON with a schema."""

    agrees: bool
    rows: tuple[Parity, ...]
    unclassified: tuple[str, ...]


class Subsystem(Struct, frozen=True):
    name: str
    path: str
    modules: int
    responsibility: str


class Subsystems(Struct, frozen=True, kw_only=True):
    count: int
    total: int
    subsystems: tuple[Subsystem, ...]


class Row(Struct, frozen=True):
    name: str
    kind: str
    source_hint: str
    responsibility: str
    source: str
    path: str


class Rows(Struct, frozen=True, kw_only=True):
    """The answer holds `count` of the `total` entries that pass the filters."""

    count: int
    total: int
    entries: tuple[Row, ...]


def summary(project: Project, sessions: int, trusted: bool) -> Summary:
    problems: dict[str, int] = {}
    for found in project.diagnostics:
        problems[found.severity] = problems.get(found.severity, 0) + 1
    return Summary(
        root=project.place.root,
        dialect=project.detection.dialect,
        counts={name: len(getattr(project, name)) for name in _COUNTED},
        tools=len(tools(project.place.root)),
        sessions=sessions,
        trusted=trusted,
        problems=dict(sorted(problems.items())),
    )


def manifest(declared: Mapping[str, tuple[str, tuple[str, ...]]]) -> Manifest:
    """`declared` gives for each verb its summary and its error kinds."""
    from checkrein import __version__

    return Manifest(
        version=__version__,
        schema_versions=VERSIONS,
        deprecated_versions=VERSIONS[1:],
        exits={str(code): text for code, text in EXITS},
        verbs=tuple(
            VerbRow(verb=verb, surface=_surface(verb), summary=text, errors=errors)
            for verb, (text, errors) in declared.items()
        ),
        error_kinds=tuple(KindRow(k, row.error_class, row.action, row.hint) for k, row in KINDS.items()),
    )


def parity_audit(declared: Mapping[str, tuple[bool, bool]]) -> ParityAudit:
    """`declared` says for each declared verb whether it speaks JSON and has a schema."""
    rows = []
    for verb in (*MACHINE, *OPT_OUT):
        json, schema = declared.get(verb, (False, False))
        lacks = [
            name
            for name, there in (("declaration", verb in declared), ("JSON", json), ("schema", schema))
            if not there
        ]
        rows.append(
            Parity(
                verb=verb,
                surface=_surface(verb),
                declared=verb in declared,
                json=json,
                schema=schema,
                problem=f"no {', no '.join(lacks)}" if lacks else None,
            )
        )
    unclassified = tuple(sorted(set(declared) - {*MACHINE, *OPT_OUT}))
    twice = set(MACHINE) & set(OPT_OUT)
    agrees = not unclassified and not twice and all(row.problem is None for row in rows)
    return ParityAudit(agrees=agrees, rows=tuple(rows), unclassified=unclassified)


def subsystems(limit: int) -> Subsystems:
    """The packages of Checkrein itself, from the installed files."""
    import ast

    import checkrein

    root = os.path.dirname(checkrein.__file__)
    found = []
    for name in sorted(os.listdir(root)):
        folder = os.path.join(root, name)
        init = os.path.join(folder, "__init__.py")
        if not os.path.isfile(init):
            continue
        with open(init, encoding="utf-8") as file:
            doc = ast.get_docstring(ast.parse(file.read())) or ""
        count = sum(file.endswith(".py") for _, _, files in os.walk(folder) for file in files)
        found.append(Subsystem(name, f"checkrein/{name}", count, first_sentence(doc)))
    return Subsystems(count=len(found[:limit]), total=len(found), subsystems=tuple(found[:limit]))


def list_commands(project: Project, limit: int, query: str | None, plugins: bool, skills: bool) -> Rows:
    kept = [
        entry
        for entry in commands(project)
        if (plugins or not entry.plugin) and (skills or entry.kind != "skill")
    ]
    return list_entries(kept, limit, query)


def list_entries(entries: list[Entry], limit: int, query: str | None) -> Rows:
    """The first entries that match the query."""
    if query is not None:
        asked = query.casefold()
        entries = [e for e in entries if asked in f"{e.name} {e.source_hint} {e.responsibility}".casefold()]
    rows: tuple[Row, ...] = tuple(
        Row(e.name, e.kind, e.source_hint, e.responsibility, e.source, e.path) for e in entries[:limit]
    )
    return Rows(count=len(rows), total=len(entries), entries=rows)


def _surface(verb: str) -> str:
    return "machine" if verb in MACHINE else "opt_out"
