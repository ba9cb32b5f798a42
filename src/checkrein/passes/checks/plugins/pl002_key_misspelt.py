"""Manifest keys that are almost a known one."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_plugins
from checkrein.passes.checks import misspelt
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, manifest
from checkrein.passes.checks.manifests import key_origin, manifest_values


def run(subject: Subject) -> Iterator[Finding]:
    for plugin in subject.project.sources.plugins:
        if plugin.format != "claude":
            continue
        names = manifest_values(subject, plugin)
        written = ((name, key_origin(subject, plugin.origin, f"$.{name}")) for name in names)
        yield from misspelt.keys(subject, written, claude_plugins.MANIFEST_KEYS, plugin.spans, "a manifest")


CHECK = Check(
    code="PL002",
    name="manifest-key-misspelt",
    severity="warning",
    summary="A key of a plugin's manifest is misspelt.",
    why="Claude Code ignores unknown keys, so this one has no effect.",
    hint="Correct the name.",
    bad={PLUGIN: manifest(homePage="https://tidy.example.com")},
    good={PLUGIN: manifest(homepage="https://tidy.example.com")},
    run=run,
    fixable=True,
)
