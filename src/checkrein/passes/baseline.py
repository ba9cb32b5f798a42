"""Known findings: a file of fingerprints that a later run does not report again.

A fingerprint holds the code, the file below the project root and the message, but neither the line nor the
numbers in the message, so it survives edits of the file. Equal findings are counted.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import ConfigError
from checkrein.base.files import beneath, write_atomic
from checkrein.base.origin import Origin
from checkrein.passes.fingerprints import fingerprint, relative

VERSION = 2


def _first_form(finding: Diagnostic, root: str) -> str:
    """The fingerprint in files of version 1."""
    return f"{finding.code} {relative(finding.origin.file, root)} {finding.message}"


def require_inside(path: Path, root: str, origin: Origin | None) -> None:
    """A project names its baseline only inside itself. The user and the command line name any file."""
    real = os.path.realpath(path)
    if not beneath(real, os.path.realpath(root)):
        raise ConfigError(
            f"The baseline {path} is outside the project",
            kind="baseline_invalid",
            hint="Name a file inside the project, or give the file with `--baseline`.",
            origin=origin,
        )


def write_baseline(path: Path, found: Iterable[Diagnostic], root: str) -> None:
    known = Counter(fingerprint(finding, root) for finding in found)
    document = {"version": VERSION, "findings": dict(sorted(known.items()))}
    write_atomic(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def subtract_baseline(path: Path, found: Iterable[Diagnostic], root: str) -> tuple[list[Diagnostic], int]:
    """The findings that are new, and how many were known."""
    try:
        document = json.loads(path.read_text("utf-8"))
        form = _first_form if document.get("version") == 1 else fingerprint
        known = Counter({str(key): int(value) for key, value in document["findings"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(
            f"The baseline {path} can't be read: {error}",
            kind="baseline_invalid",
            hint="Write it again with `checkrein check --write-baseline`.",
        ) from error
    fresh: list[Diagnostic] = []
    dropped = 0
    for finding in found:
        key = form(finding, root)
        if known[key] > 0:
            known[key] -= 1
            dropped += 1
        else:
            fresh.append(finding)
    return fresh, dropped
