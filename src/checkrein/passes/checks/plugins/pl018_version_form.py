"""Plugin versions that can't be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, manifest
from checkrein.passes.checks.manifests import key_origin

_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")


def run(subject: Subject) -> Iterator[Finding]:
    for plugin in subject.project.sources.plugins:
        if (
            plugin.format == "claude"
            and plugin.version is not None
            and not _VERSION.fullmatch(plugin.version)
        ):
            message = f"The version `{plugin.version}` of `{plugin.name}` is not of the form 1.2.3"
            yield Finding(origin=key_origin(subject, plugin.origin, "$.version"), message=message)


CHECK = Check(
    code="PL018",
    name="plugin-version-form",
    severity="warning",
    summary="A plugin's version is not of the form 1.2.3.",
    why="Dependencies with a range of versions never match it.",
    hint="Use three numbers, as in semantic versioning.",
    bad={PLUGIN: manifest(version="v2")},
    good={PLUGIN: manifest(version="2.0.0")},
    run=run,
)
