"""Auto mode: what the classifier is asked, and what its answers do."""

from __future__ import annotations

import pytest

from checkrein.base.origin import Origin
from checkrein.model.rule import Verdict, parse_rule
from checkrein.policy.auto import Blocks, ScriptedClassifier, decide_auto, is_broad, settle
from checkrein.policy.decide import decide
from checkrein.policy.policy import compile_policy, meet
from checkrein.policy.values import Call, Context, Decision, HookVerdict

CONTEXT = Context(cwd="/p", root="/p", home="/h")
ORIGIN = Origin("settings.json", "user")


def auto(command: str, *rules: tuple[Verdict, str]) -> Decision:
    policy = compile_policy([parse_rule(text, behavior, ORIGIN) for behavior, text in rules], "auto")
    return decide(policy, Call("Bash", {"command": command}), CONTEXT)


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("ls", ()),
        ("npm test", (("allow", "Bash(npm test)"),)),
    ],
)
def test_rules_and_reading_need_no_classifier(command: str, rules: tuple[tuple[Verdict, str], ...]) -> None:
    assert auto(command, *rules).verdict == "allow"


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("make", ()),
        ("make", (("allow", "Bash"),)),
        ("make", (("allow", "Bash(*)"),)),
        ("python3 x.py", (("allow", "Bash(python3 *)"),)),
        ("npm run x", (("allow", "Bash(npm run:*)"),)),
        ("rm -rf /", (("allow", "Bash(rm *)"),)),
        ("echo x > .git/config", ()),
        ("$X", ()),
    ],
)
def test_what_is_open_goes_to_the_classifier(command: str, rules: tuple[tuple[Verdict, str], ...]) -> None:
    decision = auto(command, *rules)
    assert (decision.verdict, decision.classify) == ("ask", True)


def test_express_wishes_do_not() -> None:
    assert not auto("make", ("ask", "Bash(make *)")).classify
    assert auto("make", ("deny", "Bash(make *)")).verdict == "deny"
    policy = compile_policy((), "auto")
    assert not decide(policy, Call("AskUserQuestion", {}), CONTEXT).classify
    hooked = decide(policy, Call("Bash", {"command": "make"}), CONTEXT, hooks=[HookVerdict("ask")])
    assert not hooked.classify


def test_edits_in_the_project_run_and_others_do_not() -> None:
    policy = compile_policy((), "auto")
    assert decide(policy, Call("Edit", {"file_path": "/p/a"}), CONTEXT).verdict == "allow"
    assert decide(policy, Call("Edit", {"file_path": "/etc/a"}), CONTEXT).classify
    assert decide(policy, Call("Edit", {"file_path": "/p/.git/a"}), CONTEXT).classify


def test_under_another_layer_the_classifier_is_not_enough() -> None:
    both = meet(compile_policy((), "auto"), compile_policy((), "default"))
    assert not decide(both, Call("Bash", {"command": "make"}), CONTEXT).classify


def test_answers_settle() -> None:
    open_ = auto("make")
    assert settle(open_, "allow").verdict == "allow"
    assert settle(open_, "block").verdict == "deny"
    assert settle(open_, "none").verdict == "deny"
    closed = auto("make", ("ask", "Bash(make *)"))
    assert settle(closed, "allow") is closed


def test_blocks_pause_the_classifier() -> None:
    call = Call("Bash", {"command": "make"})
    classifier = ScriptedClassifier(["block", "block", "allow", "block", "none", "block", "block", "allow"])
    blocks = Blocks()
    verdicts = []
    for _ in range(8):
        decision, blocks = decide_auto(auto("make"), call, CONTEXT, classifier, blocks)
        verdicts.append(decision.verdict)
    assert verdicts == ["deny", "deny", "allow", "deny", "deny", "deny", "deny", "ask"]
    assert len(classifier.asked) == 7
    assert Blocks(0, 20).paused
    assert not Blocks(2, 19).paused
    assert ScriptedClassifier([]).classify(call, CONTEXT, auto("make")) == "none"


def test_broad_rules() -> None:
    for text in ("*", "python *", "python3:*", "bash *", "npm run *", "npx *", "sudo *", "node"):
        assert is_broad(text), text
    for text in ("git *", "npm test", "npm run build", "python3 -m pytest *", "make build"):
        assert not is_broad(text), text
