"""Settings that a plugin may not set."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.base.origin import Origin
from checkrein.facts import claude, claude_plugins, claude_settings
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, agent, document, manifest


def run(subject: Subject) -> Iterator[Finding]:
    for plugin in subject.project.sources.plugins:
        file = os.path.join(plugin.root, claude.SETTINGS_FILE)
        found = subject.json(file) if plugin.format != "agent_plugins" and os.path.isfile(file) else None
        if found is None or not isinstance(found.value, dict):
            continue
        for key in found.value:
            if key not in claude_plugins.SETTINGS_KEYS and key not in claude_settings.META_KEYS:
                origin = Origin(file, plugin.origin.scope, found.spans.get(f"$.{key}"), f"$.{key}")
                message = f"`{key}` has no effect in the settings of a plugin"
                yield Finding(origin=origin, message=message)


CHECK = Check(
    code="PL017",
    name="plugin-setting-ignored",
    severity="warning",
    summary="A plugin's settings.json holds keys other than `agent` and `subagentStatusLine`.",
    why="A plugin may not change permissions or other settings; Claude Code ignores the keys.",
    hint="Tell users to put them into their own settings.",
    bad={PLUGIN: manifest(), "settings.json": document({"permissions": {"allow": ["Bash(make *)"]}})},
    good={
        PLUGIN: manifest(),
        "settings.json": document({"agent": "tidy:tester"}),
        "agents/tester.md": agent(),
    },
    run=run,
)
