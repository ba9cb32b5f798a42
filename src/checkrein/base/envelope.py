"""The one JSON document that a command prints, and the error object inside it.

Exactly one of `data` and `error` is present. `exit_code` equals the status of the process.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from checkrein.base import clock
from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import CheckreinError
from checkrein.base.origin import Origin

_SCHEMA_VERSION = "2.0"


class ErrorBody(Struct, frozen=True, rename={"error_class": "class"}):
    """What a client needs to choose its next step. `hint` says what would help; null when nothing would.

    `details` are facts for programs; left out when there are none.
    """

    kind: str
    error_class: str
    message: str
    hint: str | None
    retryable: bool
    origin: Origin | None = None
    details: dict[str, Any] | UnsetType = UNSET


class Envelope(Struct, frozen=True, omit_defaults=True):
    timestamp: str
    command: str
    exit_code: int
    output_format: str = msgspec.field(default="json")
    schema_version: str = _SCHEMA_VERSION
    data: Any = None
    error: ErrorBody | None = None
    warnings: tuple[Diagnostic, ...] = ()


def error_body(error: CheckreinError) -> ErrorBody:
    return ErrorBody(
        error.kind,
        error.error_class,
        error.message,
        error.hint,
        error.retryable,
        error.origin,
        error.details or UNSET,
    )


def success(
    command: str, data: Any, exit_code: int = 0, warnings: tuple[Diagnostic, ...] = ()
) -> dict[str, Any]:
    return _common(command, exit_code) | {"data": data, "warnings": warnings}


def failure(
    command: str, error: CheckreinError, exit_code: int, warnings: tuple[Diagnostic, ...] = ()
) -> dict[str, Any]:
    return _common(command, exit_code) | {"error": error_body(error), "warnings": warnings}


def _common(command: str, exit_code: int) -> dict[str, Any]:
    return {
        "timestamp": clock.timestamp(),
        "command": command,
        "exit_code": exit_code,
        "output_format": "json",
        "schema_version": _SCHEMA_VERSION,
    }


def encode(document: Any) -> bytes:
    return msgspec.json.encode(document, enc_hook=str) + b"\n"
