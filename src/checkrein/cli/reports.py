"""Findings in the formats that other programs read: SARIF, GitHub annotations, GitLab code quality."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from checkrein.base.diagnostic import Diagnostic, Fix
from checkrein.base.harmless import harmless
from checkrein.base.origin import Origin, Span
from checkrein.passes.fingerprints import fingerprint
from checkrein.passes.fingerprints import relative as relative_path

if TYPE_CHECKING:
    from checkrein.passes.codes import Page

HELP = "urn:checkrein:check"
"""A name for the page of each code, not an address: the page comes with the source, as docs/checks.md."""

_SARIF_LEVEL = {"error": "error", "warning": "warning", "info": "note"}
_GITLAB_LEVEL = {"error": "major", "warning": "minor", "info": "info"}
_GITHUB_LEVEL = {"error": "error", "warning": "warning", "info": "notice"}


def sarif(found: Sequence[Diagnostic], root: str) -> dict[str, Any]:
    """SARIF 2.1.0, one run, file names relative to the project root."""
    from checkrein import __version__
    from checkrein.passes.codes import documentation

    known = {code: page for code in sorted({one.code for one in found}) if (page := documentation(code))}
    places = {code: place for place, code in enumerate(known)}
    marks = Fingerprints(root)
    results = [_result(finding, root, places.get(finding.code), marks) for finding in found]
    rules = [_rule(page) for page in known.values()]
    driver = {"name": "checkrein", "version": __version__, "informationUri": HELP, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "originalUriBaseIds": {"PROJECT": {"description": {"text": "The root of the project."}}},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }


def _rule(page: Page) -> dict[str, Any]:
    """Viewers show `help` in place; `helpUri` is a name that none can open."""
    return {
        "id": page.code,
        "name": page.name,
        "shortDescription": {"text": page.summary},
        "fullDescription": {"text": page.why},
        "help": {"text": page.hint, "markdown": f"{page.why}\n\n**Fix:** {page.hint}"},
        "helpUri": f"{HELP}:{page.code}",
        "defaultConfiguration": {"level": _SARIF_LEVEL[page.severity]},
    }


class Fingerprints:
    """One mark for each finding that stays when lines move; equal findings of a file are numbered."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._seen: Counter[str] = Counter()

    def of(self, finding: Diagnostic) -> str:
        text = fingerprint(finding, self.root)
        self._seen[text] += 1
        return sha256(f"{text} {self._seen[text]}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _result(finding: Diagnostic, root: str, rule: int | None, marks: Fingerprints) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        **({} if rule is None else {"ruleIndex": rule}),
        "level": _SARIF_LEVEL[finding.severity],
        "message": {"text": finding.message + (f". {finding.hint}" if finding.hint else "")},
        "locations": [_location(finding.origin, root)],
        "relatedLocations": [_location(origin, root) for origin in dict.fromkeys(finding.related)],
        "partialFingerprints": {"checkrein/v1": marks.of(finding)},
    }
    if finding.fix is not None:
        result["fixes"] = [_fix(finding.fix, root)]
    return result


def _fix(fix: Fix, root: str) -> dict[str, Any]:
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        changes.setdefault(edit.file, []).append(
            {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.replacement}}
        )
    return {
        "description": {"text": fix.title + ("" if fix.safe else " (review the result)")},
        "artifactChanges": [
            {"artifactLocation": _artifact(file, root), "replacements": replacements}
            for file, replacements in changes.items()
        ],
    }


def _location(origin: Origin, root: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(origin.file, root)}
    if origin.span is not None:
        physical["region"] = _region(origin.span)
    return {"physicalLocation": physical}


def _region(span: Span) -> dict[str, int]:
    region = {"startLine": span.line, "startColumn": span.column, "endLine": span.last_line}
    if span.end_column:
        region["endColumn"] = span.end_column
    return region


def _artifact(file: str, root: str) -> dict[str, str]:
    """A URI: relative to the project for its own files, absolute for those of the user and the machine."""
    from urllib.parse import quote

    relative = relative_path(file, root)
    quoted = quote(os.fsencode(relative))
    return {"uri": f"file://{quoted}"} if os.path.isabs(relative) else {"uri": quoted, "uriBaseId": "PROJECT"}


def github(found: Sequence[Diagnostic]) -> str:
    """Workflow commands, one line each."""
    return "\n".join(_annotation(finding) for finding in found)


def gitlab(found: Sequence[Diagnostic], root: str) -> list[dict[str, Any]]:
    """A report of GitLab code quality."""
    marks = Fingerprints(root)
    return [
        {
            "description": f"{finding.code}: {finding.message}",
            "check_name": finding.code,
            "fingerprint": marks.of(finding),
            "severity": _GITLAB_LEVEL[finding.severity],
            "location": {
                "path": relative_path(finding.origin.file, root),
                "lines": {"begin": finding.origin.line or 1},
            },
        }
        for finding in found
    ]


def _annotation(finding: Diagnostic) -> str:
    span = finding.origin.span
    place = f"file={_escape_property(relative_path(finding.origin.file, os.getcwd()))}"
    if span is not None:
        place += f",line={span.line},col={span.column},endLine={span.last_line}"
    text = finding.message + (f". Fix: {finding.hint}" if finding.hint else "")
    return f"::{_GITHUB_LEVEL[finding.severity]} {place},title={finding.code}::{_escape(text)}"


def _escape(text: str) -> str:
    return harmless(text).replace("%", "%25").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
