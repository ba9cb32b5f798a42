from __future__ import annotations

from typing import Any

import pytest

from checkrein.base.origin import BUNDLED, Origin
from checkrein.facts.subagents import IN_BACKGROUND, OF_TEAMMATES, WITHOUT
from checkrein.passes.agents import AgentType, Pool, no_tools, pool

SERVERS = ("mcp__gh__list", "mcp__gh__create", "mcp__my_db__query")
OFFERED = ("Bash", "Read", "Write", "Edit", "Grep", "Agent", "TodoWrite", "TaskCreate", *SERVERS)


def kind(**fields: Any) -> AgentType:
    return AgentType(name="a", description="d", body="b", origin=Origin(BUNDLED, "bundled"), **fields)


def taken(agent: AgentType, offered: tuple[str, ...] = OFFERED, **terms: Any) -> Pool:
    given: dict[str, Any] = {"background": False, "depth": 1, "limit": 3, "mode": "default", **terms}
    return pool(agent, offered, **given)


def test_without_lists_it_gets_all_of_the_parents() -> None:
    assert taken(kind()) == Pool(names=OFFERED)


def test_it_gets_nothing_that_the_parent_has_not() -> None:
    found = taken(kind(tools=("Read", "Glob", "Nonsense")), ("Read", "Bash"))
    assert found == Pool(names=("Read",), unknown=("Glob", "Nonsense"))


def test_older_names_mean_the_same_tool() -> None:
    assert taken(kind(tools=("Task", "MultiEdit"))).names == ("Edit", "Agent")
    assert "Agent" not in taken(kind(disallowed=("Task",))).names


@pytest.mark.parametrize(
    ("entry", "left"),
    [
        ("mcp__gh", SERVERS[:2]),
        ("mcp__gh__*", SERVERS[:2]),
        ("mcp__gh__create", SERVERS[1:2]),
        ("mcp__*", SERVERS),
        ("mcp__my db", SERVERS[2:]),
        ("mcp__g", ()),
        ("mcp__", ()),
        ("mcp__gh__cre*", SERVERS[1:2]),
    ],
)
def test_entries_for_servers(entry: str, left: tuple[str, ...]) -> None:
    found = taken(kind(tools=(entry, "Read")))
    assert found.names == ("Read", *left)
    assert found.unknown == (() if left else (entry,))
    assert set(taken(kind(disallowed=(entry,))).names) == set(OFFERED) - set(left)


def test_disallowed_tools_come_first() -> None:
    assert taken(kind(tools=("Read", "Write"), disallowed=("Write",))) == Pool(
        names=("Read",), unknown=("Write",)
    )


def test_without_bash_nothing_else_runs_commands() -> None:
    offered = ("Bash", "Monitor", "Read")
    assert taken(kind(disallowed=("Bash",)), offered).names == ("Read",)
    assert taken(kind(disallowed=("Monitor",)), offered).names == ("Bash", "Read")
    assert taken(kind(tools=("Read", "Monitor")), offered).names == ("Monitor", "Read")


def test_a_star_is_every_tool() -> None:
    assert taken(kind(tools=("*",))).names == OFFERED


def test_a_memory_brings_the_tools_that_keep_it() -> None:
    assert taken(kind(tools=("Grep",), memory="user")).names == ("Read", "Write", "Edit", "Grep")
    assert taken(kind(tools=("Grep",), memory="user"), ("Grep", "Read")).names == ("Grep", "Read")
    assert taken(kind(tools=("Grep",), memory="user", disallowed=("Write",))).names == (
        "Read",
        "Edit",
        "Grep",
    )


def test_no_subagent_has_the_tools_of_the_main_conversation() -> None:
    found = taken(kind(), ("Read", *WITHOUT))
    assert found.names == ("Read",)
    assert [one.name for one in found.dropped] == list(WITHOUT)
    assert "ExitPlanMode" in taken(kind(), ("Read", *WITHOUT), mode="plan").names


@pytest.mark.parametrize(
    ("depth", "limit", "starts"), [(1, 3, True), (2, 3, True), (3, 3, False), (1, 1, False)]
)
def test_the_deepest_agent_starts_no_other(depth: int, limit: int, starts: bool) -> None:
    assert ("Agent" in taken(kind(), depth=depth, limit=limit).names) is starts


def test_in_the_background_few_built_in_tools_are_left() -> None:
    offered = (*IN_BACKGROUND, *OF_TEAMMATES, "Agent", "TaskOutput", "OfAPackage", *SERVERS)
    found = taken(kind(), offered, background=True)
    assert found.names == (*IN_BACKGROUND, "OfAPackage", *SERVERS)
    assert {one.name for one in found.dropped} == {*OF_TEAMMATES, "Agent", "TaskOutput"}
    mate = taken(kind(), offered, background=True, teammate=True)
    assert mate.names == (*IN_BACKGROUND, *OF_TEAMMATES, "OfAPackage", *SERVERS)


def test_the_refusal_names_the_entries() -> None:
    agent = kind(tools=("search", "TaskOutput", "Write"), disallowed=("Write",))
    found = taken(agent, (*OFFERED, "TaskOutput"))
    assert found.names == ()
    assert no_tools(agent, found) == (
        "The agent a can't start: it has no tool. Nothing here matches these entries of `tools`: search, "
        "Write. Not available to it: TaskOutput (no subagent has it). `disallowedTools` takes away: Write."
    )


def test_an_agent_may_have_no_tools_on_purpose() -> None:
    empty = kind(tools=())
    assert taken(empty).names == ()
    assert no_tools(empty, taken(empty)) is None
