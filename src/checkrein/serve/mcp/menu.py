"""What the server offers: its own tools with their work, and the built-in tools that need no conversation."""

from __future__ import annotations

from msgspec import Struct

from checkrein.serve.mcp.hands import Work
from checkrein.serve.mcp.work import (
    ci,
    clones,
    commands,
    database,
    enrichment,
    issues,
    merges,
    pulls,
    recipes,
    reports,
    resets,
    runs,
    skills,
)

BUILTIN = (
    *("Bash", "Read", "Write", "Edit", "NotebookEdit", "Glob", "Grep", "WebFetch"),
    *("TodoWrite", "TaskOutput", "TaskStop"),
)
"""The tools of a session that make sense for a client with a model of its own."""


class Dish(Struct, frozen=True, kw_only=True):
    """The work of a tool, and what is true about it: it only `reads`; what it changes it may destroy; it
    reaches systems `outside` this machine. One that `asks` needs a rule or a person that allows it."""

    work: Work
    reads: bool = False
    destroys: bool = False
    outside: bool = False
    asks: bool = False


MENU: dict[str, Dish] = {
    "disable_quota_guard": Dish(work=skills.disable_quota_guard, asks=True),
    "test_check": Dish(work=commands.check_tests, destroys=True),
    "run_cmd": Dish(work=commands.run_cmd, destroys=True, outside=True),
    "run_python": Dish(work=commands.run_python, destroys=True, outside=True),
    "run_skill": Dish(work=skills.run_skill, destroys=True, outside=True),
    "merge_worktree": Dish(work=merges.merge_worktree, destroys=True, outside=True),
    "classify_fix": Dish(work=merges.classify_fix, reads=True),
    "reset_test_dir": Dish(work=resets.reset_test_dir, destroys=True),
    "reset_workspace": Dish(work=resets.reset_workspace, destroys=True),
    "read_db": Dish(work=database.read_db, reads=True),
    "list_recipes": Dish(work=recipes.list_recipes, reads=True),
    "load_recipe": Dish(work=recipes.load_recipe, reads=True),
    "validate_recipe": Dish(work=recipes.validate_recipe, reads=True),
    "migrate_recipe": Dish(work=recipes.migrate_recipe),
    "start_recipe": Dish(work=runs.start_recipe, destroys=True, outside=True, asks=True),
    "get_recipe_runs": Dish(work=runs.get_recipe_runs, reads=True),
    "approve_step": Dish(work=runs.approve_step, destroys=True, outside=True, asks=True),
    "reject_step": Dish(work=runs.reject_step, asks=True),
    "kitchen_status": Dish(work=reports.kitchen_status, reads=True),
    "get_pipeline_report": Dish(work=reports.get_pipeline_report),
    "get_token_summary": Dish(work=reports.get_token_summary),
    "get_timing_summary": Dish(work=reports.get_timing_summary),
    "get_quota_events": Dish(work=skills.get_quota_events, reads=True),
    "write_telemetry_files": Dish(work=reports.write_telemetry_files),
    "clone_repo": Dish(work=clones.clone_repo, outside=True),
    "remove_clone": Dish(work=clones.remove_clone, destroys=True),
    "register_clone_status": Dish(work=clones.register_clone_status),
    "batch_cleanup_clones": Dish(work=clones.batch_cleanup_clones, destroys=True),
    "push_to_remote": Dish(work=pulls.push_to_remote, destroys=True, outside=True),
    "create_unique_branch": Dish(work=pulls.create_unique_branch, outside=True),
    "check_pr_mergeable": Dish(work=pulls.check_pr_mergeable, reads=True, outside=True),
    "set_commit_status": Dish(work=pulls.set_commit_status, outside=True),
    "get_pr_reviews": Dish(work=pulls.get_pr_reviews, reads=True, outside=True),
    "fetch_github_issue": Dish(work=issues.fetch_github_issue, reads=True, outside=True),
    "get_issue_title": Dish(work=issues.get_issue_title, reads=True, outside=True),
    "report_bug": Dish(work=issues.report_bug, outside=True),
    "prepare_issue": Dish(work=issues.prepare_issue, outside=True),
    "enrich_issues": Dish(work=enrichment.enrich_issues, outside=True),
    "claim_issue": Dish(work=issues.claim_issue, outside=True),
    "release_issue": Dish(work=issues.release_issue, outside=True),
    "bulk_close_issues": Dish(work=issues.bulk_close_issues, destroys=True, outside=True),
    "wait_for_ci": Dish(work=ci.wait_for_ci, reads=True, outside=True),
    "get_ci_status": Dish(work=ci.get_ci_status, reads=True, outside=True),
    "wait_for_merge_queue": Dish(work=ci.wait_for_merge_queue, outside=True),
    "toggle_auto_merge": Dish(work=ci.toggle_auto_merge, outside=True),
    "check_repo_merge_state": Dish(work=ci.check_repo_merge_state, reads=True, outside=True),
}
"""By name, in the order of the table."""
