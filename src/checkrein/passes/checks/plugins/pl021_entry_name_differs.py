"""Marketplace entries with another name than the plugin's own."""

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
            own = own_manifest(subject, root).get("name") if root else None
            if isinstance(own, str) and own != entry.name:
                message = f"The marketplace calls the plugin `{entry.name}`, its manifest `{own}`"
                yield Finding(origin=field(entry, "name"), message=message)


CHECK = Check(
    code="PL021",
    name="entry-name-differs",
    severity="warning",
    summary="A marketplace entry and the plugin's manifest have different names.",
    why="Users install and enable it by the marketplace's name, but its skills and agents start with the "
    "manifest's.",
    hint="Use one name.",
    bad={
        MARKETPLACE: catalog({"name": "tidy-up", "source": "./plugins/tidy"}),
        "plugins/tidy/.claude-plugin/plugin.json": manifest(),
    },
    good={
        MARKETPLACE: catalog({"name": "tidy", "source": "./plugins/tidy"}),
        "plugins/tidy/.claude-plugin/plugin.json": manifest(),
    },
    run=run,
)
