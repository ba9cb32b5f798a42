"""A plugin's CLAUDE.md, which Claude Code does not read."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.base.origin import Origin, Span
from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MARKETPLACE, catalog, manifest, skill


def run(subject: Subject) -> Iterator[Finding]:
    for plugin in subject.project.sources.plugins:
        file = os.path.join(plugin.root, claude.MEMORY_FILE)
        if plugin.root != subject.project.place.root and os.path.isfile(file):
            message = f"{claude.MEMORY_FILE} of the plugin `{plugin.name}` is not loaded"
            yield Finding(origin=Origin(file, plugin.origin.scope, Span(1)), message=message)


CHECK = Check(
    code="PL016",
    name="plugin-instructions-not-loaded",
    severity="warning",
    summary="A plugin has a CLAUDE.md.",
    why="Plugins can't have instructions; Claude Code does not read the file.",
    hint="Make it a skill.",
    bad={
        MARKETPLACE: catalog({"name": "tidy", "source": "./plugins/tidy"}),
        "plugins/tidy/.claude-plugin/plugin.json": manifest(),
        "plugins/tidy/CLAUDE.md": "Tidy up after each task.\n",
    },
    good={
        MARKETPLACE: catalog({"name": "tidy", "source": "./plugins/tidy"}),
        "plugins/tidy/.claude-plugin/plugin.json": manifest(),
        "plugins/tidy/skills/tidy/SKILL.md": skill(name="tidy"),
    },
    run=run,
)
