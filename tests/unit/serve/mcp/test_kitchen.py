"""Checkrein's own tools for a client: hidden, opened, closed, judged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from checkrein.facts.kitchen import kitchen_tools
from checkrein.serve.mcp.kitchen import CLOSE, OPEN
from checkrein.serve.mcp.menu import BUILTIN, MENU
from support.files import lay
from support.mcp_guests import Guest, text

Visit = Callable[..., Any]
FREE = [OPEN, CLOSE, "disable_quota_guard"]
DISABLED = {"checkrein.toml": '[subsets]\ndisabled = ["github"]\n'}
DENIED = {".claude/settings.json": {"permissions": {"deny": ["Bash(rm *)", "run_python"]}}}


def test_tools_are_hidden_shown_and_hidden_again(visit: Visit) -> None:
    """TOOL-2, TOOL-6, REQ point 5."""

    async def talk(guest: Guest) -> None:
        assert await guest.names() == FREE
        assert (await guest.data(OPEN))["success"]
        shown = await guest.names()
        assert set(shown) == {*FREE, *MENU, *BUILTIN}
        assert (await guest.data(CLOSE))["success"]
        assert await guest.names() == FREE
        changes = [one for one in guest.heard if isinstance(one, types.ToolListChangedNotification)]
        assert len(changes) == 2

    visit(talk)


def test_a_hidden_tool_that_is_called_by_name_is_refused(visit: Visit, project: Path) -> None:
    async def talk(guest: Guest) -> None:
        for name, input in (
            ("run_cmd", {"cmd": "touch made", "cwd": "."}),
            ("Bash", {"command": "touch made"}),
        ):
            refused = await guest.call(name, **input)
            assert refused.is_error
            assert "open_kitchen" in text(refused)
        await guest.call(OPEN)
        await guest.call(CLOSE)
        assert (await guest.call("Bash", command="touch made")).is_error

    visit(talk, says="allow", options={"mode": "bypassPermissions", "allow_bypass": True})
    assert not (project / "made").exists()


@pytest.mark.project(DISABLED)
def test_a_disabled_subset_stays_hidden_after_opening(visit: Visit) -> None:
    """REQ-VIS-008, VIS-1: a tool with both tags."""

    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        shown = await guest.names()
        both = {name for name, row in kitchen_tools().items() if "github" in row.categories}
        assert both & {*MENU}
        assert both.isdisjoint(shown)
        assert "clone_repo" in shown
        refused = await guest.call("push_to_remote", clone_path=".", branch="x")
        assert refused.is_error
        assert "subsets.disabled" in text(refused)

    visit(talk)


def test_a_worker_sees_the_tools_for_workers_only(visit: Visit) -> None:
    """TOOL-3, TOOL-4, TOOL-5, point 6."""

    async def talk(guest: Guest) -> None:
        assert await guest.names() == ["test_check"]
        for name in (OPEN, "run_cmd", "run_python"):
            refused = await guest.call(name)
            assert refused.is_error
            assert "worker" in text(refused)
        assert await guest.names() == ["test_check"]

    visit(talk, worker=True)


def test_what_one_client_opens_is_closed_for_another(visit: Visit) -> None:
    import asyncio

    opened = asyncio.Event()

    async def first(guest: Guest) -> int:
        await guest.call(OPEN)
        opened.set()
        return len(await guest.names())

    async def second(guest: Guest) -> list[str]:
        await guest.names()
        await opened.wait()
        assert guest.heard == []
        return await guest.names()

    many, few = visit(first, second)
    assert few == FREE
    assert many > len(few)


@pytest.mark.project(DENIED)
def test_rules_judge_what_a_tool_does_and_the_tool_itself(visit: Visit, project: Path) -> None:
    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        assert "run_python" not in await guest.names(), "a rule takes it away"
        assert (await guest.call("run_python", callable="os.getcwd")).is_error
        refused = await guest.call("run_cmd", cmd="true; rm -f checkrein.toml", cwd=".")
        assert refused.is_error
        assert "Bash(rm *)" in text(refused)
        assert guest.asked == [], "a deny asks nobody"

    visit(talk, says="allow")


@pytest.mark.parametrize(("says", "ran"), [("allow", True), ("deny", False), (None, False)])
def test_a_question_goes_to_the_clients_user(
    visit: Visit, project: Path, says: str | None, ran: bool
) -> None:
    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        done = await guest.call("run_cmd", cmd="touch made", cwd=".")
        assert done.is_error is not ran
        assert len(guest.asked) == (0 if says is None else 1)
        assert all("touch made" in one for one in guest.asked)

    visit(talk, says=says)
    assert (project / "made").exists() is ran


@pytest.mark.parametrize(("size", "shown"), [(90_000, True), (110_000, False)])
def test_a_question_shows_all_of_a_call_or_nobody_can_approve_it(
    visit: Visit, project: Path, size: int, shown: bool
) -> None:
    content = "a" * size + "\x1b[8m; the end"

    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        done = await guest.call("Write", file_path=str(project / "made"), content=content)
        assert done.is_error is not shown
        assert len(guest.asked) == (1 if shown else 0)
        for one in guest.asked:
            assert "a" * size in one
            assert "; the end" in one
            assert "\x1b" not in one
        if not shown:
            assert "can't be approved" in text(done)
            assert "100,000" in text(done)

    visit(talk, says="allow")
    assert (project / "made").exists() is shown


HOOKED = {
    ".claude/settings.json": {
        "hooks": {
            "PreToolUse": [
                {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}
            ]
        }
    }
}


@pytest.mark.project(HOOKED)
def test_hooks_see_the_commands_of_the_tools(visit: Visit, project: Path) -> None:
    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        refused = await guest.call("run_cmd", cmd="touch made", cwd=".")
        assert refused.is_error
        assert "no" in text(refused)

    visit(talk, options={"trust": True, "allowed": ("Bash",)})
    assert not (project / "made").exists()


def test_annotations_and_tags_are_true(visit: Visit) -> None:
    """TOOL-1: every tool has its tags; one that is said to read has no work that writes."""

    async def talk(guest: Guest) -> dict[str, types.Tool]:
        await guest.call(OPEN)
        return {tool.name: tool for tool in (await guest.client.list_tools()).tools}

    shown = visit(talk)
    for name, tool in shown.items():
        assert tool.annotations is not None
        assert tool.meta is not None
        assert tool.meta["checkrein/tags"] == (
            ["free"] if name in FREE else [*_tags(name), *_categories(name)]
        )
        assert not (tool.annotations.read_only_hint and tool.annotations.destructive_hint)
    reading = {name for name, tool in shown.items() if tool.annotations.read_only_hint}
    writing = {"run_cmd", "run_python", "push_to_remote", "merge_worktree", "claim_issue", "Bash", "Write"}
    assert reading.isdisjoint(writing)
    assert {"read_db", "Read", "Grep", "get_ci_status"} <= reading


def _tags(name: str) -> tuple[str, ...]:
    return kitchen_tools()[name].tags if name in kitchen_tools() else ("kitchen",)


def _categories(name: str) -> tuple[str, ...]:
    return kitchen_tools()[name].categories if name in kitchen_tools() else ()


def test_each_tool_of_the_table_is_offered() -> None:
    """TOOL-7: the menu and the table do not drift."""
    assert {*MENU, *FREE} == set(kitchen_tools())


def test_a_call_is_in_the_transcript(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        await guest.call("run_cmd", cmd="echo told", cwd=".")

    visit(talk, options={"allowed": ("Bash(echo *)",)})
    lines = [
        json.loads(line)
        for path in Path.home().rglob("*.jsonl")
        for line in path.read_text("utf-8").splitlines()
    ]
    marks = [json.dumps(line) for line in lines]
    assert any("echo told" in one and '"Bash"' in one for one in marks)
    assert any("run_cmd" in one for one in marks)


def test_a_recipe_can_not_be_loaded_and_nothing_opens(visit: Visit) -> None:
    """All or nothing."""

    async def talk(guest: Guest) -> None:
        refused = await guest.data(OPEN, name="implementation")
        assert refused["success"] is False
        assert await guest.names() == FREE

    visit(talk)


@pytest.mark.project(DISABLED)
@pytest.mark.parametrize("edited", ["[subsets]\ndisabled = []\n", "broken [", None])
def test_a_client_enables_nothing_by_an_edit(visit: Visit, project: Path, edited: str | None) -> None:
    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        (project / "checkrein.toml").unlink() if edited is None else lay(project, {"checkrein.toml": edited})
        assert "push_to_remote" not in await guest.names()
        assert "subsets.disabled" in text(await guest.call("push_to_remote", clone_path=".", branch="x"))
        lay(project, {"checkrein.toml": '[subsets]\ndisabled = ["ci"]\n'})
        assert "wait_for_ci" not in await guest.names(), "what is disabled later counts at once"

    visit(talk)
