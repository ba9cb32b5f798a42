"""What the first message tells the model about the project and this session."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec.structs import replace

from checkrein.base import clock
from checkrein.base.files import read_text
from checkrein.base.origin import Origin, Scope
from checkrein.model.items import Instruction
from checkrein.model.project import Place
from checkrein.runtime.context.segments import Segment

SCOPE_WORDS = {
    "managed": "the organisation's instructions",
    "user": "the user's own instructions for all projects",
    "project": "project instructions, checked in",
    "local": "the user's own instructions for this project, not checked in",
    "plugin": "instructions of a plugin",
    "cli": "instructions",
}

_MARK = re.compile(r"<(?=\s*/?\s*system-reminder\b)", re.IGNORECASE)

MemoryType = Literal["User", "Project", "Local", "Managed"]
_MEMORY_TYPES: dict[str, MemoryType] = {"managed": "Managed", "user": "User", "local": "Local"}


def memory_type(scope: Scope) -> MemoryType:
    """The name that hooks use for the scope of an instruction file."""
    return _MEMORY_TYPES.get(scope, "Project")


def quoted(text: str) -> str:
    """A text of somebody else for a reminder: no mark in it ends the reminder or begins another."""
    return _MARK.sub("‹", text)


def reminder(text: str) -> str:
    return f"<system-reminder>\n{text}\n</system-reminder>"


def instruction_segments(instructions: Sequence[Instruction]) -> Iterator[Segment]:
    """One pinned segment for each instruction file that the start loads."""
    for item in instructions:
        if item.lazy or not item.text.strip():
            continue
        words = SCOPE_WORDS.get(item.origin.scope, SCOPE_WORDS["cli"])
        text = f"Contents of {item.name} ({words}; follow them):\n\n{item.text.strip()}"
        yield Segment("project", item.name, text, item.origin, pinned=True)


def environment_segment(place: Place, model: str, branch: str | None) -> Segment:
    """Facts about where the session runs; the date, not the time, so that a day's sessions agree."""
    system = os.uname()
    lines = [
        f"Working directory: {place.cwd}",
        f"Git repository: {'yes, branch ' + branch if branch else 'yes' if place.repo_root else 'no'}",
        f"Platform: {system.sysname.lower()} ({system.machine}), shell: bash",
        f"Model: {model}",
        f"Date: {time.strftime('%Y-%m-%d', time.gmtime(clock.now()))}",
    ]
    if place.add_dirs:
        lines.insert(1, f"Additional directories: {', '.join(place.add_dirs)}")
    return Segment("session", "environment", "\n".join(lines), Origin("<environment>", "bundled"))


def git_branch(repo_root: str | None) -> str | None:
    """The branch that HEAD names, read from the file without starting a process."""
    if repo_root is None:
        return None
    head = read_text(os.path.join(repo_root, ".git", "HEAD"), limit=512, within=(repo_root,)).text.strip()
    if not head:
        return None
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else "(detached)"


def file_stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def reread(item: Instruction, within: Sequence[str]) -> Instruction:
    """The current text of an instruction file. Its imports are known from the start and read separately."""
    from checkrein.dialects.claude import files

    kind: Literal["rule", "instruction"] = "rule" if item.kind == "rule" else "instruction"
    now = files.read(item.name, kind, item.origin.scope, within).instructions
    return replace(item, text=now[0].text) if now else item
