"""Ways around what binds a parent, as somebody would try them who reads the code."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.origin import Origin
from checkrein.model.rule import parse_rule
from checkrein.runtime.session.control import Answer, ScriptedAsker
from checkrein.runtime.session.events import Event, ToolFinished
from checkrein.runtime.session.session import Session
from support.agents import below, definition, files, heard, lived, order, orders, said
from support.files import lay
from support.repositories import git, make_repository
from support.sessions import call, open_session

NOW = {"run_in_background": False}
END = {"text": "end", "repeat": 0}
REPORT = {"text": "r"}
ERRAND = "---\ndescription: d\ncontext: fork\nagent: worker\n---\nDo the CRAFT.\n"
FORKS = {**os.environ, "CLAUDE_CODE_FORK_SUBAGENT": "1"}
DEEP = {".claude/agents/deep.md": definition("You are DEEP.", "deep", tools="Bash, Write")}
FREE = {"mode": "bypassPermissions", "allow_bypass": True}
DIG = orders(order("dig", "deep", **NOW))


def requests(session: Session) -> Any:
    return session.conversation.models.model.requests  # type: ignore[attr-defined]


def deny(session: Session, text: str) -> None:
    rule = parse_rule(text, "deny", Origin("later", "user"))
    session.conversation.gate.tighten(gone=(), added=[rule])


def said_by(events: list[Event], *names: str) -> list[str]:
    """The refusals of these tools."""
    return [
        str(one.content)
        for one in events
        if isinstance(one, ToolFinished) and one.name in names and one.is_error
    ]


SKILL = files() | {
    ".claude/skills/craft/SKILL.md": ERRAND,
    ".claude/settings.json": {"permissions": {"allow": ["Skill"]}},
}


def hooked(command: str) -> dict[str, Any]:
    """A project whose worktrees a hook makes."""
    hook = {"hooks": [{"type": "command", "command": command}]}
    return {".claude/settings.json": {"hooks": {"WorktreeCreate": [hook]}}}


@pytest.mark.parametrize("place", ["/", "..", ".", "$HOME"])
def test_a_hook_makes_no_worktree_that_holds_more_than_a_checkout(tmp_path: Path, place: str) -> None:
    project = make_repository(tmp_path / "project")
    lay(project, files(isolation="worktree") | hooked(f"echo {place}"))
    outside = {"file_path": str(tmp_path / "made"), "content": "x"}
    replies = (*below(call("Write", **outside), REPORT), orders(order(**NOW)), END)
    with open_session(project, *replies, mode="acceptEdits") as session:
        (text,) = said_by(lived(session), "Agent")
        assert "holds more than a checkout" in text
        assert heard(requests(session)) == []


def test_a_worktree_of_a_hook_keeps_the_whole_checkout_out_of_reach(tmp_path: Path) -> None:
    project = make_repository(tmp_path / "project")
    lay(project, files(isolation="worktree") | hooked("mkdir -p ../other; echo ../../other"))
    (tmp_path / "other").mkdir()
    writes = [call("Write", file_path=str(project / name), content="x") for name in ("sub/made", "made")]
    inside = call("Write", file_path=str(tmp_path / "other/made"), content="x")
    replies = (*below(*writes, inside, REPORT), call("Bash", command="cd sub"), orders(order(**NOW)), END)
    with open_session(project, *replies, **FREE) as session:
        assert len(said_by(lived(session), "Write")) == 2
    assert not (project / "made").exists()
    assert (tmp_path / "other/made").exists()


@pytest.mark.parametrize("rule", ["Read(~/project/secret.txt)", "Read(//**/project/secret.txt)"])
def test_what_a_rule_denies_is_denied_in_the_copy_too(
    tmp_path: Path, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    project = make_repository(tmp_path / "project")
    (project / "secret.txt").write_text("marigold")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "more")
    settings = {".claude/settings.json": {"permissions": {"deny": [rule]}}}
    lay(project, files(isolation="worktree") | settings)
    tries = (call("Read", file_path="secret.txt"), call("Bash", command="cat secret.txt"))
    with open_session(project, *below(*tries, REPORT), orders(order(**NOW)), END, **FREE) as session:
        assert len(said_by(lived(session), "Read", "Bash")) == 2
        assert "marigold" not in said(heard(requests(session))[-1].messages)


@pytest.mark.project(files(disallowedTools="Bash"))
def test_an_agent_without_bash_runs_no_command_in_another_way(project: Path) -> None:
    watch = call("Monitor", command="touch made", description="d", timeout_ms=5000, persistent=False)
    with open_session(project, *below(watch, REPORT), orders(order(**NOW)), END, **FREE) as session:
        assert len(said_by(lived(session), "Monitor")) == 1
    assert not (project / "made").exists()


@pytest.mark.project(files())
@pytest.mark.parametrize("kind", ["scripted", "replay", "local"])
def test_no_call_chooses_a_file_as_the_model(project: Path, kind: str) -> None:
    (project / "made").write_text(json.dumps([{"text": "yes"}]))
    begun = orders(order(model=f"{kind}:{project}/made", **NOW))
    with open_session(project, *below(REPORT), begun, END, **FREE) as session:
        (text,) = said_by(lived(session), "Agent")
        assert "only the user can choose it" in text


@pytest.mark.project(SKILL)
@pytest.mark.parametrize("rule", ["Agent(worker)", "Agent"])
def test_a_forked_skill_starts_no_agent_that_is_denied_meanwhile(project: Path, rule: str) -> None:
    with open_session(project, *below(REPORT), call("Skill", skill="craft"), END) as session:
        assert "worker" in session.conversation.offer.agents
        deny(session, rule)
        (text,) = said_by(lived(session), "Skill")
        assert rule in text
        assert heard(requests(session)) == []


@pytest.mark.project(files())
@pytest.mark.parametrize("rule", ["Agent(worker)", "Agent"])
def test_a_message_continues_no_agent_that_is_denied_meanwhile(project: Path, rule: str) -> None:
    message = call("SendMessage", to="x", message="more", summary="s")
    replies = (orders(order(name="x", **NOW)), {"text": "mid"}, message, END)
    with open_session(project, *below(REPORT, REPORT), *replies) as session:
        lived(session)
        deny(session, rule)
        (text,) = said_by(lived(session, "second"), "SendMessage")
        assert rule in text
        assert len(heard(requests(session))) == 1


@pytest.mark.project(files())
def test_forks_lead_no_deeper_than_the_limit(project: Path) -> None:
    env = {**FORKS, "CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH": "1"}
    replies = (orders(order("f", "fork", **NOW)), orders(order(**NOW)), {"text": "fork done"}, END)
    with open_session(project, *below(REPORT), *replies, env=env) as session:
        (text,) = said_by(lived(session), "Agent")
        assert "1 deep" in text
        assert heard(requests(session)) == []


NO_BASH = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "exit 2"}]}]}


@pytest.mark.project(files(hooks=json.dumps(NO_BASH)) | DEEP)
def test_a_hook_of_a_child_judges_the_calls_of_a_grandchild(project: Path) -> None:
    steps = (*below(call("Bash", command="touch deep"), REPORT, system="DEEP"), *below(DIG, REPORT))
    with open_session(project, *steps, orders(order(**NOW)), END, **FREE) as session:
        assert len(said_by(lived(session), "Bash")) == 1
    assert not (project / "deep").exists()


@pytest.mark.project(files(disallowedTools='["Bash(touch *)", "Write"]') | DEEP)
def test_what_a_child_may_not_do_a_grandchild_may_not_do(project: Path) -> None:
    write = call("Write", file_path="made", content="x")
    steps = (*below(call("Bash", command="touch deep"), write, REPORT, system="DEEP"), *below(DIG, REPORT))
    with open_session(project, *steps, orders(order(**NOW)), END, **FREE) as session:
        assert len(said_by(lived(session), "Bash", "Write")) == 2
    assert not (project / "deep").exists()
    assert not (project / "made").exists()


@pytest.mark.project(files(tools="Agent, Read"))
def test_a_fork_of_a_child_has_no_more_than_the_child(project: Path) -> None:
    steps = below(orders(order("f", "fork", **NOW)), call("Bash", command="touch forked"), REPORT, REPORT)
    with open_session(project, *steps, orders(order(**NOW)), END, env=FORKS, **FREE) as session:
        assert len(said_by(lived(session), "Bash")) == 1
    assert not (project / "forked").exists()


@pytest.mark.project(files(permissionMode="plan"))
def test_a_fork_of_a_plan_is_a_plan(project: Path) -> None:
    write = call("Write", file_path="made", content="x")
    steps = below(orders(order("f", "fork", **NOW)), write, REPORT, REPORT)
    with open_session(project, *steps, orders(order(**NOW)), END, allowed=("Write",), env=FORKS) as session:
        assert len(said_by(lived(session), "Write")) == 1
    assert not (project / "made").exists()


SESSION_TOOLS = (
    call("CronCreate", cron="* * * * *", prompt="p"),
    call("ScheduleWakeup", delaySeconds=60, prompt="p", reason="r"),
    {"tool_calls": [{"name": "EnterWorktree", "input": {"name": "x"}}]},
)


@pytest.mark.project(files())
@pytest.mark.parametrize("type", ["worker", "fork"])
def test_nobody_below_has_what_belongs_to_the_session(project: Path, type: str) -> None:
    steps = (*SESSION_TOOLS, REPORT)
    turns = below(*steps) if type == "worker" else []
    forked = steps if type == "fork" else ()
    with open_session(project, *turns, orders(order("t", type, **NOW)), *forked, END, env=FORKS, **FREE) as s:
        assert len(said_by(lived(s), "CronCreate", "ScheduleWakeup", "EnterWorktree")) == 3


@pytest.mark.project(files())
def test_one_that_gets_no_thread_has_failed_and_says_so(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        if thread.name.startswith("agent-"):
            raise RuntimeError("can't start new thread")
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    with open_session(project, *below(REPORT), orders(order()), END) as session:
        lived(session)
        (task,) = session._agents.all()  # type: ignore[union-attr]
        assert task.state == "failed"
        assert said(requests(session)[-1].messages).count("can't start new thread") == 1
        assert not session.control.wakes.awaited


GIT = (
    *("git update-ref refs/heads/main HEAD", "git push . HEAD:main -f", "git fetch . HEAD:other -f"),
    *("git branch -f other HEAD", "git symbolic-ref refs/heads/other refs/heads/main", "git tag evil"),
    *("git config user.name evil", "git remote add evil /nowhere", "git worktree add ../evil"),
    *("git worktree prune", "git worktree unlock .", "git replace HEAD HEAD~1", "git notes add -m x"),
    *("git -c core.worktree=../../.. checkout -- .", "git bundle create ../../../b HEAD"),
    *("git archive -o ../../../z.tar HEAD", "git format-patch -o ../../../pp -1"),
    *("git diff --output=../../../d HEAD~1", "cp a.txt ../../../a.txt", "tar cf ../../../t.tar a.txt"),
    *("ln -s ../../.. up && echo z > up/a.txt", "echo 'gitdir: ../../../.git' > .git"),
    "python3 -c \"open('../../../a.txt', 'w')\"",
)


def test_no_git_of_a_worktree_changes_the_rest_of_the_repository(tmp_path: Path) -> None:
    project = make_repository(tmp_path / "p")
    (project / ".claude/agents").mkdir(parents=True)
    (project / ".claude/agents/worker.md").write_text(definition(isolation="worktree"))
    git(project, "add", "-A")
    git(project, "commit", "-qm", "agent")
    git(project, "branch", "other")
    before = git(project, "rev-parse", "main", "other")
    work = "echo y > a.txt && git add a.txt && git commit -qm work"
    steps = below(*(call("Bash", command=text) for text in (work, *GIT)), REPORT)
    with open_session(project, *steps, orders(order(**NOW)), END, **FREE) as session:
        done = [one for one in lived(session) if isinstance(one, ToolFinished) and one.name == "Bash"]
    assert not done[0].is_error
    assert git(project, "rev-parse", "main", "other") == before
    assert git(project, "status", "--porcelain") == ""
    assert git(project, "tag") == ""
    assert git(project, "config", "user.name") == "a"
    assert (project / "a.txt").read_text() == "a\n"
    assert sorted(os.listdir(project)) == [".claude", ".git", "a.txt", "sub"]
    assert len(list((project / ".claude/worktrees").iterdir())) == 1


GUARDED = "test -e go || { echo 'no agents now' >&2; exit 2; }"
HOOKED = {"PreToolUse": [{"matcher": "Agent", "hooks": [{"type": "command", "command": GUARDED}]}]}


@pytest.mark.project(
    files()
    | {
        "go": "",
        ".claude/skills/craft/SKILL.md": ERRAND,
        ".claude/settings.json": {"permissions": {"allow": ["Skill"]}, "hooks": HOOKED},
    }
)
@pytest.mark.parametrize(
    "again", [call("SendMessage", to="x", message="more", summary="s"), call("Skill", skill="craft")]
)
def test_a_hook_for_agents_judges_messages_and_forked_skills(project: Path, again: dict[str, Any]) -> None:
    replies = (orders(order(name="x", **NOW)), {"text": "mid"}, again, END)
    with open_session(project, *below(REPORT, REPORT), *replies) as session:
        lived(session)
        (project / "go").unlink()
        (text,) = said_by(lived(session, "second"), "SendMessage", "Skill")
        assert "no agents now" in text
        assert len(heard(requests(session))) == 1


@pytest.mark.project(
    files()
    | {
        ".claude/skills/craft/SKILL.md": ERRAND,
        ".claude/settings.json": {"permissions": {"allow": ["Skill"], "ask": ["Agent(worker)"]}},
    }
)
@pytest.mark.parametrize("verdict", ["allow", "deny"])
def test_a_question_about_an_agent_is_asked_for_a_forked_skill(project: Path, verdict: Any) -> None:
    asker = ScriptedAsker(Answer(verdict=verdict))
    with open_session(project, *below(REPORT), call("Skill", skill="craft"), END, asker=asker) as session:
        lived(session)
        assert len(heard(requests(session))) == (verdict == "allow")
    (question,) = asker.questions
    assert question.tool == "Agent"
