"""JSON files of a project: one object with the place of every value, or a Diagnostic."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.files import MAX_TEXT_BYTES
from checkrein.base.origin import Origin, Scope, Span
from checkrein.dialects import text
from checkrein.dialects.codes import Log, diagnose

if TYPE_CHECKING:
    from checkrein.base import jsonpos
    from checkrein.base.jsonc import Comments


class Document(Struct, frozen=True):
    """One JSON object and where it came from. `spans` maps JSON paths to places."""

    value: dict[str, Any]
    origin: Origin
    spans: dict[str, Span] = {}

    def at(self, path: str) -> Origin:
        return self.origin.at(self.spans.get(path), path)

    def below(self, path: str) -> dict[str, Span]:
        """The places of the members of the object at `path`, by key."""
        start = path + "."
        return {
            key[len(start) :]: span
            for key, span in self.spans.items()
            if key.startswith(start) and "." not in key[len(start) :] and "[" not in key[len(start) :]
        }


def read(
    path: str, scope: Scope, log: Log, *, limit: int = MAX_TEXT_BYTES, optional: bool = True
) -> Document | None:
    found = text.read(path, scope, log, limit=limit, optional=optional)
    if found is None:
        return None
    return parse(found.text, Origin(path, scope), log)


def parse(source: str, origin: Origin, log: Log, comments: Comments = "none") -> Document | None:
    """The object of a file; `comments` says what it may hold besides JSON."""
    from checkrein.base import jsonpos
    from checkrein.base.jsonc import as_json

    name = os.path.basename(origin.file)
    decoded = jsonpos.decode(as_json(source, comments))
    if isinstance(decoded, jsonpos.JsonError):
        message = f"{name} is not JSON: {decoded.message}"
        log.append(diagnose("JSON001", message, origin.at(decoded.span), hint=_hint(source, decoded)))
        return None
    if not isinstance(decoded.value, dict):
        log.append(diagnose("JSON002", f"{name} does not hold a JSON object", origin.at(Span(1), "$")))
        return None
    document = Document(decoded.value, origin, decoded.spans)
    for path in decoded.duplicates:
        message = f"`{path.removeprefix('$.')}` appears more than once; the last one counts"
        log.append(diagnose("JSON003", message, document.at(path)))
    return document


def _hint(source: str, error: jsonpos.JsonError) -> str | None:
    if not source.strip():
        return "The file is empty. Write `{}`, or remove it."
    lines = source.splitlines()
    line = lines[error.span.line - 1] if error.span.line <= len(lines) else ""
    rest = line[error.span.column - 1 :].lstrip()
    if rest.startswith(("//", "/*")):
        return "JSON has no comments. Remove it."
    if rest[:1] in ("}", "]"):
        return "Remove the comma before it."
    return None
