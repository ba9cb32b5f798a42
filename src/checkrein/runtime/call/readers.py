"""Calls that need no rule and no approval in any project, because they only read."""

from __future__ import annotations

import os

from checkrein.policy.decide import decide
from checkrein.policy.policy import compile_policy
from checkrein.policy.values import Call, Context

_BARE = compile_policy()
_QUOTING = str.maketrans("", "", "'\"\\")
_SPELLINGS = ("$'", '$"', "{")
"""Characters that let a shell spell `git` without the word in the text."""


def needs_nothing(call: Call, context: Context) -> bool:
    """Whether a call surely changes nothing."""
    return decide(_BARE, call, context).verdict == "allow"


def only_asks_git(command: str, context: Context) -> bool:
    """Whether a command has git commands and none of them needs approval. They run without the programs that
    the repository's configuration names. One that needs approval runs like the user's own."""
    plain = command.translate(_QUOTING)
    if "git" not in plain and not any(mark in command for mark in _SPELLINGS):
        return False
    trace = decide(_BARE, Call("Bash", {"command": command}), context).trace
    programs = ((piece.text.translate(_QUOTING).split() or [""], piece.verdict) for piece in trace)
    return all(verdict == "allow" for words, verdict in programs if os.path.basename(words[0]) == "git")
