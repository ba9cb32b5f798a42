"""Scopes, hooks, trust, effects: who wins when several speak."""

from __future__ import annotations

from typing import Any

import pytest

from checkrein.base.origin import Origin, Scope
from checkrein.model.rule import Rule, Verdict, parse_rule
from checkrein.policy.decide import decide
from checkrein.policy.policy import Directory, Policy, compile_policy, grant, meet, with_mode
from checkrein.policy.tools import builtin_tools, effects
from checkrein.policy.values import Call, Context, Decision, HookVerdict, Mode

CONTEXT = Context(cwd="/p", root="/p", home="/h")
RUN = Call("Bash", {"command": "npm test"})


def rule(text: str, behavior: Verdict = "allow", scope: Scope = "user", anchor: str | None = "/p") -> Rule:
    return parse_rule(text, behavior, Origin(f"/{scope}/settings.json", scope), anchor=anchor)


def policy(*rules: Rule, mode: Mode = "default", **more: Any) -> Policy:
    return compile_policy(rules, mode, **more)


def verdict(policy: Policy, call: Call = RUN, context: Context = CONTEXT, *hooks: HookVerdict) -> str:
    return decide(policy, call, context, hooks=hooks).verdict


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ((rule("Bash(npm test)"), rule("Bash(npm test)", "deny", "project")), "deny"),
        ((rule("Bash(npm test)", "deny"), rule("Bash(npm test)", "allow", "project")), "deny"),
        ((rule("Bash(npm test)", "deny", "managed"), rule("Bash(npm test)", "allow", "cli")), "deny"),
        ((rule("Bash(npm test)", "allow", "local"), rule("Bash(npm test)", "ask", "project")), "ask"),
    ],
)
def test_the_scope_of_a_rule_does_not_matter(rules: tuple[Rule, ...], expected: str) -> None:
    assert verdict(policy(*rules)) == expected


def test_an_untrusted_project_grants_nothing_and_forbids_all_it_says() -> None:
    untrusted = Context(cwd="/p", root="/p", home="/h", trusted=False)
    mine, theirs = rule("Bash(npm test)"), rule("Bash(npm test)", scope="project")
    assert verdict(policy(theirs)) == "allow"
    assert verdict(policy(theirs), RUN, untrusted) == "ask"
    assert verdict(policy(mine), RUN, untrusted) == "allow"
    assert verdict(policy(rule("Bash(npm test)", "deny", "project"), mine), RUN, untrusted) == "deny"
    loose = policy(mode="bypassPermissions", mode_scope="project")
    assert verdict(loose) == "allow"
    assert verdict(loose, RUN, untrusted) == "ask"
    read = Call("Read", {"file_path": "/opt/d/f"})
    wide = policy(directories=[Directory("/opt/d", "project")])
    assert verdict(wide, read) == "allow"
    assert verdict(wide, read, untrusted) == "ask"


@pytest.mark.parametrize(
    ("answers", "rules", "mode", "expected"),
    [
        (("allow",), (), "default", "allow"),
        (("allow",), (rule("Bash(npm *)", "deny"),), "default", "deny"),
        (("allow",), (rule("Bash(npm *)", "ask"),), "default", "ask"),
        (("deny",), (rule("Bash"),), "bypassPermissions", "deny"),
        (("ask",), (rule("Bash"),), "default", "ask"),
        (("allow", "deny"), (), "default", "deny"),
        (("allow", "ask"), (), "default", "ask"),
        (("allow",), (), "dontAsk", "allow"),
        (("defer",), (rule("Bash"),), "default", "ask"),
    ],
)
def test_hooks_join_rules(
    answers: tuple[str, ...], rules: tuple[Rule, ...], mode: Mode, expected: str
) -> None:
    hooks = [HookVerdict(answer) for answer in answers]  # type: ignore[arg-type]  # literals above
    assert verdict(policy(*rules, mode=mode), RUN, CONTEXT, *hooks) == expected


def test_a_hook_approves_neither_a_critical_removal_nor_a_question() -> None:
    allow = HookVerdict("allow")
    assert verdict(policy(), Call("Bash", {"command": "rm -rf /"}), CONTEXT, allow) == "ask"
    assert verdict(policy(mode="dontAsk"), Call("Bash", {"command": "rm -rf /"}), CONTEXT, allow) == "deny"
    assert verdict(policy(), Call("AskUserQuestion", {}), CONTEXT, allow) == "ask"
    assert verdict(policy(), Call("Write", {"file_path": "/p/.git/x"}), CONTEXT, allow) == "ask"


def test_anchors_of_rules() -> None:
    edit = Call("Edit", {"file_path": "/p/src/a"})
    assert verdict(policy(rule("Edit(/src/**)", anchor="/h/.claude")), edit) == "ask"
    assert (
        verdict(policy(rule("Edit(/x/**)", anchor="/cfg")), Call("Edit", {"file_path": "/cfg/x/a"}))
        == "allow"
    )
    assert verdict(policy(rule("Edit(/src/**)", anchor=None)), edit) == "allow"


def test_added_directories() -> None:
    wide = [Directory("/opt/d")]
    assert verdict(policy(directories=wide), Call("Read", {"file_path": "/opt/d/f"})) == "allow"
    edits = policy(directories=wide, mode="acceptEdits")
    assert verdict(edits, Call("Edit", {"file_path": "/opt/d/f"})) == "allow"
    bypass = policy(directories=wide, mode="bypassPermissions")
    assert verdict(bypass, Call("Bash", {"command": "rm -rf /opt/d/*"})) == "ask"
    assert verdict(bypass, Call("Bash", {"command": "rm -rf /opt/d"})) == "allow"


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/*",
        "/usr",
        "/usr/",
        "~",
        "~/",
        "$HOME",
        "$HOME/*",
        "..",
        ".",
        "*",
        "./*",
        "/p",
        '"$D"/*',
        '"$D"/',
        "$D",
    ],
)
def test_critical_removals_are_always_asked_for(target: str) -> None:
    everything = policy(rule("Bash"), mode="bypassPermissions")
    assert verdict(everything, Call("Bash", {"command": f"rm -rf {target}"})) == "ask"
    assert verdict(everything, Call("Bash", {"command": f"sudo sh -c 'rm -rf {target}'"})) == "ask"


@pytest.mark.parametrize(
    "target", ["build", "./build", "/p/build", "/opt/x/y", '"$D/build"', "a*", "build/*"]
)
def test_other_removals_are_not(target: str) -> None:
    assert verdict(policy(mode="bypassPermissions"), Call("Bash", {"command": f"rm -rf {target}"})) == "allow"


def test_a_denied_rule_is_named_with_its_place() -> None:
    decision = decide(policy(rule("Bash(npm *)", "deny")), RUN, CONTEXT)
    assert decision.rule == "Bash(npm *)"
    assert decision.origin == Origin("/user/settings.json", "user")
    assert "Bash(npm *)" in decision.reason


def test_the_trace_has_every_piece() -> None:
    decision = decide(
        policy(rule("Bash(git push *)", "ask"), rule("Bash(rm *)", "deny")),
        Call("Bash", {"command": "git push && rm -rf build; bash -c 'rm x'"}),
        CONTEXT,
    )
    found = [(piece.text, piece.verdict, piece.rule, piece.hidden) for piece in decision.trace]
    assert ("git push", "ask", "Bash(git push *)", False) in found
    assert ("rm -rf build", "deny", "Bash(rm *)", False) in found
    assert ("rm x", "deny", "Bash(rm *)", True) in found


# Effects of tools that are not built in


TOOLS = builtin_tools().with_tool(
    effects("mcp__box__run_cmd", commands=("cmd",)),
    effects("mcp__box__run_python", code=(("code", "python"),)),
    effects("mcp__box__read", reads=("path",)),
    effects("mcp__box__write", writes=("path",)),
    effects("mcp__box__fetch", urls=("url",)),
)


def effect(tool: str, input: dict[str, Any], *rules: Rule, mode: Mode = "default") -> Decision:
    return decide(compile_policy(rules, mode, tools=TOOLS), Call(tool, input), CONTEXT)


def test_rules_on_effects_bind_every_tool() -> None:
    box = rule("mcp__box")
    run = "mcp__box__run_cmd"
    assert effect(run, {"cmd": "ls"}, box).verdict == "allow"
    assert effect(run, {"cmd": "ls"}).verdict == "ask"
    assert effect(run, {"cmd": "ls"}, rule("Bash")).verdict == "ask"
    assert effect(run, {"cmd": "x; rm a"}, box, rule("Bash(rm *)", "deny")).verdict == "deny"
    assert effect(run, {"cmd": "$X a"}, box, rule("Bash(rm *)", "deny")).verdict == "ask"
    assert effect(run, {"cmd": "rm -rf /"}, box).verdict == "ask"
    assert effect(run, {}, box).verdict == "ask"
    read = "mcp__box__read"
    assert effect(read, {"path": ".env"}, box).verdict == "allow"
    assert effect(read, {"path": ".env"}, box, rule("Read(.env)", "deny")).verdict == "deny"
    write = "mcp__box__write"
    assert effect(write, {"path": "src/x"}, box, rule("Edit(src/**)", "ask")).verdict == "ask"
    assert effect(write, {"path": ".git/x"}, box).verdict == "ask"
    assert effect("mcp__box__fetch", {"url": "https://x.org"}, box).verdict == "allow"
    denied = rule("WebFetch(domain:x.org)", "deny")
    assert effect("mcp__box__fetch", {"url": "https://x.org"}, box, denied).verdict == "deny"


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions", "auto"])
def test_code_that_is_not_shell_is_at_best_asked_for(mode: Mode) -> None:
    found = effect("mcp__box__run_python", {"code": "print(1)"}, rule("mcp__box"), mode=mode)
    assert found.verdict == "ask"


# Combining


def test_a_child_only_narrows() -> None:
    parent = policy(rule("Bash(npm *)"))
    child = policy(rule("Bash"), mode="bypassPermissions")
    both = meet(parent, child)
    assert verdict(both) == "allow"
    assert verdict(both, Call("Bash", {"command": "make"})) == "ask"
    assert (
        verdict(meet(policy(mode="acceptEdits"), policy(mode="plan")), Call("Edit", {"file_path": "/p/a"}))
        == "ask"
    )
    assert verdict(meet(policy(), policy(mode="acceptEdits")), Call("Edit", {"file_path": "/p/a"})) == "ask"


def test_meet_joins_tools() -> None:
    one = compile_policy(
        [rule("mcp__box")], tools=builtin_tools().with_tool(effects("mcp__box__x", commands=("c",)))
    )
    two = compile_policy([rule("mcp__box"), rule("Bash(rm *)", "deny")])
    assert verdict(meet(one, two), Call("mcp__box__x", {"c": "rm a"})) == "deny"
    assert verdict(meet(two, one), Call("mcp__box__x", {"c": "rm a"})) == "deny"
    three = compile_policy(tools=builtin_tools().with_tool(effects("mcp__box__x", reads=("c",))))
    assert meet(one, two) == meet(two, one)
    assert meet(meet(one, two), three) == meet(one, meet(two, three))
    assert meet(one, one) == one
    assert meet(meet(one, three), one) == meet(one, three)


def test_a_grant_is_for_the_own_policy() -> None:
    own = policy()
    granted = grant(own, [rule("Bash(npm *)", scope="cli")])
    assert verdict(granted) == "allow"
    assert verdict(own) == "ask"
    assert verdict(meet(own, granted)) == "ask"


def test_switching_the_mode() -> None:
    assert verdict(with_mode(policy(), "bypassPermissions")) == "allow"
    assert verdict(with_mode(policy(), "dontAsk")) == "deny"


def test_an_empty_policy_asks() -> None:
    assert verdict(Policy(())) == "ask"


# Links


def test_links() -> None:
    links = {"/p/l": "/h/.ssh", "/p/loop": "/p/loop", "/p/up": "../q", "/p/s": "sub"}
    linked = Context(cwd="/p", root="/p", home="/h", links=links)
    deny = policy(rule("Bash"), rule("Read(~/.ssh/**)", "deny"))
    assert verdict(deny, Call("Read", {"file_path": "/p/l/id"}), linked) == "deny"
    assert verdict(deny, Call("Bash", {"command": "cat l/id"}), linked) == "deny"
    assert verdict(deny, Call("Bash", {"command": "cd l && cat id"}), linked) == "deny"
    assert verdict(policy(), Call("Read", {"file_path": "up/x"}), linked) == "ask"
    assert verdict(policy(), Call("Read", {"file_path": "loop/x"}), linked) == "allow"
    assert verdict(policy(), Call("Read", {"file_path": "s/x"}), linked) == "allow"


# Network


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.com@evil.org/", "ask"),
        ("https://evil.org\\@example.com/", "ask"),
        ("https://example.com%2eevil.org/", "ask"),
        ("https://exa\tmple.com/", "ask"),
        ("https://EXAMPLE.com.:443/x", "allow"),
        ("example.com", "allow"),
        ("", "ask"),
        ("http://[bad", "ask"),
    ],
)
def test_hosts_are_read_carefully(url: str, expected: str) -> None:
    assert verdict(policy(rule("WebFetch(domain:example.com)")), Call("WebFetch", {"url": url})) == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost:8080",
        "http://169.254.169.254/",
        "http://2130706433/",
        "http://[::1]/",
        "http://10.1.2.3",
        "http://0x7f.1/",
        "http://db.internal/",
    ],
)
def test_private_addresses_need_a_rule_of_their_own(url: str) -> None:
    assert verdict(policy(rule("WebFetch")), Call("WebFetch", {"url": url})) == "ask"
    assert verdict(policy(rule("WebFetch(domain:*)")), Call("WebFetch", {"url": url})) == "ask"
    assert verdict(policy(mode="bypassPermissions"), Call("WebFetch", {"url": url})) == "allow"


def test_a_private_address_named_by_a_rule() -> None:
    named = policy(rule("WebFetch(domain:localhost)"))
    assert verdict(named, Call("WebFetch", {"url": "http://localhost:3000/"})) == "allow"


def test_hosts_on_the_command_line() -> None:
    guarded = policy(rule("Bash"), rule("WebFetch(domain:x.org)", "deny"))
    assert verdict(guarded, Call("Bash", {"command": "curl https://x.org/a"})) == "deny"
    assert verdict(guarded, Call("Bash", {"command": "curl $URL"})) == "ask"
    assert verdict(guarded, Call("Bash", {"command": "echo > /dev/tcp/x.org/80"})) == "deny"
    assert verdict(guarded, Call("Bash", {"command": "curl https://y.org/a"})) == "allow"


# Searches


def test_a_search_pattern_may_name_a_place() -> None:
    guarded = policy(rule("Read(secrets/**)", "deny"))
    assert verdict(guarded, Call("Glob", {"pattern": "secrets/*"})) == "deny"
    assert verdict(guarded, Call("Glob", {"pattern": "**/*.py"})) != "deny"
    assert verdict(guarded, Call("Glob", {"pattern": "/etc/*"})) == "ask"
    assert verdict(guarded, Call("Glob", {"pattern": "../*"})) == "ask"
    assert verdict(guarded, Call("Grep", {"pattern": "x", "glob": "!secrets/**"})) != "ask"


# Narrow reading of allow rules


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("npm test", "allow"),
        ("PATH=/x; npm test", "ask"),
        ("export PATH=/x; npm test", "ask"),
        ("LD_PRELOAD=./x; npm test", "ask"),
        ("a=1; npm test", "allow"),
        ("NODE_ENV=test; npm test", "allow"),
        ('"npm test"', "ask"),
        ("npm test | sh", "ask"),
        ("npm test; npm test", "allow"),
        ("/bin/npm test", "ask"),
        ("npm() { make; }; npm test", "ask"),
        ("alias npm=make; npm test", "ask"),
        ("npm test <<< x", "ask"),
        ("npm test 2> /dev/tcp/h/1", "ask"),
        ("npm test $?", "allow"),
        ("npm test *.ts", "allow"),
        ("npm test 'a b'", "allow"),
    ],
)
def test_an_allow_rule_covers_no_more_than_it_says(command: str, expected: str) -> None:
    assert verdict(policy(rule("Bash(npm test *)")), Call("Bash", {"command": command})) == expected


def test_a_script_is_denied_by_its_name() -> None:
    guarded = policy(rule("Bash"), rule("Bash(./deploy.sh *)", "deny"))
    for command in ("./deploy.sh", "bash deploy.sh", "sh ./deploy.sh x", "/p/deploy.sh"):
        assert verdict(guarded, Call("Bash", {"command": command})) == "deny", command
