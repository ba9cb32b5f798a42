"""The tables agree with each other."""

from __future__ import annotations

import re

import pytest

from checkrein.facts import shell_code, shell_env, shell_files, shell_git, shell_readonly, shell_wrappers
from checkrein.facts.shell_words import names, words
from checkrein.facts.tools import PATH_FAMILIES, PATH_RULES_IGNORED, RULE_ALIASES, TOOLS, VALUE_FIELDS
from checkrein.policy.tools import builtin_tools


def test_tools_are_declared_once() -> None:
    all_names = [name for tool in TOOLS for name in (tool.name, *tool.aliases)]
    assert len(all_names) == len(set(all_names))


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_says_what_it_does(tool: object) -> None:
    fact = next(one for one in TOOLS if one is tool)
    if fact.effect != "use":
        assert fact.field in fact.fields
        assert fact.family
    assert not (fact.free and fact.interactive)
    effects = builtin_tools().get(fact.name).effects({})
    assert effects
    for alias in fact.aliases:
        assert builtin_tools().get(alias).name == fact.name
        assert alias in builtin_tools()


def test_names_in_other_tables_are_tools() -> None:
    known = builtin_tools()
    for name in (*VALUE_FIELDS, *RULE_ALIASES.values(), *PATH_FAMILIES):
        assert name in known
    for name in PATH_RULES_IGNORED:
        assert known.get(name).family in PATH_FAMILIES
    for name, fields in VALUE_FIELDS.items():
        assert set(fields) <= set(known.get(name).fields)


def test_the_nearest_unknown_tool_is_used_by_name() -> None:
    unknown = builtin_tools().get("mcp__a__b")
    assert not unknown.declared
    assert "mcp__a__b" not in builtin_tools()


def test_patterns_compile() -> None:
    for pattern in (*shell_code.SPAWNS.values(), shell_readonly.JQ_UNSAFE, shell_git.UNSAFE_WORDS):
        re.compile(pattern)


def test_read_only_commands_write_nothing() -> None:
    for name, fact in shell_readonly.READ_ONLY.items():
        use = shell_files.FILES.get(name)
        if use is not None:
            assert use.writes == "" or (use.writes, fact.operands) == ("last", "one"), name
    assert not set(shell_readonly.READ_ONLY) & shell_files.REMOVERS
    assert not set(shell_readonly.READ_ONLY) & set(shell_wrappers.WRAPPERS)
    assert not shell_files.EDIT_COMMANDS - set(shell_files.FILES)


def test_options_that_write_are_not_read_only() -> None:
    for name, fact in shell_readonly.READ_ONLY.items():
        use = shell_files.FILES.get(name)
        for option in use.write_options if use else ():
            assert option in fact.unsafe or option in fact.unsafe_long, (name, option)


def test_variables_stand_in_one_table() -> None:
    tables = (shell_env.SAFE, shell_env.COMMANDS, shell_env.PROMPTS, shell_env.SOURCED, shell_env.SPLITTING)
    assert sum(len(table) for table in tables) == len(frozenset().union(*tables))


UNSAFE_OF_GIT = words(
    "--output --output-directory --ext-diff --textconv --no-index --submodule --show-signature --remerge-diff"
    " --contents --ignore-revs-file --open-files-in-pager --filters --parseopt --stdin -O"
)


def test_git_forms() -> None:
    for name, form in shell_git.READ_ONLY.items():
        assert form.operands in ("any", "none", "listing", "subs"), name
        assert (form.operands == "subs") == bool(form.subs), name
        assert form.listers <= form.options | form.values, name
        unsafe = UNSAFE_OF_GIT - (words("--no-index") if name == "check-ignore" else frozenset())
        assert not (form.options | form.values) & unsafe, name
    assert shell_git.TREE_WRITERS & set(shell_git.READ_ONLY) == set(shell_git.INDEX_ONLY) & {"worktree"}


def test_find_words() -> None:
    assert shell_code.FIND_WRITES.isdisjoint(shell_readonly.FIND_SAFE)
    assert all(flags.isdisjoint(shell_readonly.FIND_SAFE) for flags in shell_code.EXEC_FLAGS.values())


def test_tables_of_words() -> None:
    assert words("a b") == {"a", "b"}
    assert names("b a") == ("b", "a")
