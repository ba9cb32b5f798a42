"""EnterWorktree and ExitWorktree: the session works in a checkout of its own for a while."""

from __future__ import annotations

from typing import Any

from checkrein.base.errors import CheckreinError
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput

_ELSEWHERE = "Only the main conversation can move to another worktree."


def enter(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    name, path = input.get("name"), input.get("path")
    if context.moves is None:
        raise ToolFailure(_ELSEWHERE)
    if name is not None and path is not None:
        raise ToolFailure("Give `name` for a new worktree, or `path` for one that exists, not both.")
    try:
        tree = context.moves().enter(name, path, context.cancel, context.emit)
    except (CheckreinError, OSError) as error:
        raise ToolFailure(_words(error)) from error
    branch = f" on the branch {tree.branch}" if tree.branch else ""
    message = f"You are now in the worktree {tree.path}{branch}. Later commands run there."
    structured = {"worktreePath": tree.path, "worktreeBranch": tree.branch or None, "message": message}
    return ToolOutput(content=message, structured=structured)


def leave(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    if context.moves is None:
        raise ToolFailure(_ELSEWHERE)
    remove, discard = input["action"] == "remove", bool(input.get("discard_changes"))
    try:
        tree, kept = context.moves().leave(
            remove=remove, discard=discard, cancel=context.cancel, emit=context.emit
        )
    except (CheckreinError, OSError) as error:
        raise ToolFailure(_words(error)) from error
    what = f"The worktree {tree.path} stays ({kept.reason})." if kept else f"{tree.path} is removed."
    message = f"{what} You are back in {context.state.cwd}."
    structured = {
        "action": input["action"],
        "originalCwd": context.state.cwd,
        "worktreePath": tree.path,
        "worktreeBranch": tree.branch or None,
        "message": message,
    }
    return ToolOutput(content=message, structured=structured)


def _words(error: CheckreinError | OSError) -> str:
    hint = error.hint if isinstance(error, CheckreinError) else None
    return f"{error} {hint}" if hint else str(error)
