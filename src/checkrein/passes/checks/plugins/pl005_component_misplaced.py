"""Components inside `.claude-plugin/`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.facts import claude_plugins
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, command, manifest
from checkrein.passes.checks.parts import top

_NAMES = sorted({place.partition("/")[0] for place in claude_plugins.COMPONENTS.values()})


def run(subject: Subject) -> Iterator[Finding]:
    for plugin in subject.project.sources.plugins:
        directory = os.path.join(plugin.root, claude_plugins.MANIFEST_DIR)
        for name in _NAMES:
            if os.path.exists(os.path.join(directory, name)):
                message = f"`{claude_plugins.MANIFEST_DIR}/{name}` is not read; it belongs beside that folder"
                yield Finding(origin=top(plugin), message=message)


CHECK = Check(
    code="PL005",
    name="component-misplaced",
    severity="error",
    summary="A part of a plugin is inside `.claude-plugin/`.",
    why="Only plugin.json and marketplace.json belong there. Claude Code does not load skills, commands, "
    "agents and hooks from it.",
    hint="Move the folder up to the plugin's root.",
    bad={PLUGIN: manifest(), ".claude-plugin/commands/ship.md": command()},
    good={PLUGIN: manifest(), "commands/ship.md": command()},
    run=run,
)
