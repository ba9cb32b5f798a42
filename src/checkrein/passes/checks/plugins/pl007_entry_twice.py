"""Plugins that a marketplace lists twice."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.items import PluginEntry
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MARKETPLACE, catalog
from checkrein.passes.checks.parts import field, top


def run(subject: Subject) -> Iterator[Finding]:
    for marketplace in subject.project.sources.marketplaces:
        seen: dict[str, PluginEntry] = {}
        for entry in marketplace.entries:
            first = seen.setdefault(entry.name, entry)
            if first is not entry:
                message = f"The marketplace lists `{entry.name}` twice"
                yield Finding(origin=field(entry, "name"), message=message, related=(top(first),))


CHECK = Check(
    code="PL007",
    name="marketplace-entry-twice",
    severity="error",
    summary="A marketplace lists two plugins of the same name.",
    why="Claude Code refuses the marketplace.",
    hint="Rename or remove one of them.",
    bad={
        MARKETPLACE: catalog(
            {"name": "tidy", "source": {"source": "github", "repo": "acme/tidy"}},
            {"name": "tidy", "source": {"source": "github", "repo": "acme/tidy-two"}},
        )
    },
    good={
        MARKETPLACE: catalog(
            {"name": "tidy", "source": {"source": "github", "repo": "acme/tidy"}},
            {"name": "tidy-two", "source": {"source": "github", "repo": "acme/tidy-two"}},
        )
    },
    run=run,
)
