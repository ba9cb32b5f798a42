"""Marketplaces and plugins with reserved names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.facts import claude_plugins
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MARKETPLACE, catalog
from checkrein.passes.checks.manifests import key_origin

_OWNER = "Anthropic"
"""The owner of the official marketplaces, which have these names by right."""
_IMITATES = re.compile(r"official-(?:claude|anthropic)|(?:claude|anthropic)(?:-\w+)*-official|^anthropic-")


def run(subject: Subject) -> Iterator[Finding]:
    for marketplace in subject.project.sources.marketplaces:
        if marketplace.owner.get("name") == _OWNER:
            continue
        if marketplace.name in claude_plugins.RESERVED_MARKETPLACES or _IMITATES.search(marketplace.name):
            message = f"The marketplace name `{marketplace.name}` is reserved"
            yield Finding(origin=key_origin(subject, marketplace.origin, "$.name"), message=message)
    for plugin in subject.project.sources.plugins:
        if plugin.format == "claude" and plugin.name.casefold() in claude_plugins.RESERVED_PLUGINS:
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
