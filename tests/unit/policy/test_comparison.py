"""Two revisions of a policy: what became looser or tighter, by which rule."""

from __future__ import annotations

import pytest

from checkrein.base.origin import Origin, Span
from checkrein.facts.policy_calls import EVERYDAY, HARMFUL
from checkrein.model.items import Hook
from checkrein.model.rule import Verdict, parse_rule
from checkrein.passes.calls import parse_call
from checkrein.policy.policy import compile_policy
from checkrein.policy.review.comparison import Comparison, Sample, compared
from checkrein.policy.review.past import PastCall, moved, shown
from checkrein.policy.review.witnesses import witnesses
from checkrein.policy.situation import Situation
from checkrein.policy.tools import builtin_tools
from checkrein.policy.values import Call


def situation(root: str, **rules: str) -> Situation:
    made = [
        parse_rule(text, verdict, Origin(f"{root}/.claude/settings.json", "project", Span(7)), anchor=root)  # type: ignore[arg-type]
        for verdict, text in rules.items()
    ]
    return Situation(policy=compile_policy(made), root=root, home="/h")


def difference(before: dict[str, str], after: dict[str, str]) -> Comparison:
    return compared(situation("/old", **before), situation("/new", **after), ())


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ("Bash(npm publish *)", "allow"),
        ("Bash(deploy:*)", "allow"),
        ("Bash(deploy --now)", "deny"),
        ("Bash", "deny"),
        ("Read(./secrets/**)", "deny"),
        ("Read(/docs/*.md)", "deny"),
        ("Read(//srv/data/**)", "allow"),
        ("Read(~/notes/**)", "allow"),
        ("Edit(/src/**)", "allow"),
        ("WebFetch(domain:example.org)", "allow"),
        ("WebFetch(domain:*.example.org)", "allow"),
        ("WebFetch", "deny"),
        ("mcp__tracker", "deny"),
        ("mcp__tracker__create", "allow"),
        ("Skill(deploy *)", "deny"),
        ("Agent(Explore)", "deny"),
    ],
)
def test_every_new_rule_shows(rule: str, verdict: Verdict) -> None:
    added = difference({}, {verdict: rule})
    assert added.changes, rule
    assert all(one.looser is (verdict == "allow") for one in added.changes)
    deciding = {(one.after.rule, one.after.origin) for one in added.changes}
    assert (rule, ".claude/settings.json:7") in deciding
    gone = difference({verdict: rule}, {})
    assert gone.looser is (verdict == "deny")
    assert {one.before.origin for one in gone.changes} == {".claude/settings.json:7"}


def test_the_same_rules_differ_in_nothing() -> None:
    same = {"allow": "Bash(make *)", "deny": "Read(./secrets/**)", "ask": "Edit(/src/**)"}
    found = difference(same, same)
    assert not found.differs
    assert found.calls


def test_a_call_of_somebodys_checkout() -> None:
    past = PastCall(call=Call("Read", {"file_path": "/home/bob/p/secrets/key"}), cwd="/home/bob/p/sub")
    found = compared(
        situation("/old"), situation("/new", deny="Read(/secrets/**)"), [Sample(past, "/home/bob/p", "file")]
    )
    assert ("Read(secrets/key)", "denied") in {(one.call, one.became) for one in found.changes}


def test_a_lost_hook_is_looser() -> None:
    origin = Origin("/old/.claude/settings.json", "project", Span(3))
    hook = Hook(name="PreToolUse", type="command", command="guard --token abcdef123456", origin=origin)
    before = Situation(policy=compile_policy(()), root="/old", home="/h", hooks=(hook,))
    found = compared(before, situation("/new"), ())
    (lost,) = found.hooks
    assert found.looser
    assert lost.lost
    assert lost.origin == ".claude/settings.json:3"
    assert "abcdef123456" not in lost.hook


def test_a_broken_rule_has_no_witness() -> None:
    rule = parse_rule("Bash(rm", "deny", Origin("f", "project"))
    assert list(witnesses(rule, "/p", "/h", builtin_tools())) == []


def test_moving_leaves_similar_paths_alone() -> None:
    past = PastCall(call=Call("Bash", {"command": "cat /p/a /p-x/b /x/p/c '/p' $HOME/p"}), cwd="/p/sub")
    found = moved(past, "/p", "/new")
    assert found.call.input["command"] == "cat /new/a /p-x/b /x/p/c '/new' $HOME/p"
    assert found.cwd == "/new/sub"
    assert moved(past, "/", "/new") is past


@pytest.mark.parametrize("text", [*EVERYDAY, *HARMFUL])
def test_built_in_calls_are_calls(text: str) -> None:
    call = parse_call(text)
    assert call.tool in builtin_tools()
    assert shown(call, builtin_tools()) == text


def test_a_hostile_call_is_one_short_line() -> None:
    line = shown(Call("Bash\x1b[2J\n", {"command": "a\nb\x1b]0;x\x07" + "z" * 9999}), builtin_tools())
    assert "\n" not in line
    assert "\x1b" not in line
    assert len(line) < 500
