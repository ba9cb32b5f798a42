"""Plugins that are fetched without encryption."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.addresses import is_plain_remote
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MARKETPLACE, catalog
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    for marketplace in subject.project.sources.marketplaces:
        for entry in marketplace.entries:
            url = entry.source.get("url")
            if isinstance(url, str) and (is_plain_remote(url) or url.startswith("git://")):
                message = f"The plugin `{entry.name}` is fetched without encryption"
                yield Finding(origin=field(entry, "source"), message=message)


CHECK = Check(
    code="PL022",
    name="source-not-encrypted",
    severity="warning",
    summary="A plugin is fetched over plain http or git.",
    why="Anyone on the network may replace the code, and plugins run code. Claude Code refuses such "
    "archives.",
    hint="Use https.",
    bad={
        MARKETPLACE: catalog(
            {"name": "tidy", "source": {"source": "url", "url": "http://git.example.com/tidy.git"}}
        )
    },
    good={
        MARKETPLACE: catalog(
            {"name": "tidy", "source": {"source": "url", "url": "https://git.example.com/tidy.git"}}
        )
    },
    run=run,
)
