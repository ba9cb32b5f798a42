"""Keys of a marketplace that are almost a known one."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_plugins
from checkrein.model.items import Marketplace, PluginEntry
from checkrein.passes.checks import misspelt
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MARKETPLACE, catalog
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    for marketplace in subject.project.sources.marketplaces:
        holders: list[tuple[Marketplace | PluginEntry, frozenset[str]]] = [
            (marketplace, claude_plugins.MARKETPLACE_KEYS)
        ]
        holders += [(entry, claude_plugins.ENTRY_KEYS) for entry in marketplace.entries]
        for holder, known in holders:
            written = ((name, field(holder, name)) for name in holder.unknown)
            yield from misspelt.keys(subject, written, known, holder.spans, "a marketplace")


CHECK = Check(
    code="PL024",
    name="marketplace-key-misspelt",
    severity="warning",
    summary="A key of a marketplace or of its entries is misspelt.",
    why="Claude Code ignores unknown keys, so this one has no effect.",
    hint="Correct the name.",
    bad={
        MARKETPLACE: catalog(
            {"name": "tidy", "source": {"source": "github", "repo": "acme/tidy"}, "catgory": "code"}
        )
    },
    good={
        MARKETPLACE: catalog(
            {"name": "tidy", "source": {"source": "github", "repo": "acme/tidy"}, "category": "code"}
        )
    },
    run=run,
    fixable=True,
)
