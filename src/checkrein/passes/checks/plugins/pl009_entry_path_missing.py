"""Marketplace entries whose plugin does not exist."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MARKETPLACE, catalog, manifest
from checkrein.passes.checks.manifests import entry_root
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    for marketplace in subject.project.sources.marketplaces:
        for entry in marketplace.entries:
            root = entry_root(subject, marketplace, entry)
            if root is not None and not os.path.isdir(root):
                message = f"The source of `{entry.name}` does not exist: {entry.source.get('path')}"
                yield Finding(origin=field(entry, "source"), message=message)


CHECK = Check(
    code="PL009",
    name="marketplace-path-missing",
    severity="error",
    summary="A marketplace entry names a folder that does not exist.",
    why="Nobody can install the plugin.",
    hint="Correct the path; it is relative to the marketplace's root, not to `.claude-plugin/`.",
    bad={MARKETPLACE: catalog({"name": "tidy", "source": "./plugins/tidy"})},
    good={
        MARKETPLACE: catalog({"name": "tidy", "source": "./plugins/tidy"}),
        "plugins/tidy/.claude-plugin/plugin.json": manifest(),
    },
    run=run,
)
