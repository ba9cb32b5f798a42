"""The configuration of the kitchen's tools."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from checkrein.base.config import Key

Seconds = Annotated[float, Meta(gt=0)]
Count = Annotated[int, Meta(gt=0)]

KEYS: tuple[Key, ...] = (
    Key("test_check.command", str | None, None, "The command that runs the project's tests."),
    Key("test_check.timeout", Seconds, 600.0, "Seconds that the tests may take."),
    Key("classify_fix.path_prefixes", list[str], [],
        "Paths whose change makes `classify_fix` ask for a full restart."),
    Key("reset_workspace.command", str | None, None, "The command that `reset_workspace` runs first."),
    Key("reset_workspace.preserve_dirs", list[str], [], "What `reset_workspace` leaves where it is."),
    Key("safety.reset_guard_marker", str, ".checkrein-workspace",
        "The file without which no directory is emptied."),
    Key("safety.test_gate_on_merge", bool, True, "`merge_worktree` runs tests before and after its rebase."),
    Key("safety.protected_branches", list[str], ["main", "integration", "stable"],
        "Branches that no tool pushes to or merges into."),
    Key("read_db.timeout", Seconds, 30.0, "Seconds that a query of `read_db` may take."),
    Key("read_db.max_rows", Count, 10_000, "Rows that `read_db` returns."),
    Key("worktree_setup.command", str | None, None,
        "The command that prepares a clone after `clone_repo` has made it."),
    Key("workspace.runs_root", str, "../checkrein-runs", "Where clones are made, from a repository."),
    Key("github.token", str | None, None, "The token that `gh` gets.", ("secrets",), secret=True),
    Key("github.default_repo", str | None, None, "The repository of issues that are named by a number."),
    Key("github.in_progress_label", str, "in-progress", "The label of a claimed issue."),
    Key("github.staged_label", str, "staged", "The label of an issue whose work waits on a branch."),
    Key("github.allowed_labels", list[str], [], "The labels that tools may set; empty allows every one."),
    Key("github.claim_seconds", Seconds, 14_400.0, "Seconds after which a claim ends by itself."),
    Key("branching.default_base_branch", str, "main", "The branch that new branches start from."),
    Key("branching.promotion_target", str, "main",
        "The branch whose merge finishes an issue; work on another one is staged."),
    Key("ci.workflow", str | None, None, "The workflow that counts, unless a call names one."),
    Key("ci.event", str | None, None, "The event whose runs count, unless a call names one."),
    Key("ci.poll_seconds", Seconds, 5.0, "The first pause between looks at a run; later ones are longer."),
    Key("mcp_response.alert_threshold_tokens", Count, 2_000,
        "Tokens from which an answer counts as large in `get_token_summary`."),
)  # fmt: skip

COMMANDS = tuple(key for key in KEYS if key.name.endswith(".command"))
"""Keys whose values run: those of a project need trust in it."""
