"""Allow rules that let an agent change files everywhere."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.covers import tool_of, working
from checkrein.passes.checks.examples import SETTINGS, document
from checkrein.policy.globs import compile_path

_PLACES = {"abs": "the whole file system", "home": "the whole home directory"}


def run(subject: Subject) -> Iterator[Finding]:
    for rule in working(subject):
        if rule.verdict != "allow" or tool_of(rule) != "Edit" or rule.specifier is None:
            continue
        pattern = compile_path(rule.specifier, grants=True)
        if pattern.base in _PLACES and pattern.location == "" and pattern.pattern.strip("/") in ("*", "**"):
            message = f"`{rule.text}` in `allow` approves changes in {_PLACES[pattern.base]}"
            yield Finding(origin=subject.find(rule.origin, rule.text), message=message)


CHECK = Check(
    code="PERM015",
    name="allow-whole-disk",
    severity="warning",
    summary="An allow rule approves changes to every file.",
    why="Shell profiles, keys and the agent's own settings are there. An agent that can change them can run "
    "any command.",
    hint="Name the directories, such as `Edit(src/**)` or `Edit(~/notes/**)`.",
    bad={SETTINGS: document({"permissions": {"allow": ["Edit(//**)"]}})},
    good={SETTINGS: document({"permissions": {"allow": ["Edit(src/**)"]}})},
    run=run,
)
