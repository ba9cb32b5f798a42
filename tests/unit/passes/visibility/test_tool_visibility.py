"""Tools of the kitchen: tags and categories against the source's table, and who sees what."""

from __future__ import annotations

from itertools import chain, combinations

import pytest

from checkrein.facts.kitchen import categories, kitchen_tools
from checkrein.model.project import MODES, SessionMode
from checkrein.passes.visibility.tool_visibility import Kitchen, refusal, visible_tools

FREE = {"open_kitchen", "close_kitchen", "disable_quota_guard"}
HEADLESS = {"test_check"}
SUBSETS = {
    "github": {
        "push_to_remote", "create_unique_branch", "check_pr_mergeable", "set_commit_status",
        "fetch_github_issue", "get_issue_title", "report_bug", "prepare_issue", "enrich_issues",
        "claim_issue", "release_issue", "get_pr_reviews", "bulk_close_issues",
    },
    "ci": {
        "wait_for_ci", "get_ci_status", "wait_for_merge_queue", "toggle_auto_merge", "check_repo_merge_state",
    },
    "clone": {"clone_repo", "remove_clone", "register_clone_status", "batch_cleanup_clones"},
    "telemetry": {"get_token_summary", "get_timing_summary", "get_quota_events", "write_telemetry_files"},
}  # fmt: skip
ORIGINAL = 39
LATER = {
    "disable_quota_guard", "register_clone_status", "batch_cleanup_clones", "toggle_auto_merge",
    "check_repo_merge_state",
}  # fmt: skip


def subsets() -> list[frozenset[str]]:
    names = sorted(SUBSETS)
    return [frozenset(one) for one in chain(*(combinations(names, n) for n in range(len(names) + 1)))]


@pytest.mark.parametrize("disabled", subsets(), ids=lambda one: "+".join(sorted(one)) or "none")
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_vis_1_the_visible_tools_of_every_state(
    mode: SessionMode, is_open: bool, disabled: frozenset[str]
) -> None:
    gone = set().union(*(SUBSETS[one] for one in disabled))
    if mode == "headless":
        expected = HEADLESS - gone
    elif is_open:
        expected = set(kitchen_tools()) - gone
    else:
        expected = FREE
    assert set(visible_tools(Kitchen(mode=mode, is_open=is_open, disabled=disabled))) == expected


def test_tool_1_every_tool_of_the_source_is_there() -> None:
    source = {name for name, tool in kitchen_tools().items() if not tool.own}
    assert len(source) == 44
    assert len(source - LATER) == ORIGINAL


def test_tool_2_only_these_are_free() -> None:
    assert {name for name, tool in kitchen_tools().items() if tool.is_free} == FREE


def test_tool_3_test_check_has_both_tags_and_needs_no_open_kitchen() -> None:
    assert set(kitchen_tools()["test_check"].tags) == {"kitchen", "headless"}
    assert refusal(kitchen_tools()["test_check"], Kitchen(mode="headless")) is None


def test_tool_4_a_worker_sees_exactly_the_headless_tools() -> None:
    assert set(visible_tools(Kitchen(mode="headless"))) == HEADLESS


def test_tool_5_nothing_opens_the_kitchen_of_a_worker() -> None:
    assert set(visible_tools(Kitchen(mode="headless").opened())) == HEADLESS
    assert refusal(kitchen_tools()["open_kitchen"], Kitchen(mode="headless")) is not None


def test_tool_6_and_req_vis_008_a_disabled_subset_stays_hidden_after_opening() -> None:
    kitchen = Kitchen(disabled=frozenset({"github"})).opened()
    refused = refusal(kitchen_tools()["claim_issue"], kitchen)
    assert refused is not None
    assert refused.rule == "subset"
    assert set(visible_tools(kitchen.closed())) == FREE


def test_tool_7_tags_cover_all_tools_without_overlap() -> None:
    tools = kitchen_tools().values()
    free = {tool.name for tool in tools if tool.is_free}
    headless = {tool.name for tool in tools if "headless" in tool.tags}
    gated = {tool.name for tool in tools if not tool.own} - free - headless
    assert all("kitchen" in kitchen_tools()[name].tags for name in gated)
    assert (len(free), len(headless), len(gated)) == (3, 1, 40)


def test_cat_1_the_registry_knows_every_category_of_a_tool() -> None:
    found = {name: {t.name for t in kitchen_tools().values() if name in t.categories} for name in SUBSETS}
    assert found == SUBSETS
    assert {one for tool in kitchen_tools().values() for one in tool.categories} <= categories().keys()
    assert {name for name, one in categories().items() if not one.on} == {"research", "exp-lens", "vis-lens"}


def test_every_refusal_names_its_rule_and_reason() -> None:
    closed = refusal(kitchen_tools()["run_cmd"], Kitchen())
    assert closed is not None
    assert (closed.rule, "open_kitchen" in closed.reason) == ("closed", True)


def test_needs_are_only_for_github() -> None:
    gh = {tool.name for tool in kitchen_tools().values() if tool.needs == "gh"}
    assert gh == (SUBSETS["github"] | SUBSETS["ci"]) - {"push_to_remote", "create_unique_branch"}
