"""Rules on the tools of servers, by every name of a tool and of its server."""

from __future__ import annotations

import pytest

from checkrein.policy.decide import decide
from checkrein.policy.effects import Use
from checkrein.policy.policy import Policy, compile_policy, meet
from checkrein.policy.remote import Remote, normal_pattern
from checkrein.policy.servers import denial_of_prompt
from checkrein.policy.tools import Meaning, builtin_tools
from checkrein.policy.values import Call, Context, Decision, Mode
from checkrein.runtime.mcp.tool_names import tool_name
from support.calls import rules

CONTEXT = Context(cwd="/p", root="/p", home="/h")
LONG = "list_every.single thing_that_this_server_has_ever_heard_of_in_its_long_life"


def policy(remote: Remote, *texts: str, mode: Mode = "default", interactive: bool = False) -> Policy:
    name = tool_name(remote)
    known = Meaning(name=name, effects=lambda _: (Use(name),), remote=remote, interactive=interactive)
    return compile_policy(rules(*texts), mode, tools=builtin_tools().with_tool(known))


def verdict(remote: Remote, *texts: str, mode: Mode = "default", **input: str) -> str:
    return judged(remote, *texts, mode=mode, **input).verdict


def judged(
    remote: Remote, *texts: str, mode: Mode = "default", interactive: bool = False, **input: str
) -> Decision:
    held = policy(remote, *texts, mode=mode, interactive=interactive)
    return decide(held, Call(tool_name(remote), input), CONTEXT)


@pytest.mark.parametrize(
    ("server", "tool", "rule"),
    [
        ("s", "t", "mcp__s"),
        ("s", "t", "mcp__s__*"),
        ("s", "t", "mcp__s__t"),
        ("s", LONG, "mcp__s"),
        ("s", LONG, "mcp__s__*"),
        ("s", LONG, f"mcp__s__{LONG}"),
        ("s", LONG, f"mcp__s__{LONG.replace('.', '_').replace(' ', '_')}"),
        ("s", LONG, "mcp__s__*_life"),
        ("s", LONG, tool_name(Remote("s", LONG))),
        ("x" * 70, "t", f"mcp__{'x' * 70}"),
        ("x" * 70, "t", f"mcp__{'x' * 70}__*"),
        ("x" * 70, "t", "mcp__x*__t"),
        ("my server", "get.it", "mcp__my server"),
        ("my server", "get.it", "mcp__my_server"),
        ("my server", "get.it", "mcp__my.server"),
        ("my server", "get.it", "mcp__my server__*"),
        ("my server", "get.it", "mcp__my.server__get?it"),
        ("my server", "get.it", "mcp__my server__get.it"),
        ("my server", "get.it", "mcp__my_server__get it"),
        ("plugin:p:s", "t", "mcp__plugin_p_s"),
        ("plugin:p:s", "t", "mcp__plugin:p:s__t"),
        ("a__b", "c", "mcp__a__b"),
        ("a__b", "c", "mcp__a"),
        ("a_", "t", "mcp__a_"),
        ("a!", "t", "mcp__a!"),
        ("a!", "t", "mcp__a_"),
        ("_a", "t", "mcp___a"),
        ("s", "a[b]", "mcp__s__a[b]"),
        ("s", "get*all", "mcp__s__get*all"),
        ("s", "überall", "mcp__s__überall"),
        ("GitHub", "t", "mcp__github"),
        ("s", "t", "mcp__*"),
        ("s", "t", "*"),
    ],
)
@pytest.mark.parametrize("kind", ["deny", "ask"])
def test_a_strict_rule_binds_every_name(server: str, tool: str, rule: str, kind: str) -> None:
    found = judged(Remote(server, tool), f"{kind} {rule}", mode="bypassPermissions")
    assert found.verdict == kind
    assert found.offered is (kind == "ask")


@pytest.mark.parametrize(
    ("server", "tool", "rule"),
    [
        ("s", "t", "mcp__s"),
        ("s", "t", "mcp__s__*"),
        ("s", LONG, "mcp__s__*"),
        ("s", LONG, f"mcp__s__{LONG}"),
        ("s", LONG, tool_name(Remote("s", LONG))),
        ("my server", "get.it", "mcp__my_server"),
        ("my server", "get.it", "mcp__my server__get.it"),
        ("my server", "get.it", "mcp__my_server__get_*"),
        ("plugin:p:s", "t", "mcp__plugin_p_s"),
        ("a__b", "c", "mcp__a__b__*"),
        ("a__b", "c", "mcp__a__b__c"),
        ("a_", "t", "mcp__a_"),
    ],
)
def test_an_allow_rule_names_the_server_or_the_tool(server: str, tool: str, rule: str) -> None:
    assert verdict(Remote(server, tool), f"allow {rule}") == "allow"


@pytest.mark.parametrize(
    ("server", "tool", "rule"),
    [
        ("a__b", "c", "mcp__a"),
        ("a__b", "c", "mcp__a__*"),
        ("a__b", "c", "mcp__a__b"),
        ("a", "b__c", "mcp__a__b"),
        ("a_", "t", "mcp__a"),
        ("a_", "t", "mcp__a__*"),
        ("my_server", "get", "mcp__my server"),
        ("my_server", "get_it", "mcp__my_server__get.it"),
        ("s", LONG, f"mcp__s__{LONG.replace('.', '_').replace(' ', '_')}"),
        ("github", "t", "mcp__GitHub"),
    ],
)
def test_an_allow_rule_for_another_name_allows_nothing(server: str, tool: str, rule: str) -> None:
    assert verdict(Remote(server, tool), f"allow {rule}") == "ask"


def test_a_rule_on_a_field_binds_every_name() -> None:
    for name in ("mcp__my server__get.it", "mcp__my_server__get_it", "mcp__my_server__get.it"):
        for kind in ("deny", "ask"):
            texts = (f"{kind} {name}(what:secret*)", "allow mcp__my_server")
            assert verdict(Remote("my server", "get.it"), *texts, what="secrets") == kind
            assert verdict(Remote("my server", "get.it"), *texts, what="other") == "allow"


def test_a_tool_that_needs_its_user_asks_in_every_mode() -> None:
    remote = Remote("s", "t")
    for mode in ("default", "acceptEdits", "auto", "bypassPermissions"):
        found = judged(remote, "allow mcp__s", "allow mcp__s__t", mode=mode, interactive=True)  # type: ignore[arg-type]
        assert (found.verdict, found.classify) == ("ask", False)
    assert judged(remote, "allow mcp__s", mode="dontAsk", interactive=True).verdict == "deny"


def test_a_child_keeps_the_names() -> None:
    remote = Remote("my server", "get.it")
    child = meet(policy(remote), policy(remote, "deny mcp__my server"))
    assert decide(child, Call(tool_name(remote), {}), CONTEXT).verdict == "deny"


def test_a_rule_on_the_server_binds_resources_and_prompts() -> None:
    for rule in ("mcp__my server", "mcp__my.server__*", "mcp__MY_server"):
        held = compile_policy(rules(f"deny {rule}"), "bypassPermissions")
        read = Call("ReadMcpResourceTool", {"server": "my server", "uri": "x://y"})
        assert decide(held, read, CONTEXT).verdict == "deny"
        assert decide(held, Call("Skill", {"skill": "mcp__my_server__go"}), CONTEXT).verdict == "deny"
        assert denial_of_prompt(held, True, Remote("my server", "go")) is not None
    held = compile_policy(rules("deny mcp__s__go now"))
    assert denial_of_prompt(held, True, Remote("s", "go.now")) is not None
    assert denial_of_prompt(held, True, Remote("s", "stop")) is None


def test_wildcards_of_a_pattern_stay() -> None:
    assert normal_pattern("mcp__my server__get[.!]?*") == "mcp__my_server__get[.!]?*"
