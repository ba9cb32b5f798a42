"""Plugin options that are used but not declared."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.origin import Origin, Span
from checkrein.model.items import Plugin
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, command, manifest
from checkrein.passes.checks.parts import bodies, top

_OPTION = re.compile(r"\$\{user_config\.([\w-]+)\}")


def run(subject: Subject) -> Iterator[Finding]:
    for plugin in subject.project.sources.plugins:
        if plugin.format != "claude":
            continue
        for origin, text in _texts(subject, plugin):
            for match in _OPTION.finditer(text):
                if match[1] not in plugin.user_config:
                    message = f"`{match[0]}` is not an option of the plugin `{plugin.name}`"
                    yield Finding(origin=subject.find(origin, match[0]), message=message)


def _texts(subject: Subject, plugin: Plugin) -> Iterator[tuple[Origin, str]]:
    sources = subject.project.sources
    for hook in sources.hooks:
        if hook.plugin == plugin.name:
            yield top(hook), " ".join((hook.command or "", *(hook.args or ())))
    for server in sources.servers:
        if server.plugin == plugin.name:
            parts = (
                server.command or "",
                server.url or "",
                *server.args,
                *server.env.values(),
                *server.headers.values(),
            )
            yield top(server), " ".join(parts)
    for item in bodies(subject.project):
        if item.plugin == plugin.name and "${user_config." in item.body:
            for line in subject.body(item).lines():
                if not line.fenced:
                    yield item.origin.at(Span(line.number), "body"), line.text


CHECK = Check(
    code="PL013",
    name="option-undeclared",
    severity="error",
    summary="A plugin uses an option that it does not declare.",
    why="Claude Code asks nobody for a value, and the placeholder stays in the text.",
    hint="Declare the option in `userConfig` of the manifest, or correct the name.",
    bad={PLUGIN: manifest(), "commands/ship.md": command(body="Ship to ${user_config.region}.\n")},
    good={
        PLUGIN: manifest(
            userConfig={"region": {"type": "string", "title": "Region", "description": "Where to."}}
        ),
        "commands/ship.md": command(body="Ship to ${user_config.region}.\n"),
    },
    run=run,
)
