"""Auto mode in a session: the classifier answers what rules leave open, and pauses after too many blocks."""

from __future__ import annotations

from pathlib import Path

from checkrein.runtime.session.control import Answer, Question
from checkrein.testing import Call, Match, Turn


def push(number: int) -> Turn:
    return Turn(tool_calls=(Call("Bash", {"command": f"./deploy {number}"}),), when=Match(tools=("Bash",)))


def verdicts(*words: str) -> list[Turn]:
    """Answers for requests without tools: the classifier's."""
    return [Turn(text=word, when=Match(text="call_to_judge")) for word in words]


def done() -> Turn:
    return Turn(text="done", when=Match(tools=("Bash",)))


def script(project: Path) -> None:
    (project / "deploy").write_text("#!/bin/sh\necho deployed $1\n")
    (project / "deploy").chmod(0o755)


def test_an_allowed_call_runs(play, project: Path) -> None:
    script(project)
    run = play(push(1), done(), *verdicts("allow"), mode="auto")
    assert [tool.content for tool in run.tools] == ["deployed 1"]


def test_a_blocked_call_does_not(play, project: Path) -> None:
    script(project)
    run = play(push(1), done(), *verdicts("check", "It ships.\nblock"), mode="auto")
    assert run.tools[0].refused
    assert [denial.tool_name for denial in run.result.denials] == ["Bash"]


def test_no_verdict_is_a_refusal(play, project: Path) -> None:
    script(project)
    run = play(push(1), done(), *verdicts("hm", "hm"), mode="auto")
    assert run.tools[0].refused


def test_three_blocks_in_a_row_pause_the_classifier(play, project: Path) -> None:
    script(project)
    words = ["check", "block"] * 3
    run = play(*[push(n) for n in range(5)], done(), *verdicts(*words), mode="auto")
    assert [tool.refused for tool in run.tools] == [True] * 5
    judged = [r for r in run.model.requests if not r.tools]
    assert len(judged) == 6


def test_explicit_rules_are_not_left_to_the_classifier(play, project: Path) -> None:
    script(project)
    run = play(push(1), done(), *verdicts("allow"), mode="auto", disallowed=("Bash(./deploy *)",))
    assert run.tools[0].refused
    assert run.tools[0].rule == "Bash(./deploy *)"


LONG = "./deploy 1 " + "#" * 200_000 + "\n./deploy 2"


def long() -> Turn:
    return Turn(tool_calls=(Call("Bash", {"command": LONG}),), when=Match(tools=("Bash",)))


def test_a_call_that_it_can_not_see_whole_does_not_run(play, project: Path) -> None:
    script(project)
    run = play(long(), done(), *verdicts("allow"), mode="auto")
    assert run.tools[0].refused
    assert "too long for the classifier" in str(run.tools[0].content)
    assert [r for r in run.model.requests if not r.tools] == []


def test_a_person_may_allow_it(play, project: Path) -> None:
    script(project)
    asked: list[Question] = []

    class Person:
        def ask(self, question: Question, cancel: object) -> Answer:
            asked.append(question)
            return Answer(verdict="allow")

    run = play(long(), done(), mode="auto", asker=Person())
    assert not run.tools[0].refused
    assert [question.input["command"] for question in asked] == [LONG]


def test_the_text_of_a_typed_command_is_not_the_users_word(play, project: Path) -> None:
    script(project)
    (project / ".claude/commands").mkdir(parents=True)
    (project / ".claude/commands/c.md").write_text("SAID BY THE FILE")
    run = play(push(1), done(), *verdicts("allow"), mode="auto", prompt="/c")
    (judged,) = [r for r in run.model.requests if not r.tools]
    assert '{"command_text":"SAID BY THE FILE' in repr(judged)
