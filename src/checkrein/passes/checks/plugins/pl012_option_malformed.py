"""Plugin options that are malformed."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, manifest
from checkrein.passes.checks.manifests import key_origin

_TYPES = ("string", "number", "boolean", "directory", "file")


def run(subject: Subject) -> Iterator[Finding]:
    for plugin in subject.project.sources.plugins:
        for name, option in plugin.user_config.items():
            origin = key_origin(subject, plugin.origin, f"$.userConfig.{name}")
            if not isinstance(option, dict):
                yield Finding(origin=origin, message=f"The option `{name}` must be an object")
                continue
            lacking = [key for key in ("type", "title", "description") if not option.get(key)]
            if lacking:
                yield Finding(origin=origin, message=f"The option `{name}` has no `{lacking[0]}`")
            elif option["type"] not in _TYPES:
                message = (
                    f"The option `{name}` has the type `{option['type']}`, "
                    f"which is not one of {', '.join(_TYPES)}"
                )
                yield Finding(origin=origin, message=message)


CHECK = Check(
    code="PL012",
    name="option-malformed",
    severity="error",
    summary="An option of a plugin lacks `type`, `title` or `description`.",
    why="Claude Code refuses the manifest.",
    hint="Give each option of `userConfig` a type, a title and a description.",
    bad={PLUGIN: manifest(userConfig={"level": {"type": "string", "title": "Level"}})},
    good={
        PLUGIN: manifest(
            userConfig={"level": {"type": "string", "title": "Level", "description": "How strict."}}
        )
    },
    run=run,
)
