"""Experimental parts in their old place."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_plugins
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, document, manifest
from checkrein.passes.checks.manifests import key_origin, manifest_values


def run(subject: Subject) -> Iterator[Finding]:
    for plugin in subject.project.sources.plugins:
        for key in sorted(claude_plugins.EXPERIMENTAL_KEYS & manifest_values(subject, plugin).keys()):
            message = f"`{key}` belongs below `experimental`"
            yield Finding(origin=key_origin(subject, plugin.origin, f"$.{key}"), message=message)


CHECK = Check(
    code="PL019",
    name="experimental-key",
    severity="info",
    summary="`themes` or `monitors` is at the top of a manifest.",
    why="It still works, with a warning; it belongs below `experimental`.",
    hint="Move it below `experimental`.",
    bad={PLUGIN: manifest(themes="./themes"), "themes/dark.json": document({"name": "dark"})},
    good={
        PLUGIN: manifest(experimental={"themes": "./themes"}),
        "themes/dark.json": document({"name": "dark"}),
    },
    run=run,
)
