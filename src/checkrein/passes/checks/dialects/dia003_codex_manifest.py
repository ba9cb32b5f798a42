"""Manifests of Codex plugins."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from checkrein.base.jsonpos import Json
from checkrein.base.origin import Origin, Span
from checkrein.facts import codex_plugins as facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import document, skill

_NAME = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
_FILE = f"{facts.MANIFEST_DIR}/{facts.MANIFEST_FILE}"


def run(subject: Subject) -> Iterator[Finding]:
    root = subject.project.place.root
    file = os.path.join(root, facts.MANIFEST_DIR, facts.MANIFEST_FILE)
    if subject.dialect is not None or not os.path.isfile(file):
        return
    whole = Origin(file, "project", Span(1))
    decoded = subject.json(file)
    if decoded is None or not isinstance(decoded.value, dict):
        yield Finding(
            origin=whole, message="The manifest is not a JSON object; Codex does not load the plugin"
        )
        return
    values = decoded.value
    name = values.get("name")
    if not isinstance(name, str) or not name:
        yield Finding(origin=whole, message="The manifest has no `name`; Codex does not load the plugin")
    elif not _NAME.fullmatch(name):
        message = f"The name `{name}` is not lowercase letters, digits and `-`"
        yield Finding(origin=_at(whole, decoded, "$.name"), message=message, severity="info")
    for key, value in values.items():
        types = facts.MANIFEST_KEYS.get(key)
        if types is not None and not isinstance(value, types):
            yield Finding(origin=_at(whole, decoded, f"$.{key}"), message=f"`{key}` has the wrong type")
    for key in facts.PATH_KEYS:
        for text in _paths(values.get(key)):
            if not _is_inside(root, text):
                message = f"`{text}` of `{key}` does not exist in the plugin"
                yield Finding(origin=_at(whole, decoded, f"$.{key}"), message=message)


def _at(whole: Origin, decoded: Json, path: str) -> Origin:
    return whole.at(decoded.spans.get(path, Span(1)), path)


def _paths(value: Any) -> Iterator[str]:
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str):
            yield text


def _is_inside(root: str, text: str) -> bool:
    path = os.path.normpath(os.path.join(root, text))
    return not os.path.isabs(text) and path.startswith(root) and os.path.exists(path)


CHECK = Check(
    code="DIA003",
    name="codex-manifest",
    severity="warning",
    summary="The manifest of a Codex plugin is wrong.",
    why="Codex does not load the plugin, or loads it without some of its parts.",
    hint="Correct the manifest: a `name`, and paths that exist, from the plugin's folder.",
    bad={
        _FILE: document({"name": "tidy", "version": "1.0.0", "skills": "./skils/"}),
        "skills/review/SKILL.md": skill(),
    },
    good={
        _FILE: document({"name": "tidy", "version": "1.0.0", "skills": "./skills/"}),
        "skills/review/SKILL.md": skill(),
    },
    run=run,
)
