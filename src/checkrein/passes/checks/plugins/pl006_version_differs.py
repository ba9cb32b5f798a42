"""Versions that differ between the marketplace and the manifest."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MARKETPLACE, catalog, manifest
from checkrein.passes.checks.manifests import entry_root, own_manifest
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    for marketplace in subject.project.sources.marketplaces:
        for entry in marketplace.entries:
            root = entry_root(subject, marketplace, entry)
            own = own_manifest(subject, root).get("version") if root else None
            if entry.version and isinstance(own, str) and own != entry.version:
                message = (
                    f"`{entry.name}` is {entry.version} in the marketplace "
                    f"and {own} in its manifest; {own} counts"
                )
                yield Finding(origin=field(entry, "version"), message=message)


CHECK = Check(
    code="PL006",
    name="plugin-version-differs",
    severity="warning",
    summary="A marketplace entry and the plugin's manifest have different versions.",
    why="The manifest's version decides whether users get an update; the marketplace's version is for "
    "display only.",
    hint="Keep the version in one place.",
    bad={
        MARKETPLACE: catalog({"name": "tidy", "source": "./plugins/tidy", "version": "2.0.0"}),
        "plugins/tidy/.claude-plugin/plugin.json": manifest(),
    },
    good={
        MARKETPLACE: catalog({"name": "tidy", "source": "./plugins/tidy", "version": "1.0.0"}),
        "plugins/tidy/.claude-plugin/plugin.json": manifest(),
    },
    run=run,
)
