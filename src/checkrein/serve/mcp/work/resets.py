"""Emptying directories that carry the guard's marker."""

from __future__ import annotations

import os
from typing import Any

from checkrein.base.files import beneath
from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.hands import Hands

_AT_ONCE = 200


def reset_test_dir(hands: Hands, test_dir: str, force: bool = False) -> dict[str, Any]:
    """`force` only spares the marker's check where the directory is empty: a marker can't be talked away."""
    return _emptied(hands, _marked(hands, test_dir, force=force), frozenset(), forced=force)


def reset_workspace(hands: Hands, test_dir: str) -> dict[str, Any]:
    where = _marked(hands, test_dir, force=False)
    command = hands.command_setting("reset_workspace.command")
    if command is not None:
        ran = hands.shell(command, where, 600.0)
        if not ran.ok:
            return {"success": False, "error": f"the reset command failed: {ran.last_words}"}
    kept = frozenset(str(one) for one in hands.setting("reset_workspace.preserve_dirs"))
    return _emptied(hands, where, kept, forced=False)


def _marked(hands: Hands, path: str, *, force: bool) -> str:
    where = hands.directory(path)
    marker = str(hands.setting("safety.reset_guard_marker"))
    if any(beneath(os.path.realpath(one), where) for one in (hands.root, hands.home)):
        raise ToolFailure(f"{path} is not a test directory.")
    if marker in ("", ".", "..") or os.path.basename(marker) != marker:
        raise ToolFailure(f"safety.reset_guard_marker is {marker!r}, which is not the name of a file.")
    if not os.path.lexists(os.path.join(where, marker)) and not (force and not os.listdir(where)):
        raise ToolFailure(f"{path} has no file {marker}, so it is not emptied. Make the file to allow it.")
    return where


def _emptied(hands: Hands, where: str, kept: frozenset[str], *, forced: bool) -> dict[str, Any]:
    spared = kept | {str(hands.setting("safety.reset_guard_marker"))}
    names = sorted(name for name in os.listdir(where) if name not in spared)
    for start in range(0, len(names), _AT_ONCE):
        hands.program("rm", "-rf", "--", *names[start : start + _AT_ONCE], cwd=where)
    left = [name for name in names if os.path.lexists(os.path.join(where, name))]
    return {
        "success": not left,
        "deleted": [name for name in names if name not in left],
        "failed": left,
        "skipped": sorted(spared & set(os.listdir(where))),
        "forced": forced,
    }
