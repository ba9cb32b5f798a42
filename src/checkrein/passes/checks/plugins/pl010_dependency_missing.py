"""Dependencies that the marketplace does not have."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MARKETPLACE, catalog, manifest
from checkrein.passes.checks.manifests import key_origin


def run(subject: Subject) -> Iterator[Finding]:
    for marketplace in subject.project.sources.marketplaces:
        names = {entry.name for entry in marketplace.entries}
        for plugin in subject.project.sources.plugins:
            if plugin.marketplace != marketplace.name:
                continue
            for number, dependency in enumerate(plugin.dependencies):
                wanted = dependency.get("name") if isinstance(dependency, dict) else dependency
                elsewhere = isinstance(dependency, dict) and dependency.get("marketplace") not in (
                    None,
                    marketplace.name,
                )
                if not isinstance(wanted, str) or elsewhere or wanted.partition("@")[0] in names:
                    continue
                origin = key_origin(subject, plugin.origin, f"$.dependencies[{number}]")
                message = f"`{plugin.name}` depends on `{wanted}`, which its marketplace does not have"
                yield Finding(origin=origin, message=message)


CHECK = Check(
    code="PL010",
    name="dependency-missing",
    severity="error",
    summary="A plugin depends on a plugin that its marketplace does not have.",
    why="Installing or enabling the plugin fails.",
    hint="Add the plugin to the marketplace, or name the marketplace it comes from.",
    bad={
        MARKETPLACE: catalog({"name": "tidy", "source": "./plugins/tidy"}),
        "plugins/tidy/.claude-plugin/plugin.json": manifest(dependencies=["broom"]),
    },
    good={
        MARKETPLACE: catalog(
            {"name": "tidy", "source": "./plugins/tidy"},
            {"name": "broom", "source": {"source": "github", "repo": "acme/broom"}},
        ),
        "plugins/tidy/.claude-plugin/plugin.json": manifest(dependencies=["broom"]),
    },
    run=run,
)
