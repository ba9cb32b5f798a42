"""A `license` that names a missing file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import plugin_root

_FILE = re.compile(r"\b(LICEN[SC]E(?:\.\w+)?|[\w-]{1,80}\.(?:txt|md))\b")


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        written = item.license or ""
        match = None if "://" in written else _FILE.search(written)
        if match is None or match[0] == "LICENSE" == written.strip().upper():
            continue
        place = subject.project.place
        above = (item.directory, plugin_root(subject.project, item.plugin), place.root, place.repo_root)
        if any(root is not None and os.path.exists(os.path.join(root, match[0])) for root in above):
            continue
        origin = subject.find(item.where("license"), match[0])
        yield Finding(
            origin=origin, message=f"`license` names `{match[0]}`, which is not in the skill's folder"
        )


CHECK = Check(
    code="AS022",
    name="license-file-missing",
    severity="info",
    summary="A skill's `license` names a file that is not in its folder.",
    why="A person who gets only the skill does not get its terms.",
    hint="Add the file beside SKILL.md, or name the licence itself.",
    bad={SKILL: skill("license: Complete terms in LICENSE.txt")},
    good={
        SKILL: skill("license: Complete terms in LICENSE.txt"),
        ".claude/skills/review/LICENSE.txt": "Apache License 2.0\n",
    },
    run=run,
    dialects="all",
)
