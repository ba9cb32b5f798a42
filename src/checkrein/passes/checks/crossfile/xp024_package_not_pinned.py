"""Programs that are fetched without a version, in hooks and in the commands of skills."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import bodies, field, hooks
from checkrein.passes.checks.prose import spot, teaches

_NPX = r"\b(?:npx[ \t]+(?:(?:-y|--yes|-q|--quiet)[ \t]+)+|bunx[ \t]+|pnpm[ \t]+dlx[ \t]+|yarn[ \t]+dlx[ \t]+)"
_ANY_NPX = (
    r"\b(?:npx[ \t]+(?:(?:-y|--yes|-q|--quiet)[ \t]+)*|bunx[ \t]+|pnpm[ \t]+dlx[ \t]+|yarn[ \t]+dlx[ \t]+)"
)
_NAME = r"(?P<npm>(?:@[\w.-]+/)?[A-Za-z][\w.-]*)(?P<tag>@latest)?(?=[\s;&|\"'`)]|$)"
_UVX = r"\b(?:uvx|pipx[ \t]+run)[ \t]+(?P<py>[A-Za-z][\w.-]*)(?P<tag2>@latest)?(?=[\s;&|\"'`)]|$)"
_IN_HOOK = re.compile(f"{_ANY_NPX}{_NAME}|{_UVX}")
_KINDS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_PROGRAMS = ("npx", "bunx", "pnpm dlx", "yarn dlx", "uvx", "pipx run")
_IN_TEXT = re.compile(f"{_NPX}{_NAME}|{_UVX}")
_LESSON = re.compile(r"(?i)\b(?:npx|bunx|dlx|uvx|pipx)\b")
"""In a heading: the section explains the program that fetches, and what it fetches is an example."""


def run(subject: Subject) -> Iterator[Finding]:
    own = _dependencies(subject)
    for hooked in hooks(subject.project):
        hook = hooked.hook
        if hook.type == "command" and hook.command and hook.args is None:
            for match in _IN_HOOK.finditer(hook.command):
                name = match["npm"] or match["py"]
                if name not in own:
                    origin = subject.find(field(hook, "command"), match[0].strip())
                    yield Finding(
                        origin=origin, message=f"The `{hook.name}` hook runs the newest version of `{name}`"
                    )
    for item in bodies(subject.project):
        if not any(program in item.body for program in _PROGRAMS) or teaches(item):
            continue
        seen: set[str] = set()
        body = subject.body(item)
        for hit in body.hits(_IN_TEXT, *_PROGRAMS):
            name = hit.match["npm"] or hit.match["py"]
            if not hit.line.shell or hit.line.sample or name in own or name in seen:
                continue
            seen.add(name)
            if not _LESSON.search(body.heading(hit.line.number)):
                origin = spot(item, hit.line.number, hit.start, hit.end)
                yield Finding(origin=origin, message=f"`{item.name}` runs the newest version of `{name}`")


def _dependencies(subject: Subject) -> frozenset[str]:
    """The project's own package and those that its package.json has: npx starts the installed version."""
    place = subject.project.place
    own: set[str] = set()
    for root in {place.root, place.repo_root or place.root}:
        text = subject.text(os.path.join(root, "package.json"))
        try:
            manifest = json.loads(text) if text else None
        except (ValueError, RecursionError):
            manifest = None
        if isinstance(manifest, dict):
            own.add(str(manifest.get("name")))
            own.update(
                name for kind in _KINDS if isinstance(manifest.get(kind), dict) for name in manifest[kind]
            )
    return frozenset(own)


CHECK = Check(
    code="XP024",
    name="package-not-pinned",
    severity="info",
    summary="A hook or skill fetches a program without a version.",
    why="The next version that anyone publishes under the name runs on every user's machine, unreviewed.",
    hint="Name the version: `npx -y package@1.2.3`, `uvx package@1.2.3`.",
    bad={SETTINGS: hook_file("PostToolUse", {"type": "command", "command": "npx -y tidy-files"}, "Edit")},
    good={
        SETTINGS: hook_file("PostToolUse", {"type": "command", "command": "npx -y tidy-files@2.1.0"}, "Edit")
    },
    run=run,
    dialects="all",
)
