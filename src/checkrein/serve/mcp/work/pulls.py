"""Branches and pull requests."""

from __future__ import annotations

import re
from typing import Any, Literal

from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.hands import Hands

_SLUG = re.compile(r"[^a-z0-9]+")
_TRIES = 50
_REJECTED = ("[rejected]", "non-fast-forward", "stale info")
_DENIED = ("denied", "authentication", "could not read", "permission")


def push_to_remote(
    hands: Hands,
    clone_path: str,
    branch: str,
    source_dir: str = "",
    remote_url: str = "",
    force: bool = False,
) -> dict[str, Any]:
    if branch in hands.setting("safety.protected_branches"):
        error = f"{branch} is protected (safety.protected_branches)."
        return {"success": False, "error": error, "error_type": "protected_branch"}
    if not branch or branch.startswith("-") or any(char in branch for char in ":*"):
        raise ToolFailure(f"{branch!r} is not a branch.")
    clone = hands.repository(clone_path)
    remote = remote_url or _remote(hands, clone)
    words = (
        "push",
        *(("--force-with-lease",) if force else ()),
        "--",
        remote,
        f"refs/heads/{branch}:refs/heads/{branch}",
    )
    ran = hands.git(*words, cwd=clone, timeout=300)
    if ran.ok:
        return {"success": True, "stderr": ran.stderr}
    said = ran.stderr.lower()
    kind = "rejected" if any(one in said for one in _REJECTED) else "push_failed"
    kind = "authentication" if any(one in said for one in _DENIED) and kind != "rejected" else kind
    return {"success": False, "error": ran.last_words, "error_type": kind, "stderr": ran.stderr}


def create_unique_branch(
    hands: Hands,
    slug: str,
    issue_number: int = 0,
    remote: str = "origin",
    cwd: str = "",
    base_branch_name: str = "",
) -> dict[str, Any]:
    where = cwd or hands.root
    plain = _SLUG.sub("-", slug.lower()).strip("-")[:60]
    if not plain or remote.startswith("-") or base_branch_name.startswith("-"):
        raise ToolFailure("Give a slug with letters, and a remote and base branch by their names.")
    name = f"{plain}-{issue_number}" if issue_number else plain
    taken = _branches(hands, where, remote)
    candidates = (name if number == 1 else f"{name}-{number}" for number in range(1, _TRIES))
    found = next((one for one in candidates if one not in taken), None)
    if found is None:
        raise ToolFailure(f"{_TRIES} branches are called {name} already.")
    base = base_branch_name or str(hands.setting("branching.default_base_branch"))
    ran = hands.git("checkout", "-b", found, base, cwd=where)
    if not ran.ok:
        raise ToolFailure(f"git: {ran.last_words}")
    return {"success": True, "branch_name": found, "was_unique": found == name, "base_ref": base}


def check_pr_mergeable(hands: Hands, pr_number: int, cwd: str = "", repo: str = "") -> dict[str, Any]:
    seen = hands.gh_json(
        "pr",
        "view",
        str(pr_number),
        "--json",
        "mergeable,mergeStateStatus",
        *repo_words(hands, repo),
        cwd=cwd,
    )
    return {
        "success": True,
        "mergeable": seen["mergeable"] == "MERGEABLE",
        "merge_state_status": seen["mergeStateStatus"],
        "mergeable_status": seen["mergeable"],
    }


def set_commit_status(
    hands: Hands,
    sha: str,
    state: Literal["error", "failure", "pending", "success"],
    context: str,
    description: str = "",
    target_url: str = "",
    repo: str = "",
    cwd: str = "",
) -> dict[str, Any]:
    if re.fullmatch(r"[0-9a-fA-F]{7,64}", sha) is None:
        raise ToolFailure(f"{sha!r} is not a commit.")
    fields = {"state": state, "context": context, "description": description, "target_url": target_url}
    words = [word for key, value in fields.items() if value for word in ("-f", f"{key}={value}")]
    hands.gh_json("api", f"repos/{place(hands, repo)}/statuses/{sha}", *words, cwd=cwd)
    return {"success": True, "sha": sha, "state": state, "context": context}


def get_pr_reviews(hands: Hands, pr_number: int, cwd: str = "", repo: str = "") -> dict[str, Any]:
    seen = hands.gh_json("pr", "view", str(pr_number), "--json", "reviews", *repo_words(hands, repo), cwd=cwd)
    reviews = [
        {"author": (one.get("author") or {}).get("login"), "state": one.get("state"), "body": one.get("body")}
        for one in seen.get("reviews", ())
    ]
    return {"success": True, "reviews": reviews}


def repo_words(hands: Hands, repo: str) -> tuple[str, ...]:
    """gh finds the repository by the directory unless one is named."""
    found = repo or str(hands.setting("github.default_repo") or "")
    return ("--repo", found) if found else ()


def place(hands: Hands, repo: str) -> str:
    """The repository in an address of the API; gh fills the braces in."""
    found = repo or str(hands.setting("github.default_repo") or "") or "{owner}/{repo}"
    if re.fullmatch(r"[\w.-]+/[\w.-]+|\{owner\}/\{repo\}", found) is None:
        raise ToolFailure(f"{found!r} is not a repository; write OWNER/NAME.")
    return found


def _remote(hands: Hands, clone: str) -> str:
    listed = hands.git("remote", cwd=clone).stdout.split()
    found = next((one for one in ("upstream", "origin") if one in listed), None)
    if found is None:
        raise ToolFailure("The clone has no remote; name one with remote_url.")
    return found


def _branches(hands: Hands, where: str, remote: str) -> set[str]:
    local = hands.git("for-each-ref", "--format=%(refname:short)", "refs/heads", cwd=where)
    if not local.ok:
        raise ToolFailure(f"git: {local.last_words}")
    there = hands.git("ls-remote", "--heads", "--", remote, cwd=where)
    if not there.ok and hands.git("remote", "get-url", "--", remote, cwd=where).ok:
        raise ToolFailure(f"{remote} does not say which branches it has: {there.last_words}")
    heads = (line.partition("refs/heads/")[2] for line in there.stdout.splitlines())
    return {*local.stdout.split(), *heads}
