"""What is declared about a server's tools, and the rules that judge them by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.config import ConfigValue, load_config
from checkrein.base.origin import Origin
from checkrein.cli.main import run
from checkrein.facts.config import KEYS
from checkrein.policy.decide import decide
from checkrein.policy.effects import Exec, Net, Read, Unclear, Use, Write
from checkrein.policy.policy import compile_policy
from checkrein.policy.remote import Remote
from checkrein.policy.tools import builtin_tools
from checkrein.policy.values import Call, Context
from checkrein.runtime.mcp.declared_effects import DeclaredEffects
from support.calls import rules

TOOL = Remote("s", "t")
HERE = Origin("/p/checkrein.toml", "project")


def declared(*texts: str, layer: str = "user") -> DeclaredEffects:
    return DeclaredEffects((ConfigValue({"s": {"t": list(texts)}}, layer, HERE),))


def effects(found: DeclaredEffects, **input: Any) -> tuple[Any, ...]:
    return found.meaning("mcp__s__t", TOOL).effects(input)


def verdict(found: DeclaredEffects, *texts: str, **input: Any) -> str:
    tools = builtin_tools().with_tool(found.meaning("mcp__s__t", TOOL))
    policy = compile_policy(rules(*texts), tools=tools)
    return decide(policy, Call("mcp__s__t", input), Context(cwd="/p", root="/p", home="/h")).verdict


def test_each_kind_has_its_effect() -> None:
    found = declared("exec:c", "read:r", "search:q", "write:w", "net:u")
    assert effects(found, c="ls", r="a", q="b", w="d", u="https://x") == (
        Use("mcp__s__t"),
        Exec("ls"),
        Read("a"),
        Read("b", tree=True),
        Write("d"),
        Net("https://x"),
    )


@pytest.mark.parametrize("value", [None, "", " ", 5, [], ["a", 5], {"a": "b"}, ["x"] * 500])
def test_an_input_that_does_not_say_it_is_unclear(value: Any) -> None:
    found = effects(declared("read:path"), path=value)
    assert isinstance(found[1], Unclear)
    assert verdict(declared("read:path"), "allow mcp__s", path=value) == "ask"


def test_a_list_counts_as_each_of_its_values() -> None:
    assert effects(declared("read:paths"), paths=["a", "b"])[1:] == (Read("a"), Read("b"))
    found = declared("exec:argv")
    assert verdict(found, "allow mcp__s", "deny Bash(rm *)", argv=["rm", "-rf", "x"]) == "deny"
    assert verdict(found, "allow mcp__s", "deny Bash(rm *)", argv=["ls", "rm -rf x"]) == "deny"


def test_rules_for_other_tools_bind() -> None:
    assert verdict(declared("read:p"), "allow mcp__s", "deny Read(.env)", p=".env") == "deny"
    assert verdict(declared("write:p"), "allow mcp__s", "ask Edit(src/**)", p="src/a") == "ask"
    assert (
        verdict(declared("net:u"), "allow mcp__s", "deny WebFetch(domain:x.com)", u="https://x.com/")
        == "deny"
    )
    assert verdict(declared("search:p"), "allow mcp__s", "deny Read(secrets/**)", p=".") == "ask"
    assert verdict(declared("search:p"), "allow mcp__s", "deny Read(/secrets/**)", p="src") == "allow"


def test_an_effect_allows_nothing() -> None:
    assert verdict(declared("read:p"), "allow Read", p="a") == "ask"
    assert verdict(declared("exec:p"), "allow Bash", p="ls") == "ask"
    assert verdict(declared("net:p"), "allow WebFetch", p="https://x.com") == "ask"


@pytest.mark.parametrize("text", ["exec", "exec:", "run:command", "", "command"])
def test_an_entry_that_is_no_effect_is_reported_and_asks(text: str) -> None:
    found = declared(text)
    [problem] = found.problems
    assert (problem.code, problem.origin) == ("CFG007", HERE)
    assert verdict(found, "allow mcp__s", command="ls") == "ask"


def test_names_count_in_any_spelling() -> None:
    found = DeclaredEffects((ConfigValue({"plugin_p_s": {"run_it": "exec:c"}}, "user", HERE),))
    assert found.of_tool(Remote("plugin:p:s", "run.it"))
    assert not found.of_tool(Remote("other", "run.it"))


def test_the_files_of_the_user_and_of_the_project_add_up(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "root"
    home.mkdir()
    root.mkdir()
    (home / "config.toml").write_text('[mcp.effects.s]\nt = "read:path"\n')
    (root / "checkrein.toml").write_text('[mcp.effects.s]\nt = ["write:path"]\nu = "net:url"\n')
    config = load_config(KEYS, root, home, {})
    assert config.diagnostics == ()
    found = DeclaredEffects.of(config)
    assert [one.kind for one in found.of_tool(TOOL)] == ["read", "write"]
    assert not found.only_reads(TOOL)
    (root / "checkrein.toml").write_text('[mcp.effects.s]\nt = "read:other"\nu = "read:url"\n')
    found = DeclaredEffects.of(load_config(KEYS, root, home, {}))
    assert found.only_reads(TOOL)
    assert not found.only_reads(Remote("s", "u"))


def test_the_environment_declares_nothing(tmp_path: Path) -> None:
    env = {"CHECKREIN_MCP__EFFECTS": '{"s": {"t": "read:path"}}'}
    config = load_config(KEYS, tmp_path, tmp_path, env)
    assert DeclaredEffects.of(config).of_tool(TOOL) == ()
    assert config.diagnostics[0].code == "CFG003"


@pytest.mark.project({"CLAUDE.md": "x", "checkrein.toml": '[mcp.effects.s]\nt = "run:command"\n'})
def test_check_reports_an_entry_that_is_no_effect(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(project), "--json", "--select", "CFG"]) == 1
    [finding] = json.loads(capsys.readouterr().out)["data"]["findings"]
    assert finding["code"] == "CFG007"
    assert finding["origin"]["file"].endswith("checkrein.toml")
