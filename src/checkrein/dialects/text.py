"""Files of a project as text; an unreadable file becomes a Diagnostic."""

from __future__ import annotations

import os

from checkrein.base.files import LEAVES, MAX_TEXT_BYTES, Text, read_text
from checkrein.base.origin import Origin, Scope, Span
from checkrein.dialects.codes import Log, diagnose

_CODES = (
    (LEAVES, "FILE009"),
    ("permission denied", "FILE001"),
    ("leads back to itself", "FILE003"),
    ("is larger than", "FILE004"),
    ("is a directory", "FILE002"),
    ("is not a regular file", "FILE002"),
)


def read(
    path: str, scope: Scope, log: Log, *, limit: int = MAX_TEXT_BYTES, optional: bool = True
) -> Text | None:
    """The file's text, or None when it can't be read.

    A missing file is reported only if it is not `optional`, or if a link points to it.
    """
    found = read_text(path, limit, within=log.bounds(scope))
    if found.problem is None:
        return found
    if found.readable:
        log.append(diagnose("FILE005", f"{_name(path)} {found.problem}", Origin(path, scope, Span(1))))
        return found
    if found.problem == "does not exist":
        if os.path.islink(path):
            message = f"{_name(path)} is a symbolic link to a file that does not exist"
            log.append(diagnose("FILE003", message, Origin(path, scope)))
        elif not optional:
            log.append(diagnose("FILE001", f"{_name(path)} does not exist", Origin(path, scope)))
        return None
    code = next((code for text, code in _CODES if text in found.problem), "FILE001")
    place = Origin(path, scope, Span(1) if code == "FILE009" else None)
    log.append(diagnose(code, f"{_name(path)} {found.problem}", place))
    return None


def _name(path: str) -> str:
    return os.path.basename(path) or path
