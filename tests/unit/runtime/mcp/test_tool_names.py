"""One name for one tool, in the form that services take."""

from __future__ import annotations

import re

from checkrein.base.origin import Origin
from checkrein.policy.remote import Remote
from checkrein.runtime.mcp.tool_names import ToolNames, tool_name

HERE = Origin("/p/.mcp.json", "project")
THERE = Origin("/h/.claude.json", "user")


def test_names_have_the_documented_form() -> None:
    assert tool_name(Remote("github", "get_issue")) == "mcp__github__get_issue"
    assert tool_name(Remote("plugin:tools:db", "run.query")) == "mcp__plugin_tools_db__run_query"
    assert tool_name(Remote("s", "größe 2")) == "mcp__s__gr__e_2"


def test_a_long_name_is_cut_the_same_way_each_time() -> None:
    one, other = Remote("s", "x" * 80 + "a"), Remote("s", "x" * 80 + "b")
    assert len(tool_name(one)) == len(tool_name(other)) == 64
    assert tool_name(one) == tool_name(Remote("s", "x" * 80 + "a")) != tool_name(other)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tool_name(Remote("\ud800" * 90, "\0")))
    assert len(tool_name(Remote("s", "x" * (64 - len("mcp__s__"))))) == 64


def test_two_tools_of_one_server_do_not_replace_each_other() -> None:
    names = ToolNames()
    named = names.take("s", ["get.it", "get it", "other"], HERE)
    assert named.names == {"get.it": "mcp__s__get_it", "other": "mcp__s__other"}
    [problem] = named.problems
    assert problem.severity == "error"
    assert "'get.it'" in problem.message
    assert "'get it'" in problem.message
    assert names.find("mcp__s__get_it") == Remote("s", "get.it")


def test_two_tools_of_two_servers_do_not_replace_each_other() -> None:
    names = ToolNames()
    assert names.take("a", ["b__c"], THERE).problems == ()
    named = names.take("a__b", ["c", "d"], HERE)
    assert named.names == {"d": "mcp__a__b__d"}
    [problem] = named.problems
    assert all(text in problem.message for text in ("'a'", "'a__b'", "'b__c'", "'c'"))
    assert (problem.origin, problem.related) == (HERE, (THERE,))
    assert names.find("mcp__a__b__c") == Remote("a", "b__c")


def test_two_servers_with_one_name_in_rules_are_told_apart_by_nobody() -> None:
    names = ToolNames()
    names.take("my_server", ["a"], THERE)
    named = names.take("my server", ["harmless", "evil"], HERE)
    assert named.names == {}
    assert "'my_server'" in named.problems[0].message
    assert "'my server'" in named.problems[0].message
    assert names.find("mcp__my_server__evil") is None


def test_a_server_that_lists_again_has_its_new_tools_only() -> None:
    names = ToolNames()
    names.take("s", ["old", "kept"], HERE)
    assert names.take("s", ["kept", "new"], HERE).names == {"kept": "mcp__s__kept", "new": "mcp__s__new"}
    assert names.find("mcp__s__old") is None
    names.drop("s")
    assert names.find("mcp__s__kept") is None


def test_a_name_leads_back_to_its_tool_by_lookup() -> None:
    names = ToolNames()
    names.take("a__b", ["c__d", "e.f"], HERE)
    assert names.find("mcp__a__b__c__d") == Remote("a__b", "c__d")
    assert names.find("mcp__a__b__e.f") == Remote("a__b", "e.f")
    assert names.find("mcp__a__b__nothing") is None


def test_a_tool_without_a_name_or_with_the_same_name_is_left_out() -> None:
    named = ToolNames().take("s\x1b[31m", ["", "t", "t"], HERE)
    assert list(named.names) == ["t"]
    assert len(named.problems) == 2
    assert not any("\x1b" in problem.message for problem in named.problems)
