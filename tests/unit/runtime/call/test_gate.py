"""The gate: who decides, what a child is bound by, and when rules begin and end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from checkrein.llm.port import Cancel
from checkrein.policy.auto import ClassifierAnswer
from checkrein.policy.policy import Policy, compile_policy
from checkrein.policy.tools import builtin_tools, effects
from checkrein.policy.updates import Update
from checkrein.policy.values import Call, Context, Decision, HookVerdict
from checkrein.runtime.call import gate as gate_module
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.call.refusal import Judgement, refusal
from checkrein.runtime.session.control import Answer, Question, ScriptedAsker
from support.calls import SETTINGS, make_gate, rules


class Hooks:
    """PermissionRequest hooks with one answer; by default they leave it open."""

    def __init__(self, answer: Answer | None = None) -> None:
        self.answer = answer
        self.permitted: list[Update] = []

    def by_hooks(self, question: Question) -> Answer | None:
        return self.answer

    def permit(self, updates: Sequence[Update], by: str) -> None:
        self.permitted += updates


OPEN = Hooks()


def judge(
    gate: Gate,
    tool: str,
    input: dict[str, Any],
    hooks: tuple[HookVerdict, ...] = (),
    asks: Hooks | None = OPEN,
) -> Judgement:
    question = Question(tool=tool, input=input, call_id="c1", reason="")
    return gate.judge(question, "/p", hooks, asks, Cancel())


def verdict(gate: Gate, tool: str, **input: str) -> str:
    return gate.decide(tool, input, "/p").verdict


def test_a_rule_refuses_with_its_file_and_line() -> None:
    found = judge(make_gate("allow Bash(ls)", "deny Bash(rm *)"), "Bash", {"command": "ls && rm x"})
    assert (found.allowed, found.by) == (False, "rule")
    assert (found.decision.rule, str(found.decision.origin)) == ("Bash(rm *)", f"{SETTINGS}:2")
    assert refusal(found, "/p").endswith("Rule: Bash(rm *) (.claude/settings.json:2).")
    assert f"({SETTINGS}:2)" in refusal(found, "/elsewhere"), "a file outside is named in full"


def test_what_is_approved_are_real_paths_and_hosts(tmp_path: Any) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a").write_text("x")
    (tmp_path / "link").symlink_to("real")
    gate = make_gate("allow WebFetch(domain:x.org)", root=str(tmp_path))
    question = Question(tool="Read", input={"file_path": "link/a"}, call_id="c", reason="")
    found = gate.judge(question, str(tmp_path), (), OPEN, Cancel())
    assert found.allowed
    assert found.paths == (str(tmp_path / "real/a"),)
    fetched = judge(gate, "WebFetch", {"url": "https://x.org/y", "prompt": "p"})
    assert (fetched.allowed, fetched.hosts) == (True, ("x.org",))


class TestAsking:
    """A call that no rule decides."""

    TOUCH: dict[str, Any] = {"command": "touch x"}  # noqa: RUF012  never changed

    def test_nobody_is_there(self) -> None:
        found = judge(make_gate(), "Bash", self.TOUCH)
        assert (found.allowed, found.by) == (False, "mode")
        assert found.reason.endswith("and there is nobody to ask")

    def test_a_person_decides_and_sees_what_is_asked(self) -> None:
        asker = ScriptedAsker(Answer(verdict="allow"), Answer(verdict="deny", message="no", interrupt=True))
        gate = make_gate("ask Bash(touch *)", asker=asker)
        assert judge(gate, "Bash", self.TOUCH).allowed
        found = judge(gate, "Bash", self.TOUCH)
        assert (found.allowed, found.by, found.reason, found.interrupt) == (False, "asker", "no", True)
        assert [(one.tool, one.input, one.rule) for one in asker.questions] == [
            ("Bash", self.TOUCH, "Bash(touch *)")
        ] * 2

    def test_hooks_answer_before_a_person(self) -> None:
        asker = ScriptedAsker(Answer(verdict="allow"))
        gate = make_gate(asker=asker)
        found = judge(gate, "Bash", self.TOUCH, asks=Hooks(Answer(verdict="deny", message="h")))
        assert (found.allowed, found.reason) == (False, "h")
        assert asker.questions == []

    def test_calls_that_may_not_be_put_to_anybody(self) -> None:
        asker = ScriptedAsker(Answer(verdict="allow"))
        found = judge(make_gate(asker=asker), "Bash", self.TOUCH, asks=None)
        assert (found.allowed, asker.questions) == (False, [])

    def test_another_input_is_judged_again(self) -> None:
        other = Answer(verdict="allow", updated_input={"command": "rm x"})
        found = judge(make_gate("deny Bash(rm *)", asker=ScriptedAsker(other)), "Bash", self.TOUCH)
        assert (found.allowed, found.decision.rule) == (False, "Bash(rm *)")
        assert found.input == {"command": "rm x"}, "what was refused"
        fine = judge(make_gate("deny Bash(ls *)", asker=ScriptedAsker(other)), "Bash", self.TOUCH)
        assert (fine.allowed, fine.input) == (True, {"command": "rm x"})

    def test_what_is_allowed_or_denied_is_not_asked(self) -> None:
        asker = ScriptedAsker()
        gate = make_gate("allow Bash(touch *)", "deny Bash(rm *)", asker=asker)
        assert judge(gate, "Bash", self.TOUCH).allowed
        assert not judge(gate, "Bash", {"command": "rm x"}).allowed
        assert asker.questions == []


def test_the_verdict_of_a_hook_counts_and_never_beats_a_deny() -> None:
    gate = make_gate("deny Bash(rm *)")
    yes, no = HookVerdict("allow", "fine", None), HookVerdict("deny", "not that", None)
    assert judge(gate, "Bash", {"command": "touch x"}, (yes,)).allowed
    assert not judge(gate, "Bash", {"command": "rm x"}, (yes,)).allowed
    denied = judge(gate, "Bash", {"command": "echo 1"}, (no,))
    assert (denied.allowed, denied.by) == (False, "hook")
    assert refusal(denied, "/p") == "not that", "in the hook's own words"


class TestTurn:
    """What holds for one turn."""

    def test_grants_end_with_it(self) -> None:
        gate = make_gate()
        gate.grant_for_turn(rules("allow Bash(make *)"))
        assert verdict(gate, "Bash", command="make x") == "allow"
        gate.end_turn()
        assert verdict(gate, "Bash", command="make x") == "ask"

    def test_a_grant_is_taken_back_alone(self) -> None:
        gate = make_gate()
        first = gate.grant_for_turn(rules("allow Bash(make *)"))
        gate.grant_for_turn(rules("deny Bash(ls)"))
        first()
        assert verdict(gate, "Bash", command="make x") == "ask"
        assert verdict(gate, "Bash", command="ls") == "deny", "the other one still holds"

    def test_a_grant_that_is_taken_back_late_brings_nothing_back(self) -> None:
        gate = make_gate()
        gate.grant_for_turn(rules("allow Bash(make *)"))
        second = gate.grant_for_turn(rules("allow Bash(touch *)"))
        gate.end_turn()
        second()
        assert verdict(gate, "Bash", command="make x") == "ask"

    def test_a_grant_never_beats_a_deny(self) -> None:
        gate = make_gate("deny Bash(make *)")
        gate.grant_for_turn(rules("allow Bash(make *)"))
        assert verdict(gate, "Bash", command="make x") == "deny"

    def test_a_restriction_replaces_the_one_before_it_and_ends_too(self) -> None:
        gate = make_gate("allow Bash")
        gate.restrict_turn(compile_policy(rules("allow Bash", "deny Bash(make *)")))
        assert verdict(gate, "Bash", command="make x") == "deny"
        gate.restrict_turn(compile_policy(rules("allow Bash", "deny Bash(touch *)")))
        assert verdict(gate, "Bash", command="make x") == "allow"
        assert verdict(gate, "Bash", command="touch x") == "deny"
        gate.end_turn()
        assert verdict(gate, "Bash", command="touch x") == "allow"

    def test_a_restriction_can_not_widen(self) -> None:
        gate = make_gate("deny Bash(make *)")
        gate.restrict_turn(compile_policy(rules("allow Bash"), "bypassPermissions"))
        assert verdict(gate, "Bash", command="make x") == "deny"
        assert verdict(gate, "Bash", command="touch x") == "ask"


class TestTighten:
    """Settings that change while the session runs."""

    def test_an_approval_that_is_gone_ends_and_a_new_refusal_begins(self) -> None:
        gate = make_gate("allow Bash(make *)", "allow Bash(touch *)")
        gate.tighten(rules("allow Bash(make *)"), rules("deny Bash(touch *)"))
        assert verdict(gate, "Bash", command="make x") == "ask"
        assert verdict(gate, "Bash", command="touch x") == "deny"

    def test_nothing_widens(self) -> None:
        gate = make_gate("deny Bash(rm *)", "ask Bash(make *)")
        gate.tighten(rules("deny Bash(rm *)", "ask Bash(make *)"), rules("allow Bash"))
        assert verdict(gate, "Bash", command="rm x") == "deny"
        assert verdict(gate, "Bash", command="make x") == "ask"
        assert verdict(gate, "Bash", command="touch x") == "ask"

    def test_narrowing_adds_up(self) -> None:
        gate = make_gate("allow Bash")
        gate.narrow(compile_policy(rules("allow Bash", "deny Bash(make *)")))
        gate.narrow(compile_policy(rules("allow Bash", "deny Bash(touch *)")))
        assert [verdict(gate, "Bash", command=f"{one} x") for one in ("make", "touch", "stat")] == [
            "deny",
            "deny",
            "allow",
        ]


class TestChild:
    """A gate under another."""

    def test_the_parents_rules_bind(self) -> None:
        parent = make_gate("deny Read(secret)", "allow Bash(make *)")
        child = make_gate("allow Read", "allow Bash", above=parent, mode="bypassPermissions")
        assert verdict(child, "Read", file_path="/p/secret") == "deny"
        assert verdict(child, "Bash", command="touch x") == "ask", "the parent would be asked"
        assert verdict(child, "Bash", command="make x") == "allow"
        found = judge(child, "Read", {"file_path": "/p/secret"})
        assert (found.decision.rule, str(found.decision.origin)) == ("Read(secret)", f"{SETTINGS}:1")

    def test_its_own_rules_do_not_bind_the_parent(self) -> None:
        parent = make_gate("allow Bash(make *)")
        make_gate("deny Bash", above=parent)
        assert verdict(parent, "Bash", command="make x") == "allow"

    @pytest.mark.parametrize(
        "change",
        [
            lambda parent: parent.tighten(rules("allow Bash(make *)"), ()),
            lambda parent: parent.tighten((), rules("deny Bash(make *)")),
            lambda parent: parent.narrow(compile_policy()),
            lambda parent: parent.restrict_turn(compile_policy()),
            lambda parent: parent.grant_for_turn(rules("deny Bash(make *)")),
        ],
    )
    def test_it_follows_a_parent_that_tightens_later(self, change: Callable[[Gate], object]) -> None:
        parent = make_gate("allow Bash(make *)")
        child = make_gate("allow Bash(make *)", above=parent)
        below = make_gate("allow Bash(make *)", above=child)
        assert verdict(child, "Bash", command="make x") == verdict(below, "Bash", command="make x") == "allow"
        change(parent)
        assert verdict(child, "Bash", command="make x") != "allow"
        assert verdict(below, "Bash", command="make x") != "allow", "grandchildren too"

    def test_it_follows_the_parents_mode(self) -> None:
        parent = make_gate(mode="acceptEdits")
        child = make_gate(mode="acceptEdits", above=parent)
        assert verdict(child, "Write", file_path="/p/x") == "allow"
        parent.set_mode("default")
        assert verdict(child, "Write", file_path="/p/x") == "ask"

    def test_it_hears_of_the_end_of_the_parents_turn(self) -> None:
        parent = make_gate()
        parent.grant_for_turn(rules("allow Bash(make *)"))
        child = make_gate("allow Bash(make *)", above=parent)
        assert verdict(child, "Bash", command="make x") == "allow"
        parent.end_turn()
        assert verdict(child, "Bash", command="make x") == "ask"


def test_another_mode() -> None:
    gate = make_gate()
    gate.set_mode("acceptEdits")
    assert (gate.mode, verdict(gate, "Write", file_path="/p/x")) == ("acceptEdits", "allow")
    gate.set_mode("default")
    assert verdict(gate, "Write", file_path="/p/x") == "ask"


def test_tools_that_come_later_are_judged_by_what_they_do() -> None:
    gate = make_gate("allow mcp__fs", "deny Read(secret)")
    assert verdict(gate, "mcp__fs__peek", path="/p/secret") == "allow", "nothing is known of it"
    gate.know(builtin_tools().with_tool(effects("mcp__fs__peek", reads=("path",))))
    assert verdict(gate, "mcp__fs__peek", path="/p/secret") == "deny"


def test_an_untrusted_project() -> None:
    gate = make_gate("deny Bash(rm *)", trusted=False)
    assert verdict(gate, "Bash", command="rm x") == "deny"
    assert gate.context("/p").trusted is False


class Word:
    def __init__(self, answer: ClassifierAnswer) -> None:
        self.answer = answer

    def classify(self, call: Call, context: Context, decision: Decision) -> ClassifierAnswer:
        return self.answer


def test_the_classifier_decides_in_auto_mode_only() -> None:
    touch = {"command": "curl https://x.org"}
    auto = {word: make_gate(mode="auto", classifier=Word(word)) for word in ("allow", "block")}
    assert judge(auto["allow"], "Bash", touch).allowed
    blocked = judge(auto["block"], "Bash", touch)
    assert (blocked.allowed, blocked.by) == (False, "classifier")
    assert judge(make_gate(classifier=Word("allow")), "Bash", touch).by == "mode"


class Seeing:
    """Sees short commands only, and blocks all of them."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def classify(self, call: Call, context: Context, decision: Decision) -> ClassifierAnswer:
        self.seen.append(call.input["command"])
        return "unseen" if len(call.input["command"]) > 100 else "block"


def test_an_unseen_call_is_asked_about_and_another_input_is_classified_again() -> None:
    long = {"command": "curl https://x.org " + "x" * 100}
    assert not judge(make_gate(mode="auto", classifier=Seeing()), "Bash", long).allowed
    asker = ScriptedAsker(Answer(verdict="allow"))
    assert judge(make_gate(mode="auto", classifier=Seeing(), asker=asker), "Bash", long).allowed
    assert [question.input for question in asker.questions] == [long]
    rewriting = Hooks(Answer(verdict="allow", updated_input={"command": "curl https://y.org"}))
    seeing = Seeing()
    gate = make_gate(mode="auto", classifier=seeing, asker=ScriptedAsker())
    found = judge(gate, "Bash", long, asks=rewriting)
    assert (found.allowed, found.by) == (False, "classifier")
    assert seeing.seen == [long["command"], "curl https://y.org"]


def test_one_question_at_a_time() -> None:
    """Calls that run together do not ask over each other."""
    together = threading.Semaphore(1)

    class Slow:
        def ask(self, question: Question, cancel: Cancel) -> Answer:
            assert together.acquire(blocking=False), "another question is open"
            threading.Event().wait(0.02)
            together.release()
            return Answer(verdict="allow")

    gate = make_gate(asker=Slow())
    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.append(judge(gate, "Bash", {"command": "touch x"}).allowed))
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert found == [True] * 5


def test_a_change_is_not_lost_while_another_thread_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules that are added while a policy is put together hold afterwards."""
    gate = make_gate("allow Bash(make *)", above=make_gate("allow Bash"))
    changes = threading.Thread(target=lambda: gate.tighten((), rules("deny Bash(make *)")))
    really = gate_module.meet

    def slow(parent: Policy, child: Policy) -> Policy:
        if changes.ident is None:
            changes.start()
            changes.join(0.2)
        return really(parent, child)

    monkeypatch.setattr(gate_module, "meet", slow)
    assert verdict(gate, "Bash", command="make x") == "allow", "as it was when it was asked"
    changes.join(20)
    assert verdict(gate, "Bash", command="make x") == "deny"


def test_the_approved_path_is_the_one_that_was_judged(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link that changes right after the decision leads nowhere new: nothing looks at it a second time."""
    (tmp_path / "a.txt").write_text("fine")
    link = tmp_path / "link"
    link.symlink_to("a.txt")
    judged = gate_module.decide

    def decide_and_swap(*given: Any, **more: Any) -> Decision:
        decision = judged(*given, **more)
        link.unlink()
        link.symlink_to(".env")
        return decision

    monkeypatch.setattr(gate_module, "decide", decide_and_swap)
    gate = make_gate("deny Read(.env)", root=str(tmp_path))
    question = Question(tool="Read", input={"file_path": "link"}, call_id="c", reason="")
    found = gate.judge(question, str(tmp_path), (), OPEN, Cancel())
    assert (found.allowed, found.paths) == (True, (str(tmp_path / "a.txt"),))


def test_a_link_that_changes_all_the_time_never_leads_to_a_denied_file(tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("fine")
    (tmp_path / ".env").write_text("SECRET")
    link = tmp_path / "link"
    link.symlink_to("a.txt")
    gate = make_gate("deny Read(.env)", root=str(tmp_path))
    question = Question(tool="Read", input={"file_path": "link"}, call_id="c", reason="")
    stopped = threading.Event()

    def swap() -> None:
        while not stopped.is_set():
            for target in (".env", "a.txt"):
                other = tmp_path / "other"
                other.symlink_to(target)
                other.replace(link)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        paths = set()
        for _ in range(400):
            found = gate.judge(question, str(tmp_path), (), OPEN, Cancel())
            if found.allowed:
                paths.update(found.paths)
    finally:
        stopped.set()
        thread.join()
    assert paths <= {str(tmp_path / "a.txt")}


@pytest.mark.parametrize("command", ["cat l*", "cat */in.txt", "grep -R x sub", "head sub/*", "cat up/.env"])
def test_links_behind_globs_and_below_trees_count(tmp_path: Any, command: str) -> None:
    (tmp_path / ".env").write_text("SECRET")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/in.txt").symlink_to("../.env")
    (tmp_path / "l1").symlink_to(".env")
    (tmp_path / "up").symlink_to(".")
    gate = make_gate("allow Bash", "deny Read(.env)", root=str(tmp_path))
    assert gate.decide("Bash", {"command": command}, str(tmp_path)).verdict != "allow"
    (tmp_path / "l1").unlink()
    assert gate.decide("Bash", {"command": "cat l*"}, str(tmp_path)).verdict == "allow"
