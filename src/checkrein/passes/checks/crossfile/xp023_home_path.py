"""Paths of one person's home directory."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.origin import Origin, Span
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import COMMAND, command
from checkrein.passes.checks.parts import bodies, field, hooks, servers
from checkrein.passes.checks.prose import is_example, read_lines, spot, teaches

_PATH = re.compile(
    r"(?<![\w.~$}/-])(?:/Users/|/home/|[A-Z]:\\{1,2}Users\\{1,2})([A-Za-z][\w.-]*)(?=[/\\])[\w./\\-]*"
)
_NOBODY = frozenset(
    """
    user users username user_name user-name you your yourname your-name your-username your_username me myname
    myuser name foo bar baz runner ubuntu vscode node app jovyan coder dev developer admin alice bob john jane
    johndoe janedoe jdoe doe shared public default guest root linuxbrew git claude agent
    sandbox home someone somebody person project projects xxx ec2-user debian pi vagrant docker container
    """.split()  # noqa: SIM905
)
_OWN = ("project", "plugin")


def run(subject: Subject) -> Iterator[Finding]:
    for item in bodies(subject.project):
        if item.origin.scope not in _OWN or not _may_hold(item.body) or teaches(item):
            continue
        seen: set[str] = set()
        for hit in subject.body(item).hits(_PATH, "/Users/", "/home/", "C:\\"):
            path, line = hit.match[0], hit.line
            if line.sample or (line.fenced and not line.shell) or is_example(line.text) or path in seen:
                continue
            if _is_someone(hit.match[1]):
                seen.add(path)
                yield _finding(spot(item, line.number, hit.start, hit.end), path)
    for text in subject.project.sources.instructions:
        if text.origin.scope == "project" and _may_hold(text.text):
            for line in read_lines(subject.text(text.name)):
                if not line.fenced and not is_example(line.text):
                    for path, at in _paths(line.text):
                        span = Span(line.number, at + 1, line.number, at + 1 + len(path))
                        yield _finding(text.origin.at(span), path)
    for hooked in hooks(subject.project):
        hook = hooked.hook
        if hook.origin.scope in _OWN:
            for path, _ in _paths(" ".join((hook.command or "", *(hook.args or ())))):
                yield _finding(subject.find(field(hook, "command"), path), path)
    for server in servers(subject.project):
        if server.origin.scope in _OWN:
            for path, _ in _paths(" ".join((server.command or "", *server.args))):
                yield _finding(subject.find(server.origin, path), path)


def _may_hold(text: str) -> bool:
    return "/Users/" in text or "/home/" in text or "\\Users\\" in text


def _paths(text: str) -> Iterator[tuple[str, int]]:
    for match in _PATH.finditer(text) if _may_hold(text) else ():
        if _is_someone(match[1]):
            yield match[0], match.start()


def _is_someone(name: str) -> bool:
    name = name.casefold()
    return name not in _NOBODY and not name.startswith(("my", "your", "user", "some", "test", "example"))


def _finding(origin: Origin, path: str) -> Finding:
    return Finding(origin=origin, message=f"`{path}` is in one person's home directory")


CHECK = Check(
    code="XP023",
    name="home-path-hard-coded",
    severity="warning",
    summary="A shared file names a path in one person's home directory.",
    why="It exists on one machine. Everyone else's agent fails there, or asks for rights to a strange place.",
    hint="Write a path from the project's root, or start it with `~`, `$CLAUDE_PROJECT_DIR` or "
    "`${CLAUDE_PLUGIN_ROOT}`.",
    bad={COMMAND: command(body="Read /Users/ada/work/notes.md first.\n")},
    good={COMMAND: command(body="Read docs/notes.md first.\n")},
    run=run,
    dialects="all",
)
