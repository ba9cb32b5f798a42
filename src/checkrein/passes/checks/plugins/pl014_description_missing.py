"""Plugins and marketplaces without a description."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, document, manifest
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    listed = {
        entry.name: entry.description
        for marketplace in subject.project.sources.marketplaces
        for entry in marketplace.entries
    }
    for plugin in subject.project.sources.plugins:
        if plugin.format == "claude" and not plugin.description and not listed.get(plugin.name):
            message = f"The plugin `{plugin.name}` has no description"
            yield Finding(origin=top(plugin), message=message)


CHECK = Check(
    code="PL014",
    name="plugin-description-missing",
    severity="info",
    summary="A plugin has no description.",
    why="Users choose plugins by it, and `claude plugin validate` warns.",
    hint="Say in one sentence what the plugin is for.",
    bad={PLUGIN: document({"name": "tidy", "version": "1.0.0"})},
    good={PLUGIN: manifest()},
    run=run,
)
