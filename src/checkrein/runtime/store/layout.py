"""Where sessions are: `<root>/<project>/<session id>.jsonl`, and a directory of the same name beside it.

The root is `projects` in `$CLAUDE_CONFIG_DIR` when that is set, in `~/.claude` when the claude-agent-sdk runs
the session, else in the Checkrein home. Below the root Checkrein follows no symbolic link, and every name
from outside passes `checked_id`.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from checkrein.base.errors import NotFoundError, SessionError, UsageError
from checkrein.base.home import checkrein_home
from checkrein.base.ids import is_safe_id
from checkrein.facts.claude import SDK_ENV

_MAX_NAME = 200
_UNSAFE = re.compile(r"[^a-zA-Z0-9]")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def default_root(env: Mapping[str, str] | None = None) -> Path:
    return Path(os.path.realpath(named_root(env)))


def named_root(env: Mapping[str, str] | None = None) -> Path:
    """The root as the environment names it; a part of it may be a link."""
    env = os.environ if env is None else env
    claude = env.get("CLAUDE_CONFIG_DIR") or ("~/.claude" if env.get(SDK_ENV) else None)
    home = Path(unicodedata.normalize("NFC", claude)).expanduser() if claude else checkrein_home(env)
    return home / "projects"


def canonical(directory: str | Path) -> str:
    """The real path in Unicode NFC: two spellings of one directory are one project."""
    return unicodedata.normalize("NFC", os.path.realpath(directory))


def project_name(directory: str | Path, env: Mapping[str, str] | None = None) -> str:
    """The directory name of a project. Past 200 characters it is cut and gets a hash of the whole path."""
    env = os.environ if env is None else env
    given = env.get("CLAUDE_CODE_PROJECT_DIR_NAME")
    if given and env.get("CLAUDE_CONFIG_DIR") and is_safe_id(given):
        return given
    return safe_name(canonical(directory))


def safe_name(path: str) -> str:
    name = _UNSAFE.sub("-", path)
    return name if len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}-{_hash36(path)}"


def _hash36(text: str) -> str:
    value = 0
    for character in text:
        value = (value * 31 + ord(character)) & 0xFFFFFFFF
    value = abs(value - (1 << 32) if value >= 1 << 31 else value)
    digits = ""
    while value:
        value, digit = divmod(value, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def project_dir(root: Path, directory: str | Path) -> Path:
    """The project's directory. The prefix finds a long name with another program's hash."""
    exact = root / project_name(directory)
    prefix = exact.name[: _MAX_NAME + 1]
    if len(exact.name) <= _MAX_NAME or exact.is_dir():
        return exact
    return next((path for path in project_dirs(root) if path.name.startswith(prefix)), exact)


def project_dirs(root: Path) -> list[Path]:
    """All project directories in name order, without links."""
    try:
        with os.scandir(root) as found:
            return sorted(root / item.name for item in found if item.is_dir(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise _unreadable(root, error) from error


def is_session_id(text: str) -> bool:
    """A safe id that is not the name of another session's file."""
    return is_safe_id(text) and not text.endswith((".jsonl", ".lock"))


def checked_id(session_id: str) -> str:
    if not is_session_id(session_id):
        raise UsageError(
            f"{session_id[:140]!r} is not a session id.",
            kind="invalid_session_id",
            hint="Use 1 to 128 of A-Z a-z 0-9 . _ - without a leading dot or the ending .jsonl or .lock.",
        )
    return session_id


def session_path(directory: Path, session_id: str) -> Path:
    return directory / f"{checked_id(session_id)}.jsonl"


def companion_dir(path: Path) -> Path:
    """The directory beside a transcript. It holds `subagents/` and `tool-results/`."""
    return path.with_name(path.name.removesuffix(".jsonl"))


def open_for_reading(path: Path) -> BinaryIO:
    """Open a transcript without following a link at its end; refuse all but regular files."""
    try:
        if path.parent.is_symlink():
            raise _linked(path.parent)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise not_found(path.name.removesuffix(".jsonl"), path.parent) from error
    except OSError as error:
        raise _linked(path) if path.is_symlink() else _unreadable(path, error) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise SessionError(f"{path} is not a regular file.", hint="Move it away; sessions are regular files.")
    return os.fdopen(descriptor, "rb", buffering=1 << 18)


def refuse_links(root: Path, path: Path) -> None:
    """Raise when a directory between `root` and `path` is a symbolic link: it could lead out of the root."""
    while path != root and root in path.parents:
        if path.is_symlink():
            raise _linked(path)
        path = path.parent


def not_found(reference: str, directory: Path) -> NotFoundError:
    return NotFoundError(
        f"No conversation found with session ID: {reference} (looked in {directory}).",
        kind="session_not_found",
        hint="List the sessions and use an id from the list.",
    )


def _unreadable(path: Path, error: OSError) -> SessionError:
    return SessionError(
        f"{path} can't be read ({error.strerror or error}).",
        kind="session_load_failed",
        hint="Check the file's owner and permissions.",
        retryable=True,
    )


def unwritable(path: Path, error: OSError) -> SessionError:
    return SessionError(
        f"{path} can't be written ({error.strerror or error}).",
        kind="session_write_failed",
        hint="Check free space and permissions, or set CHECKREIN_HOME to a directory you own.",
        retryable=True,
    )


def exists(path: Path) -> SessionError:
    return SessionError(
        f"Session {path.stem} already exists ({path}).",
        kind="session_exists",
        hint="Resume it, or choose another id.",
    )


def _linked(path: Path) -> SessionError:
    return SessionError(
        f"{path} is a symbolic link; Checkrein does not read or write sessions through links.",
        kind="session_linked",
        hint="Replace the link with the file or directory it points to.",
    )
