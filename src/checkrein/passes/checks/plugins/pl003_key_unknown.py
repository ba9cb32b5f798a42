"""Manifest keys that Claude Code does not read."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.facts import claude_plugins
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, manifest
from checkrein.passes.checks.manifests import key_origin, manifest_values


def run(subject: Subject) -> Iterator[Finding]:
    known = claude_plugins.MANIFEST_KEYS.keys() | claude_plugins.ENTRY_KEYS
    for plugin in subject.project.sources.plugins:
        for name in manifest_values(subject, plugin):
            if name in known or nearest(name, claude_plugins.MANIFEST_KEYS, 0.8):
                continue
            origin = key_origin(subject, plugin.origin, f"$.{name}")
            yield Finding(origin=subject.find(origin, name), message=f"`{name}` is not a key of a manifest")


CHECK = Check(
    code="PL003",
    name="manifest-key-unknown",
    severity="info",
    summary="A key of a plugin's manifest is unknown.",
    why="Claude Code ignores it; `claude plugin validate --strict` fails.",
    hint="Remove it, or move it below `metadata`.",
    bad={PLUGIN: manifest(rating=5)},
    good={PLUGIN: manifest(metadata={"rating": 5})},
    run=run,
)
