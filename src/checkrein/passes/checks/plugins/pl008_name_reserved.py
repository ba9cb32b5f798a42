"""Marketplaces and plugins with reserved names."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_plugins
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MARKETPLACE, catalog
from checkrein.passes.checks.manifests import key_origin


def run(subject: Subject) -> Iterator[Finding]:
    for marketplace in subject.project.sources.marketplaces:
        if marketplace.name in claude_plugins.RESERVED_MARKETPLACES:
            message = f"The marketplace name `{marketplace.name}` is reserved"
            yield Finding(origin=key_origin(subject, marketplace.origin, "$.name"), message=message)
    for plugin in subject.project.sources.plugins:
        if plugin.format == "claude" and plugin.name in claude_plugins.RESERVED_PLUGINS:
            message = f"The plugin name `{plugin.name}` is reserved"
            yield Finding(
                origin=key_origin(subject, plugin.origin, "$.name"), message=message, severity="warning"
            )


_TIDY = {"name": "tidy", "source": {"source": "github", "repo": "acme/tidy"}}

CHECK = Check(
    code="PL008",
    name="marketplace-name-reserved",
    severity="error",
    summary="A marketplace or plugin has a reserved name.",
    why="Claude Code reserves the names of official marketplaces and refuses others with these names.",
    hint="Choose another name.",
    bad={MARKETPLACE: catalog(_TIDY, name="claude-code-plugins")},
    good={MARKETPLACE: catalog(_TIDY)},
    run=run,
)
