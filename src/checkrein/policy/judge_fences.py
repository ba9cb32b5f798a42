"""Judge where commands run: behind a fence nothing runs, and git is not sent there."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.shell_git import BARE_READ_ONLY, OTHER_PLACES, OWN_WORK, REDIRECTIONS
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.fences import Fence
from checkrein.policy.paths import spellings
from checkrein.policy.shell.git import only_reads, read_git
from checkrein.policy.shell.program import Command
from checkrein.policy.values import Piece
from checkrein.policy.view import View, piece

_SETTERS = frozenset(("env", "export", "declare", "typeset", "readonly", "local", "sudo", "doas", "read"))
"""Commands whose words may set variables for others."""


def judge_place(view: View, command: Command) -> Piece | None:
    """The first objection of a fence to a command, by its directory and by where it sends git."""
    for fence in view.fences:
        for place in _places(command, view.context.home):
            if _is_behind(view, fence, place):
                reason = f"{fence.name} keeps out of {fence.root}"
                return piece(command.raw or command.name, "deny", reason, fence.rule, effect="exec")
            if not is_static(place) and (place.startswith(ANY) or fence.shuts(place)):
                reason = f"it may run in {fence.root}, which {fence.name} keeps out of"
                later = f"what is in {fence.root} can't be written"
                text = command.raw or command.name
                return piece(text, "ask", reason, fence.rule, effect="exec", layer="files", later=later)
        word = _redirection(command)
        if word is not None:
            reason = f"{word} sends git elsewhere, and {fence.name} keeps out of {fence.root}"
            return piece(command.raw or command.name, "deny", reason, fence.rule, effect="exec")
        if _is_git(command) and not _stays(command, view.context.home):
            reason = f"it may change what all checkouts share, and {fence.name} keeps out of {fence.root}"
            later = f"what is in {fence.root} can't be written"
            text = command.raw or command.name
            return piece(text, "ask", reason, fence.rule, effect="exec", layer="files", later=later)
    return None


def _stays(command: Command, home: str) -> bool:
    """Whether a git command changes only its own checkout, branch and stash, or nothing."""
    call = read_git(command.words[1:], command.cwds, home)
    if not call.sub:
        return all(is_static(word) for word in command.words)
    if only_reads(command.words[1:], command.cwds, home):
        return True
    if call.sub in BARE_READ_ONLY and not call.words:
        return True
    operands = [word for word in call.words if not word.startswith("-")]
    match call.sub:
        case "checkout":
            return "--" in call.words or operands == ["."]
        case "rebase":
            return len(operands) <= 1 and "--update-refs" not in call.words
        case "stash":
            return operands[:1] != ["branch"]
    return call.sub in OWN_WORK


def _places(command: Command, home: str) -> Iterator[str]:
    if not command.words:
        return
    yield from command.cwds
    if _is_git(command):
        yield from read_git(command.words[1:], command.cwds, home).cwds


def _is_behind(view: View, fence: Fence, place: str) -> bool:
    return is_static(place) and any(fence.shuts(name) for name in spellings(place, view.context))


def _redirection(command: Command) -> str | None:
    """The variable or option that gives git another repository, checkout or index."""
    named = [name for name, _ in command.assigns]
    if command.name.rsplit("/", 1)[-1] in _SETTERS:
        named += [word.partition("=")[0] for word in command.words[1:]]
    if _is_git(command):
        call = read_git(command.words[1:], command.cwds, "")
        if call.places:
            return next(word for word in command.words[1:] if word.partition("=")[0] in OTHER_PLACES)
        if any(setting.lower().startswith("core.worktree") for setting in call.settings):
            return "core.worktree"
    return next((name for name in named if name in REDIRECTIONS), None)


def _is_git(command: Command) -> bool:
    return command.name.rsplit("/", 1)[-1] == "git"
