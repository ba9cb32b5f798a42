"""Issues on GitHub: reading, filing, claiming by a lease, closing."""

from __future__ import annotations

import hashlib
import re
import time
from pathlib import Path
from typing import Any, Literal

import msgspec

from checkrein.base.files import locked, write_atomic
from checkrein.base.home import checkrein_home, private_dir
from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.hands import Hands
from checkrein.serve.mcp.work.pulls import place, repo_words

_URL = re.compile(r"https?://[^/]+/([\w.-]+/[\w.-]+)/issues/([0-9]{1,18})/?")
_SHORT = re.compile(r"([\w.-]+/[\w.-]+)#([0-9]{1,18})")
_NUMBER = re.compile(r"#?([0-9]{1,18})")
_FIELDS = "number,title,url,state,labels,body"


class Lease(msgspec.Struct, frozen=True):
    """A claim: whose, and until when."""

    owner: str
    until: float


def fetch_github_issue(hands: Hands, issue_url: str, include_comments: bool = True) -> dict[str, Any]:
    repo, number = _issue(hands, issue_url)
    fields = f"{_FIELDS},comments" if include_comments else _FIELDS
    seen = hands.gh_json("issue", "view", number, "--json", fields, *repo_words(hands, repo))
    parts = [str(seen.get("body") or "")]
    for one in seen.get("comments") or ():
        parts.append(f"{(one.get('author') or {}).get('login')}: {one.get('body')}")
    return {
        "success": True,
        "issue_number": seen["number"],
        "title": seen["title"],
        "url": seen["url"],
        "state": seen["state"],
        "labels": _labels(seen),
        "content": "\n\n".join(parts),
    }


def get_issue_title(hands: Hands, issue_url: str) -> dict[str, Any]:
    repo, number = _issue(hands, issue_url)
    seen = hands.gh_json("issue", "view", number, "--json", "number,title", *repo_words(hands, repo))
    slug = re.sub(r"[^a-z0-9]+", "-", str(seen["title"]).lower()).strip("-")[:60]
    return {"success": True, "number": seen["number"], "title": seen["title"], "slug": slug}


def report_bug(
    hands: Hands,
    error_context: str,
    cwd: str = "",
    severity: Literal["non_blocking", "blocking"] = "non_blocking",
) -> dict[str, Any]:
    """File an issue, once for the same words: a mark in its text finds it again."""
    mark = f"checkrein-report-{hashlib.sha256(error_context.strip().encode()).hexdigest()[:16]}"
    found = hands.gh_json(
        *("issue", "list", "--state", "open", "--search", mark, "--json", "number,url"),
        *repo_words(hands, ""),
        cwd=cwd,
    )
    if found:
        return {"success": True, "status": "duplicate", "issue_url": found[0]["url"]}
    title = (
        f"[{severity}] {error_context.strip().splitlines()[0][:100]}" if error_context.strip() else severity
    )
    url = _filed(hands, title, f"{error_context}\n\n<!-- {mark} -->", [], "", cwd)
    return {"success": True, "status": "filed", "issue_url": url}


def prepare_issue(
    hands: Hands,
    title: str,
    body: str,
    repo: str = "",
    labels: list[str] | None = None,
    dry_run: bool = False,
) -> dict[str, Any]:
    wanted = _allowed(hands, labels or [])
    if dry_run:
        return {"success": True, "dry_run": True, "title": title, "labels": wanted}
    url = _filed(hands, title, body, wanted, repo, "")
    number = url.rstrip("/").rpartition("/")[2]
    return {"success": True, "issue_url": url, "issue_number": int(number) if number.isdecimal() else None}


def claim_issue(hands: Hands, issue_url: str, label: str = "", allow_reentry: bool = False) -> dict[str, Any]:
    """The lease decides, by compare and set; the label only shows it."""
    repo, number = _issue(hands, issue_url)
    mark = _allowed(hands, [label or str(hands.setting("github.in_progress_label"))])[0]
    me, seconds = hands.shift.owner, float(hands.setting("github.claim_seconds"))
    answer = {"issue_number": int(number), "label": mark}
    path = _lease(hands, repo, number)
    with locked(path.with_suffix(".lock")):
        held = _held(path)
        again = held is not None and held.owner == me
        if held is not None and held.until > time.time() and not again:
            return {"success": True, "claimed": False, "reason": "another run has claimed it", **answer}
        if again and not allow_reentry and held is not None and held.until > time.time():
            return {"success": True, "claimed": False, "reason": "this run has claimed it already", **answer}
        write_atomic(path, msgspec.json.encode(Lease(me, time.time() + seconds)), 0o600)
    ran = hands.gh("issue", "edit", number, "--add-label", mark, *repo_words(hands, repo))
    if not ran.ok:
        path.unlink(missing_ok=True)
        raise ToolFailure(f"gh: {ran.last_words}")
    return {"success": True, "claimed": True, "reentry": again, **answer}


def release_issue(
    hands: Hands, issue_url: str, label: str = "", target_branch: str = "", staged_label: str = ""
) -> dict[str, Any]:
    """Work on another branch than the promotion target leaves the staged label behind."""
    repo, number = _issue(hands, issue_url)
    mark = label or str(hands.setting("github.in_progress_label"))
    path = _lease(hands, repo, number)
    with locked(path.with_suffix(".lock")):
        held = _held(path)
        if held is not None and held.owner != hands.shift.owner and held.until > time.time():
            return {"success": False, "error": "Another run has claimed it.", "issue_number": int(number)}
        path.unlink(missing_ok=True)
    staged = bool(target_branch) and target_branch != hands.setting("branching.promotion_target")
    words = ["--remove-label", mark]
    if staged:
        words += [
            "--add-label",
            *_allowed(hands, [staged_label or str(hands.setting("github.staged_label"))]),
        ]
    ran = hands.gh("issue", "edit", number, *words, *repo_words(hands, repo))
    if not ran.ok:
        raise ToolFailure(f"gh: {ran.last_words}")
    return {"success": True, "staged": staged, "issue_number": int(number), "label": mark}


def bulk_close_issues(
    hands: Hands, issue_numbers: list[int], comment: str = "", cwd: str = ""
) -> dict[str, Any]:
    closed: list[int] = []
    failed: list[dict[str, Any]] = []
    said = ("--comment", comment) if comment else ()
    for number in issue_numbers:
        ran = hands.gh("issue", "close", str(number), *said, *repo_words(hands, ""), cwd=cwd)
        if ran.ok:
            closed.append(number)
        else:
            failed.append({"number": number, "error": ran.last_words})
    return {"success": not failed, "closed": closed, "failed": failed}


def _issue(hands: Hands, text: str) -> tuple[str, str]:
    """The repository and the number that an address, `owner/repo#n` or a number names."""
    text = text.strip()
    found = _URL.fullmatch(text) or _SHORT.fullmatch(text)
    if found is not None:
        return found[1], str(int(found[2]))
    if (bare := _NUMBER.fullmatch(text)) is not None:
        return "", str(int(bare[1]))
    raise ToolFailure(f"{text!r} is not an issue; give its address, owner/repo#number or a number.")


def _labels(seen: dict[str, Any]) -> list[str]:
    return [str(one.get("name")) for one in seen.get("labels") or ()]


def _allowed(hands: Hands, labels: list[str]) -> list[str]:
    known = hands.setting("github.allowed_labels")
    wrong = [one for one in labels if known and one not in known]
    if wrong:
        raise ToolFailure(f"The label {wrong[0]!r} is not among github.allowed_labels.")
    return labels


def _filed(hands: Hands, title: str, body: str, labels: list[str], repo: str, cwd: str) -> str:
    words = [word for one in labels for word in ("--label", one)]
    ran = hands.gh(
        *("issue", "create", "--title", title, "--body", body), *words, *repo_words(hands, repo), cwd=cwd
    )
    if not ran.ok:
        raise ToolFailure(f"gh: {ran.last_words}")
    return ran.stdout.strip().splitlines()[-1] if ran.stdout.strip() else ""


def _lease(hands: Hands, repo: str, number: str) -> Path:
    """The same file for an issue, whether a call names its repository or leaves it to gh."""
    where = repo or place(hands, repo)
    if where.startswith("{"):
        seen = hands.gh_json("repo", "view", "--json", "nameWithOwner")
        where = str(seen["nameWithOwner"])
    name = hashlib.sha256(where.lower().encode()).hexdigest()[:16]
    return private_dir(checkrein_home(hands.context.env) / "serve" / "claims") / f"{name}-{number}.json"


def _held(path: Path) -> Lease | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Lease)
    except (OSError, msgspec.MsgspecError):
        return None
