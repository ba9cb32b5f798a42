"""Paths in a manifest that do not start with `./`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from checkrein.facts import claude_plugins
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, command, manifest
from checkrein.passes.checks.manifests import key_origin, manifest_values


def run(subject: Subject) -> Iterator[Finding]:
    for plugin in subject.project.sources.plugins:
        values = manifest_values(subject, plugin)
        for key in claude_plugins.COMPONENTS:
            written = values.get(key)
            for path, text in _texts(f"$.{key}", written):
                if text.startswith("./") or os.path.isabs(text) or (key == "skills" and text == "."):
                    continue
                if ".." in text.split("/"):
                    continue
                origin = key_origin(subject, plugin.origin, path)
                fix = edits.swap(
                    subject, origin, json.dumps(text), json.dumps(f"./{text}"), f"Write `./{text}`"
                )
                message = f"`{text}` of `{key}` does not start with `./`"
                yield Finding(origin=subject.find(origin, text), message=message, fix=fix)


def _texts(path: str, written: Any) -> Iterator[tuple[str, str]]:
    if isinstance(written, str):
        yield path, written
    elif isinstance(written, list):
        for number, part in enumerate(written):
            if isinstance(part, str):
                yield f"{path}[{number}]", part


CHECK = Check(
    code="PL004",
    name="manifest-path-form",
    severity="error",
    summary="A path in a plugin's manifest does not start with `./`.",
    why="Claude Code rejects the manifest, and the plugin with it.",
    hint="Start it with `./`, relative to the plugin's root.",
    bad={PLUGIN: manifest(commands="extra"), "extra/ship.md": command()},
    good={PLUGIN: manifest(commands="./extra"), "extra/ship.md": command()},
    run=run,
    fixable=True,
)
