"""Plugin names that are not lowercase words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, manifest
from checkrein.passes.checks.manifests import key_origin

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def run(subject: Subject) -> Iterator[Finding]:
    for plugin in subject.project.sources.plugins:
        if plugin.format == "claude" and not _NAME.fullmatch(plugin.name):
            message = f"The plugin's name `{plugin.name}` is not lowercase words joined by `-`"
            yield Finding(origin=key_origin(subject, plugin.origin, "$.name"), message=message)


CHECK = Check(
    code="PL001",
    name="plugin-name-form",
    severity="warning",
    summary="A plugin's name is not lowercase words joined by `-`.",
    why="It is the first part of every skill, agent and server of the plugin. `claude plugin validate` "
    "warns, and some hosts refuse it.",
    hint="Write it like `issue-tools`.",
    bad={PLUGIN: manifest(name="Tidy Up")},
    good={PLUGIN: manifest(name="tidy-up")},
    run=run,
)
