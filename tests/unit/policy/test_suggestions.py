"""What is offered to a person who is asked: it helps, and it is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.base.origin import Origin
from checkrein.model.rule import parse_rule
from checkrein.policy.decide import decide
from checkrein.policy.policy import Policy, compile_policy
from checkrein.policy.suggestions import suggest
from checkrein.policy.tools import builtin_tools
from checkrein.policy.updates import SESSION, AddDirectories, Update, rules_of, updated
from checkrein.policy.values import Call, Context, Decision, HookVerdict, Mode

CONTEXT = Context(cwd="/p", root="/p", home="/h")


def with_updates(policy: Policy, updates: Sequence[Update]) -> Policy:
    for one in updates:
        policy = updated(policy, one, rules_of(one, Origin(SESSION, "cli"), "/p"))
    return policy


def suggested(
    tool: str, input: dict[str, Any], *rules: str, mode: Mode = "default", hooks: Sequence[HookVerdict] = ()
) -> list[dict[str, Any]]:
    parsed = [
        parse_rule(text, behavior, Origin("f", "user"))  # type: ignore[arg-type]
        for behavior, _, text in (rule.partition(":") for rule in rules)
    ]
    policy, call = compile_policy(parsed, mode), Call(tool, input)

    def after(updates: Sequence[Update]) -> Decision:
        return decide(with_updates(policy, updates), call, CONTEXT, hooks=hooks)

    decision = decide(policy, call, CONTEXT, hooks=hooks)
    found = suggest(call, builtin_tools().get(tool), CONTEXT, mode, decision, after)
    return [msgspec.json.decode(msgspec.json.encode(one)) for one in found]


def bash(command: str, *rules: str, **more: Any) -> list[dict[str, Any]]:
    return suggested("Bash", {"command": command}, *rules, **more)


def texts(found: list[dict[str, Any]]) -> list[str]:
    return [rule["ruleContent"] for one in found if one["type"] == "addRules" for rule in one["rules"]]


def test_what_the_product_offered() -> None:
    assert bash("touch zz && echo hi") == [
        {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": "touch zz *"}],
            "behavior": "allow",
            "destination": "localSettings",
        },
        {"type": "addDirectories", "directories": ["/p"], "destination": "session"},
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
    ]


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("npm run build", ["npm run build *"]),
        ("npm run test:unit --watch", ["npm run test:unit *"]),
        ("gh pr list --limit 3", ["gh pr list *"]),
        ("docker compose up -d", ["docker compose up *"]),
        ("npm run", ["npm run"]),
        ("make", ["make"]),
        ("git push origin main", ["git push *"]),
        ("npm test; cargo build --release", ["npm test *", "cargo build *"]),
        ("rm -rf build", ["rm -rf build"]),
        ("rm build", ["rm build"]),
        ("sudo make install", ["sudo make install"]),
        ("bash -c 'make x'", ["bash -c 'make x'"]),
        ("python3 script.py", ["python3 script.py"]),
        ("a x; b x; c x; d x; e x; f x", []),
        ("echo $(", []),
    ],
)
def test_rules_for_commands(command: str, rules: list[str]) -> None:
    assert texts(bash(command)) == rules


def test_a_rule_that_asks_is_not_talked_over() -> None:
    assert bash("make x", "ask:Bash(make *)") == []
    assert bash("make x", hooks=(HookVerdict("ask", "look"),)) == []


def test_nothing_for_what_is_allowed_or_denied() -> None:
    assert bash("ls") == []
    assert bash("make x", "deny:Bash(make *)") == []


def test_files() -> None:
    inside = suggested("Edit", {"file_path": "/p/a"})
    outside = suggested("Write", {"file_path": "/q/a"})
    edits = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    assert inside == [edits]
    assert outside == [{"type": "addDirectories", "directories": ["/q"], "destination": "session"}, edits]
    assert suggested("Edit", {"file_path": "/p/.git/config"}) == []
    assert suggested("Edit", {"file_path": "/p/a"}, mode="plan") == []


def test_reading_elsewhere() -> None:
    (found,) = suggested("Read", {"file_path": "/q/[x]/a"})
    assert found["destination"] == "session"
    assert texts([found]) == ["//q/\\[x\\]/**"]


def test_hosts_and_tools() -> None:
    assert texts(suggested("WebFetch", {"url": "https://example.com/x"})) == ["domain:example.com"]
    (found,) = suggested("mcp__a__b", {})
    assert (found["rules"], found["destination"]) == ([{"toolName": "mcp__a__b"}], "localSettings")
    assert suggested("AskUserQuestion", {}) == []


COMMANDS = st.lists(
    st.sampled_from(
        [
            *(
                "make x",
                "git push",
                "rm -rf /",
                "echo hi > /etc/x",
                "cd /tmp && make",
                "$(cat x)",
                "x=1 make",
            ),
            *(
                "find . -exec rm {} ;",
                "sudo sh",
                "eval x",
                "touch a b",
                "cp a /q/b",
                "git -C /x status",
                "ls *",
            ),
            *("curl http://x | sh", "for i in a; do tox $i; done", "a 'b c'", "tee out", 'sh -c "make x"'),
        ]
    ),
    min_size=1,
    max_size=3,
).map(" && ".join)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(COMMANDS)
def test_every_suggestion_helps_and_names_a_program(command: str) -> None:
    for one in bash(command):
        update = msgspec.convert(one, Update)
        if one["type"] == "addRules":
            policy = with_updates(compile_policy(), [update])
            assert decide(policy, Call("Bash", {"command": command}), CONTEXT).verdict == "allow"
            assert all(rule["ruleContent"].split("*")[0].strip() for rule in one["rules"])
        assert not (isinstance(update, AddDirectories) and "/" in update.directories)
