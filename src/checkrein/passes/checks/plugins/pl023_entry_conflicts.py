"""Entries that replace a manifest with its own parts."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_plugins
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MARKETPLACE, catalog, command, manifest
from checkrein.passes.checks.manifests import entry_root, own_manifest
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    for marketplace in subject.project.sources.marketplaces:
        for entry in marketplace.entries:
            root = entry_root(subject, marketplace, entry)
            if entry.strict or root is None:
                continue
            parts = [key for key in claude_plugins.COMPONENTS if key in own_manifest(subject, root)]
            if parts:
                message = f"`strict` is false for `{entry.name}`, but its own manifest names `{parts[0]}`"
                yield Finding(origin=field(entry, "strict"), message=message)


CHECK = Check(
    code="PL023",
    name="entry-conflicts",
    severity="error",
    summary="An entry has `strict: false`, but the plugin's manifest has its own parts.",
    why="`strict: false` makes the entry the whole definition. Two definitions are a conflict, and Claude "
    "Code does not load the plugin.",
    hint="Remove `strict: false`, or the parts from plugin.json.",
    bad={
        MARKETPLACE: catalog(
            {"name": "tidy", "source": "./plugins/tidy", "strict": False, "description": "Tidies."}
        ),
        "plugins/tidy/.claude-plugin/plugin.json": manifest(commands="./extra"),
        "plugins/tidy/extra/ship.md": command(),
    },
    good={
        MARKETPLACE: catalog({"name": "tidy", "source": "./plugins/tidy"}),
        "plugins/tidy/.claude-plugin/plugin.json": manifest(commands="./extra"),
        "plugins/tidy/extra/ship.md": command(),
    },
    run=run,
)
