"""Default folders that a manifest key replaces."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.facts import claude_plugins
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, command, manifest
from checkrein.passes.checks.manifests import key_origin, manifest_values


def run(subject: Subject) -> Iterator[Finding]:
    for plugin in subject.project.sources.plugins:
        values = manifest_values(subject, plugin)
        for key in sorted(claude_plugins.REPLACING_KEYS & values.keys()):
            default = claude_plugins.COMPONENTS[key]
            written = values[key] if isinstance(values[key], list) else [values[key]]
            texts = [os.path.normpath(text) for text in written if isinstance(text, str)]
            covered = any(text == default or text.startswith(f"{default}/") or text == "." for text in texts)
            if not texts or covered or not os.path.isdir(os.path.join(plugin.root, default)):
                continue
            message = f"`{key}` replaces the folder `{default}/`, which is not read any more"
            yield Finding(origin=key_origin(subject, plugin.origin, f"$.{key}"), message=message)


CHECK = Check(
    code="PL015",
    name="default-folder-replaced",
    severity="warning",
    summary="A manifest key replaces a default folder that exists.",
    why="`commands`, `agents` and some other keys replace the default folder instead of adding to it "
    "(`skills` adds). Claude Code does not load the default folder.",
    hint="List the default folder too.",
    bad={PLUGIN: manifest(commands="./extra"), "extra/ship.md": command(), "commands/tag.md": command()},
    good={
        PLUGIN: manifest(commands=["./extra", "./commands"]),
        "extra/ship.md": command(),
        "commands/tag.md": command().replace("Ship a", "Tag a"),
    },
    run=run,
)
