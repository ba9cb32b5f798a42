"""Clones that runs work in, and the registry of how these runs ended."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any, Literal

import msgspec

from checkrein.base.files import locked, write_atomic
from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.hands import Hands

_REMOTES = ("upstream", "origin")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Entry(msgspec.Struct, frozen=True):
    path: str
    status: str
    owner: str


def clone_repo(
    hands: Hands,
    source_dir: str,
    run_name: str,
    branch: str = "",
    strategy: Literal["", "proceed", "clone_local"] = "",
    remote_url: str = "",
    step_name: str = "",
) -> dict[str, Any]:
    """From the remote, so that nothing of the working tree comes along; `clone_local` takes the repository
    itself."""
    source = hands.repository(source_dir)
    if _NAME.fullmatch(run_name) is None:
        raise ToolFailure(f"{run_name!r} can't name a directory.")
    branch = branch or hands.git("symbolic-ref", "--quiet", "--short", "HEAD", cwd=source).stdout.strip()
    if not branch or branch.startswith("-"):
        raise ToolFailure("Name the branch to clone; the repository is on none.")
    url = remote_url or _remote(hands, source)
    if not strategy:
        changed = hands.git("status", "--porcelain", cwd=source).stdout.splitlines()
        if changed:
            return {
                "success": False,
                "error": "The repository has changes that a clone would not have.",
                "uncommitted_changes": changed[:50],
            }
        if url and not hands.git("ls-remote", "--exit-code", "--heads", "--", url, branch, cwd=source).ok:
            return {
                "success": False,
                "error": f"{branch} is not on the remote.",
                "unpublished_branch": branch,
            }
    local = strategy == "clone_local" or not url
    path = _free(os.path.join(_runs_root(hands, source), f"{run_name}-{time.strftime('%Y%m%d-%H%M%S')}"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    ran = hands.git(
        "clone", "--branch", branch, "--", source if local else url, path, cwd=source, timeout=600
    )
    if not ran.ok:
        raise ToolFailure(f"git: {ran.last_words}")
    hands.git("remote", "set-url", "origin", f"file://{path}", cwd=path)
    if url:
        hands.git("remote", "add", "upstream", url, cwd=path)
    command = hands.command_setting("worktree_setup.command")
    if command is not None:
        ran = hands.shell(command, path, 600.0)
        if not ran.ok:
            raise ToolFailure(f"worktree_setup.command: {ran.last_words}", {"clone_path": path})
    return {
        "success": True,
        "clone_path": path,
        "source_dir": source,
        "remote_url": url,
        "clone_source_type": "local" if local else "remote",
        "clone_source_reason": "there is no remote" if not url else strategy or "the remote has the branch",
    }


def remove_clone(hands: Hands, clone_path: str, keep: str = "false") -> dict[str, Any]:
    """One clone stays until its run is registered: `batch_cleanup_clones` removes those that succeeded."""
    if keep != "true":
        return {
            "success": False,
            "removed": False,
            "error": "Register how the run ended; batch_cleanup_clones removes the clones that succeeded.",
        }
    return {"success": True, "removed": False, "reason": "kept", "clone_path": clone_path}


def register_clone_status(
    hands: Hands, clone_path: str, status: Literal["success", "error"], registry_path: str = ""
) -> dict[str, Any]:
    path = hands.directory(clone_path)
    registry = _registry(hands, registry_path)
    with locked(registry.with_suffix(".lock")):
        entries = [one for one in _read(registry) if one.path != path]
        _write(registry, [*entries, Entry(path, status, hands.shift.owner)])
    return {"success": True, "registered": path, "registry_path": str(registry)}


def batch_cleanup_clones(hands: Hands, registry_path: str = "", all_owners: str = "false") -> dict[str, Any]:
    """Only clones of this kitchen whose run succeeded, unless `all_owners` is "true"."""
    registry = _registry(hands, registry_path)
    root = _runs_root(hands, hands.root)
    deleted: list[str] = []
    failed: list[dict[str, str]] = []
    with locked(registry.with_suffix(".lock")):
        entries = _read(registry)
        for one in entries:
            mine = all_owners == "true" or one.owner == hands.shift.owner
            if one.status != "success" or not mine:
                continue
            problem = _unremovable(one.path, root) or _removed(hands, one.path)
            if problem is None:
                deleted.append(one.path)
            else:
                failed.append({"path": one.path, "error": problem})
        left = [one for one in entries if one.path not in deleted]
        _write(registry, left)
    return {
        "success": not failed,
        "deleted": deleted,
        "delete_failures": failed,
        "preserved": [one.path for one in left],
    }


def _unremovable(path: str, root: str) -> str | None:
    """A registry may say anything: only a clone below the root of runs is removed."""
    real = os.path.realpath(path)
    if os.path.dirname(real) != root or not os.path.isdir(os.path.join(real, ".git")):
        return f"it is not a clone in {root}"
    return None


def _removed(hands: Hands, path: str) -> str | None:
    ran = hands.program("rm", "-rf", "--", path, cwd=os.path.dirname(path))
    return None if ran.ok and not os.path.exists(path) else ran.last_words


def _remote(hands: Hands, source: str) -> str:
    """The address of the first remote that is not a `file://` one."""
    for name in _REMOTES:
        ran = hands.git("remote", "get-url", name, cwd=source)
        url = ran.stdout.strip()
        if ran.ok and url and not url.startswith("file://"):
            return url
    return ""


def _runs_root(hands: Hands, source: str) -> str:
    return os.path.realpath(os.path.join(source, str(hands.setting("workspace.runs_root"))))


def _free(path: str) -> str:
    found, number = path, 1
    while os.path.lexists(found):
        number += 1
        found = f"{path}-{number}"
    return found


def _registry(hands: Hands, given: str) -> Path:
    path = Path(hands.path(given)) if given else None
    found = path or Path(_runs_root(hands, hands.root)) / "clones.json"
    hands.may_write(str(found))
    found.parent.mkdir(parents=True, exist_ok=True)
    return found


def _read(registry: Path) -> list[Entry]:
    try:
        return msgspec.json.decode(registry.read_bytes(), type=list[Entry])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.MsgspecError) as error:
        raise ToolFailure(f"{registry} can't be read: {error}") from None


def _write(registry: Path, entries: list[Entry]) -> None:
    write_atomic(registry, msgspec.json.encode(entries))
