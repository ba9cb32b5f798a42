"""Manifest keys that are almost a known one."""

from __future__ import annotations

from collections.abc import Iterator

from bridle.base.nearest import nearest
from bridle.facts import (
    claude_plugins,
)
from bridle.passes.checks import edits
from bridle.passes.checks.check import Check, Finding, Subject
from bridle.passes.checks.examples import (
    PLUGIN,
    manifest,
)
from bridle.passes.checks.manifests import key_origin, manifest_values


def run(subject: Subject) -> Iterator[Finding]:
    for plugin in subject.project.sources.plugins:
        if plugin.format != "claude":
            continue
        for name in manifest_values(subject, plugin):
            meant = (
                None
                if name in claude_plugins.MANIFEST_KEYS
                else nearest(name, claude_plugins.MANIFEST_KEYS, 0.8)
            )
            if meant is None:
                continue
            origin = key_origin(subject, plugin.origin, f"$.{name}")
            fix = edits.rename(subject, origin, name, meant) if meant not in plugin.spans else None
            message = f"`{name}` is no key of a manifest; did you mean `{meant}`"
            yield Finding(origin=subject.find(origin, name), message=message, fix=fix)


CHECK = Check(
    code="PL002",
    name="manifest-key-misspelt",
    severity="warning",
    summary="A key of a plugin's manifest is misspelt.",
    why="Unknown keys are ignored, so what it says is not in effect.",
    hint="Correct the name.",
    bad={PLUGIN: manifest(homePage="https://tidy.example.com")},
    good={PLUGIN: manifest(homepage="https://tidy.example.com")},
    run=run,
    fixable=True,
)
