"""The answers to the exec guard: rules at the start of a program, and the people who are asked then."""

from __future__ import annotations

from checkrein.llm.port import Cancel
from checkrein.policy.starts import Answer as StartAnswer
from checkrein.policy.starts import Started
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.call.starts import Starts
from checkrein.runtime.session.control import Answer, ScriptedAsker
from support.calls import make_gate


def started(*argv: str) -> Started:
    return Started(pid=7, program=f"/usr/bin/{argv[0]}", names=(argv[0],), argv=argv, cwd="/p")


def answer(gate: Gate, text: str | None, *argv: str) -> StartAnswer:
    return Starts(gate, text, "/p", "c1").judge(started(*argv), Cancel())


def test_a_deny_names_its_rule_and_place() -> None:
    found = answer(make_gate("allow Bash", "deny Bash(rm *)"), "$X f", "rm", "f")
    assert not found.allow
    assert found.rule == "Bash(rm *)"
    assert found.origin is not None
    assert found.origin.span is not None
    assert found.origin.span.line == 2


def test_what_no_rule_names_starts() -> None:
    assert answer(make_gate("deny Bash(rm *)"), "ls", "ls").allow


def test_an_ask_rule_asks_with_the_real_words() -> None:
    asker = ScriptedAsker(Answer(verdict="allow"))
    gate = make_gate("allow Bash", "ask Bash(git push *)", asker=asker)
    assert answer(gate, "git $X", "git", "push", "origin main").allow
    (question,) = asker.questions
    assert question.input["command"] == "git push 'origin main'"
    assert question.rule == "Bash(git push *)"


def test_a_refusal_of_the_user_refuses_the_start() -> None:
    asker = ScriptedAsker(Answer(verdict="deny", message="not today"))
    gate = make_gate("allow Bash", "ask Bash(git push *)", asker=asker)
    found = answer(gate, "git $X", "git", "push")
    assert (found.allow, found.reason) == (False, "not today")


def test_nobody_is_asked_again_for_a_command_that_was_approved_as_text() -> None:
    asker = ScriptedAsker()
    gate = make_gate("allow Bash", "ask Bash(git push *)", asker=asker)
    assert answer(gate, "git push origin", "git", "push", "origin").allow
    assert not answer(gate, "git push origin", "git", "push", "elsewhere").allow
    assert len(asker.questions) == 1


def test_where_nobody_can_be_asked_a_question_is_a_refusal() -> None:
    found = answer(make_gate("allow Bash", "ask Bash(git push *)"), "git $X", "git", "push")
    assert not found.allow
    assert "nobody to ask" in found.reason


def test_in_the_mode_dont_ask_nobody_is_asked() -> None:
    asker = ScriptedAsker(Answer(verdict="allow"))
    gate = make_gate("allow Bash", "ask Bash(git push *)", mode="dontAsk", asker=asker)
    assert not answer(gate, "git $X", "git", "push").allow
    assert asker.questions == []


def test_the_rules_of_the_parent_bind_a_childs_programs() -> None:
    above = make_gate("allow Bash", "deny Bash(rm *)")
    assert not answer(make_gate("allow Bash", above=above), "$X f", "rm", "f").allow
