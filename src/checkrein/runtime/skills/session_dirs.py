"""The directory of one session with the skills that its agent shall find: for agents that read directories.

`ROOT/SESSION/.claude/skills/NAME/` holds a copy of each visible skill that the agent does not find by itself,
with its other files. It stays after the session until it is old, so that a resumed one finds its skills.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from checkrein.base.errors import FileError, UsageError
from checkrein.base.files import read_text, write_atomic
from checkrein.base.home import home_path
from checkrein.facts.claude_launch import ADD_DIR_SKILLS, SKILL_FILE
from checkrein.model.items import Skill
from checkrein.model.view import View
from checkrein.runtime.skills.launch_dirs import AddDir, skill_names

MOST_HOURS = 72.0
MARKER = ".checkrein-session"
"""Beside the skills: only a directory with it is ever swept, and never while somebody holds its lock."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_LARGEST_FILE = 16 << 20
_FLAG = "disable-model-invocation"
_FLAG_LINE = re.compile(rf"""["']?{_FLAG}["']?\s*:""")


def choose_root(env: Mapping[str, str]) -> Path:
    """The first place that belongs to the user alone and takes files: the runtime directory, else Checkrein's
    home. A shared `/tmp` is none: somebody else could put a skill there first."""
    runtime = env.get("XDG_RUNTIME_DIR", "")
    wanted = [os.path.join(runtime, "checkrein", "sessions")] if os.path.isabs(runtime) else []
    for path in (*wanted, os.path.join(home_path(env), "session-dirs")):
        with contextlib.suppress(OSError):
            os.makedirs(path, mode=0o700, exist_ok=True)
            found = os.lstat(path)
            private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o022
            if private and found.st_uid == os.getuid() and os.access(path, os.W_OK | os.X_OK):
                return Path(path)
    raise FileError(
        "There is no private directory for the skills of a session.",
        hint="Set CHECKREIN_HOME to a directory of yours.",
    )


@contextlib.contextmanager
def session_dir(view: View, session: str, root: Path) -> Iterator[AddDir | None]:
    """The directory while the session runs; None when the agent finds all its skills by itself."""
    if _ID.fullmatch(session) is None:
        raise UsageError(f"{session!r} can't be the name of a session's directory.")
    place = root / session
    place.mkdir(mode=0o700, exist_ok=True)
    with open(place / MARKER, "a", encoding="utf-8") as marker:
        fcntl.flock(marker, fcntl.LOCK_SH)
        os.utime(place / MARKER)
        wanted = [skill for skill in view.skills.values() if needs_copy(skill)]
        _fill(place / ADD_DIR_SKILLS, wanted, view)
        yield AddDir.at(place) if skill_names(os.fspath(place / ADD_DIR_SKILLS)) else None


def needs_copy(skill: Skill) -> bool:
    """Whether Claude Code would not find a skill by itself: a bundled one that the plugin does not show, or
    one in `.checkrein/skills/`."""
    from checkrein.passes.visibility.bundled_skills import EXTENDED

    above = os.path.dirname(skill.directory)
    if skill.origin.scope == "bundled":
        return os.path.basename(above) == EXTENDED
    return skill.origin.scope == "project" and above.endswith(os.path.join(os.sep + ".checkrein", "skills"))


def _fill(target: Path, skills: list[Skill], view: View) -> None:
    """Make the directory hold these skills and nothing else."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(target)
    target.mkdir(parents=True, mode=0o700)
    for skill in skills:
        own = target / skill.name
        _copy(Path(skill.directory), own)
        text = read_text(skill.origin.file, within=view.project.place.within).text
        if skill.name in view.quiet:
            text = silenced(text)
        write_atomic(own / SKILL_FILE, text)
        if skill.name in view.quiet and not _is_silent(own):
            shutil.rmtree(own)


def _copy(source: Path, target: Path) -> None:
    """Regular files only: a link could lead anywhere."""
    target.mkdir(mode=0o700)
    with os.scandir(source) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                _copy(Path(entry.path), target / entry.name)
            elif entry.is_file(follow_symlinks=False) and entry.stat().st_size <= _LARGEST_FILE:
                shutil.copy2(entry.path, target / entry.name, follow_symlinks=False)


def silenced(text: str) -> str:
    """A SKILL.md that only a user may invoke."""
    head, body = _split(text)
    kept = [line for line in head if not _FLAG_LINE.match(line)]
    return "\n".join(("---", *kept, f"{_FLAG}: true", "---", body))


def _is_silent(directory: Path) -> bool:
    """Whether a reader agrees. Frontmatter in a strange form may hide the line from it."""
    from checkrein.dialects.codes import Log
    from checkrein.dialects.skills import read_skill

    file = os.fspath(directory / SKILL_FILE)
    found = read_skill(file, os.fspath(directory), directory.name, "bundled", Log())
    return found is not None and not found.model_invocable


def _split(text: str) -> tuple[list[str], str]:
    lines = text.split("\n")
    if lines[0].strip("\ufeff\r ") == "---":
        for number, line in enumerate(lines[1:], 1):
            if line.rstrip() == "---":
                return [one.rstrip("\r") for one in lines[1:number]], "\n".join(lines[number + 1 :])
    return [], text


def sweep(root: Path, hours: float = MOST_HOURS, now: float | None = None) -> list[str]:
    """Remove the directories that nobody has used for so long. Returns their names."""
    before = (time.time() if now is None else now) - hours * 3600
    gone = []
    for place in sorted(root.iterdir()) if root.is_dir() else []:
        with contextlib.suppress(OSError), open(place / MARKER, encoding="utf-8") as marker:
            fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(marker.fileno()).st_mtime < before and not place.is_symlink():
                shutil.rmtree(place)
                gone.append(place.name)
    return gone
