"""Recipes for the examples of checks: small, valid, and without other findings."""

from __future__ import annotations

RECIPE = ".checkrein/recipes/build.yaml"
SUB_RECIPE = ".checkrein/recipes/sub-recipes/prepare.yaml"

RULES = """\
kitchen_rules:
  - Call only the tools of the steps.
  - NEVER use Read, Grep, Glob, Edit, Write, Bash, Agent, WebFetch, WebSearch or NotebookEdit.
"""
TEST = """\
  test:
    tool: test_check
    with: {worktree_path: .}
    on_success: over
    on_failure: failed
"""
OVER = "  over: {action: stop, message: The tests pass.}\n"
FAILED = "  failed: {action: stop, message: The tests fail.}\n"
ENDS = OVER + FAILED


def recipe(
    *parts: str, name: str | None = "build", head: str = "", rules: str = RULES, ends: str = ENDS
) -> str:
    """A recipe with these steps, then its two ends. `head` holds further fields."""
    first = "" if name is None else f"name: {name}\n"
    said = "description: Build and test.\nsummary: test > over\n"
    return f"{first}{said}{head}{rules}steps:\n{''.join(parts) or TEST}{ends}"


def ingredients(*entries: str) -> str:
    return "ingredients:\n" + "".join(f"  {entry}\n" for entry in entries)
