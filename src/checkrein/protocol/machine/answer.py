"""The only constructor of answers: a payload or an error becomes the bytes of one JSON document."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from checkrein.base import envelope
from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import CheckreinError
from checkrein.base.origin import Origin
from checkrein.protocol.machine.kinds import KINDS, action_of


class ErrorBody(Struct, frozen=True, kw_only=True, rename={"error_class": "class"}):
    """What a client needs to choose its next step. `operation` names the failed action, `target` its object;
    `details` are facts that are known in spite of the error, such as `found` and `session_id`."""

    kind: str
    error_class: str
    message: str
    hint: str | None
    retryable: bool
    action: str
    operation: str
    target: str
    origin: Origin | None = None
    details: dict[str, Any] = {}


def status_of(error: CheckreinError) -> int:
    """Inside the protocol 2 means that a time limit passed, and nothing else."""
    return 2 if error.error_class == "timeout" else 1


def error_body(verb: str, error: CheckreinError) -> ErrorBody:
    known = KINDS.get(error.kind)
    return ErrorBody(
        kind=error.kind,
        error_class=error.error_class,
        message=error.message,
        hint=error.hint or (known.hint if known else None),
        retryable=error.retryable,
        action=action_of(error.kind, error.error_class, error.retryable),
        operation=error.operation or verb,
        target=error.target if error.target is not None else verb,
        origin=error.origin,
        details=error.details,
    )


def success(
    verb: str, data: Any, exit_code: int = 0, warnings: tuple[Diagnostic, ...] = (), version: str = "2.0"
) -> bytes:
    return _encode(envelope.success(verb, data, exit_code, warnings), version)


def failure(
    verb: str,
    error: CheckreinError,
    exit_code: int,
    version: str = "2.0",
    warnings: tuple[Diagnostic, ...] = (),
) -> bytes:
    document = envelope.failure(verb, error, exit_code, warnings) | {"error": error_body(verb, error)}
    return _encode(document, version)


def _encode(document: dict[str, Any], version: str) -> bytes:
    if version == "1.0":
        from checkrein.protocol.envelope_v1 import downgrade

        document = downgrade(msgspec.to_builtins(document, enc_hook=str))
    try:
        return envelope.encode(document)
    except UnicodeEncodeError:
        # A file name or an output may hold bytes that are not text.
        return envelope.encode(_as_text(msgspec.to_builtins(document, enc_hook=str)))


def _as_text(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_as_text(key): _as_text(item) for key, item in value.items()}
    return [_as_text(item) for item in value] if isinstance(value, list | tuple) else value
