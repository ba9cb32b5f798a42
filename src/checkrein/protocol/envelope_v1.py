"""Makes a document of schema 1.0 of the machine protocol from one of schema 2.0.

It holds the five common fields, then `kind` and the payload at the same level. `error` is nested; `kind` is
then the error's. Where the shape of a payload changed between the versions, `_PAYLOADS` gives the old one.
A document of 1.0 has `warnings` only when there are any, and never the one about its own age.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checkrein.protocol.machine.kinds import PARSE

Document = dict[str, Any]

COMMON = ("timestamp", "command", "exit_code", "output_format", "schema_version")
DEPRECATED = "PROTO001"
"""The code of the warning that 1.0 is deprecated. Only a document of 2.0 carries it."""


def downgrade(document: Document) -> Document:
    """`document` in plain builtins, as schema 2.0 has it. The fields of a payload never have common names."""
    old: Document = {name: document[name] for name in COMMON} | {"schema_version": "1.0"}
    error = document.get("error")
    if error is None:
        payload = document["data"]
        change = _PAYLOADS.get(document["command"])
        old |= {"kind": document["command"]} | (change(payload) if change else payload)
    else:
        kind = "parse" if error["kind"] in PARSE else error["kind"]
        details = error["details"]
        rest = {name: value for name, value in error.items() if name != "details"}
        directory = {"directory": details["directory"]} if "directory" in details else {}
        said = {**rest, "kind": kind, **directory, **_as_then(kind, document["command"])}
        old |= {"kind": kind, **details, "error": said}
    warnings = [one for one in document["warnings"] if one["code"] != DEPRECATED]
    return old | {"warnings": warnings} if warnings else old


def _as_then(kind: str, command: str) -> Document:
    """What 1.0 says otherwise: who found a wrong command line, and that a file may be readable next time."""
    if kind == "parse":
        return {"operation": "argparse", "target": command}
    return {"retryable": True, "action": "retry"} if kind == "session_load_failed" else {}


def _sessions(payload: Document) -> Document:
    """`sessions` were ids in ascending order."""
    rows = payload["sessions"]
    return {
        **payload,
        "sessions": sorted(row["session_id"] for row in rows),
        "count": payload["sessions_count"],
        "session_details": rows,
    }


def _match(match: Document) -> Document:
    """There were commands and tools, and no reasons."""
    kind = "tool" if match["kind"] == "tool" else "command"
    return {"kind": kind, **{name: match[name] for name in ("name", "score", "source_hint")}}


def _route(payload: Document) -> Document:
    return {**payload, "matches": [_match(match) for match in payload["matches"]]}


def _bootstrap(payload: Document) -> Document:
    return {**payload, "routed_matches": [_match(match) for match in payload["routed_matches"]]}


def _stages(payload: Document) -> Document:
    """`stages` were titles."""
    return {**payload, "stages": [stage["title"] for stage in payload["stages"]]}


_PAYLOADS: dict[str, Callable[[Document], Document]] = {
    "list-sessions": _sessions,
    "route": _route,
    "bootstrap": _bootstrap,
    "bootstrap-graph": _stages,
}
