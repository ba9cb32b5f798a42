"""Files of a skill that nothing names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.base.origin import Origin, Span
from checkrein.passes.checks.bundled import files_of, text_of
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import top

_FOLDERS = ("references", "reference", "scripts")
_TEXTS = (
    ".md",
    ".txt",
    ".py",
    ".sh",
    ".bash",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".rb",
    ".json",
    ".yaml",
    ".yml",
    ".toml",
)
_WORTH = (".md", ".py", ".sh", ".bash", ".js", ".mjs", ".ts", ".rb", ".pl")
_APART = re.compile(
    r"(?i)^(?:__\w+__|readme|license|changelog|notice|contributing|conftest|setup|index|install|uninstall)\b|^\.|test|spec\b"
)


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        candidates = [
            path
            for path in files_of(subject, item)
            if path.split("/", 1)[0] in _FOLDERS
            and path.endswith(_WORTH)
            and not _APART.search(os.path.basename(path))
        ]
        if not candidates:
            continue
        body = subject.text(item.origin.file)
        others = {
            path: text_of(subject, item, path) for path in files_of(subject, item) if path.endswith(_TEXTS)
        }
        for path in candidates:
            folder, _, name = path.rpartition("/")
            if _names_folder(body, folder) or _is_named(name, body):
                continue
            if any(
                _is_named(name, text) or _names_folder(text, folder)
                for other, text in others.items()
                if other != path
            ):
                continue
            message = f"Nothing in the skill `{item.name}` names `{path}`"
            yield Finding(
                origin=Origin(os.path.join(item.directory, path), item.origin.scope, Span(1)),
                message=message,
                related=(top(item),),
            )


def _is_named(name: str, text: str) -> bool:
    stem = os.path.splitext(name)[0]
    return name in text or re.search(rf"(?<![\w]){re.escape(stem)}(?![\w])", text) is not None


def _names_folder(text: str, folder: str) -> bool:
    """Whether a text speaks of a folder as a whole: `references/`, `scripts/*.py`."""
    top = folder.rpartition("/")[2]
    return (
        re.search(rf"(?<![\w-]){re.escape(top)}/?(?:[*{{<\[$]|[`\"'\s)\]|,.;:—]|$)", text, re.M) is not None
    )


CHECK = Check(
    code="AS026",
    name="file-unnamed",
    severity="info",
    summary="Nothing in a skill names one of its files.",
    why="The model reads and runs only what the text names; the file is dead weight, or its mention is lost.",
    hint="Name the file in SKILL.md, with a word on when to read or run it, or remove it.",
    bad={
        SKILL: skill(body="Read the diff.\n"),
        ".claude/skills/review/references/style.md": "Short names.\n",
    },
    good={
        SKILL: skill(body="Read the diff. Follow [the style](references/style.md).\n"),
        ".claude/skills/review/references/style.md": "Short names.\n",
    },
    run=run,
    dialects="all",
)
