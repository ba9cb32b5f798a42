"""What the text of a `run_cmd` step does, as far as words tell. Meant for advice, never for permission."""

from __future__ import annotations

import re

_PIECES = re.compile(r"\|\||&&|[;|&\n()]")
_ASSIGNED = re.compile(r"(?:[A-Za-z_]\w*=\S*\s+)*")
_GIT = r"\bgit\s+(?:-C\s+\S+\s+|-c\s+\S+\s+|--\S+\s+)*"
_GH_API = re.compile(r"\bgh\s+api\b")
_COMMIT = re.compile(_GIT + r"commit\b")
_REBASE = re.compile(_GIT + r"(?:rebase\b(?!\s+--(?:abort|quit))|pull\b[^;&|\n]{0,200}--rebase)")
_MUTATING = re.compile(
    _GIT
    + r"(?:add|am|apply|checkout|cherry-pick|clean|commit|merge(?!-base)|mv|pull|push|rebase|reset|restore"
    r"|revert|rm|stash(?!\s+(?:list|show))|switch|update-ref|worktree\s+(?:add|move|remove|prune)"
    r"|branch\s+(?:-[dDmMfcC]|--delete|--move|--force)|tag\s+-d)\b"
)


def programs(text: str) -> tuple[str, ...]:
    """The first word of every simple command."""
    pieces = (piece.strip() for piece in _PIECES.split(text))
    words = (_ASSIGNED.sub("", piece, count=1).split() for piece in pieces)
    return tuple(found[0] for found in words if found)


def commits(text: str) -> bool:
    return _COMMIT.search(text) is not None


def rebases(text: str) -> bool:
    return _REBASE.search(text) is not None


def mutates_git(text: str) -> str | None:
    """The git command that changes a repository."""
    match = _MUTATING.search(text)
    return " ".join(match[0].split()) if match else None


def calls_gh_api(text: str) -> bool:
    return _GH_API.search(text) is not None
