"""Rules for files that the project does not have."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.globpatterns import dead_reason, expand
from checkrein.passes.checks.parts import field

_MOST_FILES = 20_000
_SKIPPED = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", "dist", "build", "target"})


def run(subject: Subject) -> Iterator[Finding]:
    rules = [
        item
        for item in subject.project.sources.instructions
        if item.paths and item.origin.scope == "project" and not any(map(dead_reason, item.paths))
    ]
    files = _files(subject.project.place.root) if rules else None
    if files is None:
        return
    from pathspec import PathSpec

    for item in rules:
        anchored = [f"/{part}" for pattern in item.paths for part in expand(pattern.removeprefix("./"))]
        matching = PathSpec.from_lines("gitignore", anchored)
        if not any(matching.match_file(file) for file in files):
            shown = ", ".join(f"`{pattern}`" for pattern in item.paths)
            message = f"No file of the project matches {shown}; the rule is never loaded"
            yield Finding(origin=field(item, "paths"), message=message)


def _files(root: str) -> list[str] | None:
    """The paths of all files below `root`; None for a project too large to walk."""
    found: list[str] = []
    for directory, folders, names in os.walk(root):
        folders[:] = [folder for folder in folders if folder not in _SKIPPED]
        base = os.path.relpath(directory, root).replace(os.sep, "/")
        found.extend(name if base == "." else f"{base}/{name}" for name in names)
        if len(found) > _MOST_FILES:
            return None
    return found


CHECK = Check(
    code="MEM006",
    name="rule-matches-no-file",
    severity="warning",
    summary="No file of the project matches a rule's `paths`.",
    why="Claude Code loads the rule only when the model reads a matching file. `*.ts` matches in the "
    "project's root only; for every depth write `**/*.ts`.",
    hint="Correct the patterns, or remove the rule.",
    bad={".claude/rules/api.md": '---\npaths: "*.py"\n---\nReturn JSON.\n', "src/a.py": "pass\n"},
    good={".claude/rules/api.md": '---\npaths: "**/*.py"\n---\nReturn JSON.\n', "src/a.py": "pass\n"},
    run=run,
    whole=True,
)
