"""Teammates: they work, rest, go on, share tasks, and end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from checkrein.llm.port import Cancel, ToolUse
from checkrein.runtime.session.events import BackgroundEnded, Notice
from support.teams import says, starts, team, tells


def test_a_teammate_stays_and_goes_on_with_a_message(project: Path) -> None:
    replies = (
        says("lead", "", starts("ann"), text="go"),
        says("lead", "", tells("ann", "more, please"), text="Its last words:\n\nfirst"),
        says("lead", "all done", text="Its last words:\n\nsecond"),
        says("lead", "I wait"),
        says("ann", "first", text="work"),
        says("ann", "second", text="more, please"),
    )
    with team(project, *replies) as found:
        found.run()
        (task,) = found.session.conversation.services.crew.all()
        assert (task.state, task.resting) == ("running", True)
        assert "Message from lead, who leads your team. It is not from the user" in found.read_by("ann")
        assert found.session.result is not None
        assert found.session.result.text == "all done"
        assert not any(isinstance(one, BackgroundEnded) for one in found.seen)
        assert len([one for one in found.seen if isinstance(one, Notice) and "is idle" in one.text]) == 2
    assert task.state == "completed"


def test_it_needs_the_variable_or_a_team(project: Path) -> None:
    plain = ("Agent", {"description": "a job", "prompt": "work", "name": "ann"})
    for env, resting in ((None, False), ({**os.environ, "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1"}, True)):
        replies = (says("lead", "", plain, text="go"), {"text": "done", "repeat": 0})
        with team(project, *replies, env=env) as found:
            found.run()
            (task,) = found.session.conversation.services.crew.all()
            assert task.resting is resting
            assert (task.kept.team is not None) is resting


def test_names_that_are_taken_or_mean_others(project: Path) -> None:
    replies = (
        says("lead", "", starts("ann"), starts("ann"), starts("lead"), starts("a b"), text="go"),
        {"text": "well", "repeat": 0},
    )
    with team(project, *replies) as found:
        found.run()
        told = found.answers("Agent")
        for words, count in (("works in the back", 1), ("is there already", 1), ("can't be the name", 2)):
            assert sum(words in one for one in told) == count
        assert len(found.session.conversation.services.crew.all()) == 1


def test_a_shutdown_message_ends_it_and_frees_its_tasks(project: Path) -> None:
    replies = (
        says("lead", "", ("TaskCreate", {"subject": "s", "description": ""}), starts("ann"), text="go"),
        says("lead", "", tells("ann", '{"type": "shutdown_request"}'), text="is idle"),
        {**says("lead", "I wait"), "repeat": 0},
        says("ann", "", ("TaskUpdate", {"taskId": "1", "status": "in_progress"}), text="work"),
        says("ann", "half done"),
    )
    with team(project, *replies) as found:
        found.run()
        (task,) = found.session.conversation.services.crew.all()
        assert task.state == "completed"
        assert "It still has these tasks in progress: 1 (s)." in found.read_by("lead")
        assert "Tasks that are free again: 1 (s)." in found.read_by("lead")
        assert found.tasks() == {"1": ("pending", None)}


def test_only_the_lead_ends_others(project: Path) -> None:
    replies = (
        says("lead", "", starts("ann"), starts("bob"), text="go"),
        {**says("lead", "I wait"), "repeat": 0},
        says("bob", "ready", text="work"),
        says("ann", "", tells("bob", '{"type": "shutdown_request"}'), text="work"),
        {**says("ann", "sent"), "repeat": 0},
        {**says("bob", "no"), "repeat": 0},
    )
    with team(project, *replies) as found:
        found.run()
        assert {task.state for task in found.session.conversation.services.crew.all()} == {"running"}


def test_one_that_has_ended_comes_back_as_a_teammate(project: Path) -> None:
    replies = (
        says("lead", "", starts("ann"), text="go"),
        says("lead", "", tells("ann", '{"type": "shutdown_request"}'), text="Its last words:\n\nfirst"),
        says("lead", "", tells("ann", "again"), text="has completed"),
        {**says("lead", "I wait"), "repeat": 0},
        says("ann", "first", text="work"),
        says("ann", "second", text="again"),
    )
    with team(project, *replies) as found:
        found.run()
        (task,) = found.session.conversation.services.crew.all()
        assert task.resting
        assert "Its last words:\n\nsecond" in found.read_by("lead")


def test_stopping_a_resting_teammate(project: Path) -> None:
    replies = (
        says("lead", "", starts("ann"), text="go"),
        says("lead", "", ("TaskStop", {"task_id": "ann"}), text="is idle"),
        {**says("lead", "I wait"), "repeat": 0},
        says("ann", "first", text="work"),
    )
    with team(project, *replies) as found:
        found.run()
        (task,) = found.session.conversation.services.crew.all()
        assert task.state == "stopped"


def hook(command: str) -> dict[str, Any]:
    return {"hooks": {"TeammateIdle": [{"hooks": [{"type": "command", "command": command}]}]}}


def test_a_hook_sends_it_back_to_work(project: Path, write) -> None:
    once = "touch .claude/again; cat > .claude/told; echo write tests >&2; exit 2"
    write(".claude/settings.json", hook(f"test -e .claude/again && exit 0; {once}"))
    replies = (
        says("lead", "", starts("ann"), text="go"),
        {**says("lead", "I wait"), "repeat": 0},
        says("ann", "first", text="work"),
        says("ann", "with tests", text="write tests"),
    )
    with team(project, *replies) as found:
        found.run()
        assert "Its last words:\n\nwith tests" in found.read_by("lead")
        assert "Its last words:\n\nfirst" not in found.read_by("lead")
    told = (project / ".claude/told").read_text()
    assert '"teammate_name":"ann"' in told.replace(": ", ":")
    assert '"team_name":"crew"' in told.replace(": ", ":")


def test_a_hook_that_never_lets_it_rest_has_a_limit(project: Path, write) -> None:
    write(".claude/settings.json", hook("exit 2"))
    replies = (says("lead", "", starts("ann"), text="go"), {"text": "well", "repeat": 0})
    with team(project, *replies) as found:
        found.run()
        (task,) = found.session.conversation.services.crew.all()
        assert task.resting


def test_a_hook_ends_it(project: Path, write) -> None:
    write(".claude/settings.json", hook("""echo '{"continue": false}'"""))
    replies = (says("lead", "", starts("ann"), text="go"), {"text": "well", "repeat": 0})
    with team(project, *replies) as found:
        found.run()
        (task,) = found.session.conversation.services.crew.all()
        assert task.state == "completed"


def test_an_interrupt_of_the_lead_ends_all(project: Path) -> None:
    replies = (says("lead", "", starts("ann"), starts("bob"), text="go"), {"text": "well", "repeat": 0})
    with team(project, *replies) as found:
        found.run()
        found.session.control.interrupt()
        for task in found.session.conversation.services.crew.all():
            assert task.wait(5, Cancel())
            assert task.state == "completed"


def test_two_of_one_name_are_never_there(project: Path) -> None:
    """The first one has ended, a second has its name: the first can't come back as long as that is there."""
    end = tells("ann", '{"type": "shutdown_request"}')
    replies = (
        says("lead", "", starts("ann"), text="go"),
        says("lead", "", end, text="is idle"),
        says("lead", "", starts("ann"), text="has completed"),
        {**says("lead", "I wait"), "repeat": 0},
        {**says("ann", "well"), "repeat": 0},
    )
    with team(project, *replies) as found:
        found.run()
        first, second = found.session.conversation.services.crew.all()
        assert (first.state, second.resting) == ("completed", True)
        use = ToolUse("c", "SendMessage", {"to": first.id, "message": "again"})
        done = found.session.call(use)
        assert "is there already" in str(done.finished.content)
        assert first.state == "completed"
        assert found.session.conversation.services.crew.find(first.id) is first


def test_a_resumed_session_finds_its_teammates(project: Path) -> None:
    replies = (
        says("lead", "", ("TaskCreate", {"subject": "s", "description": ""}), starts("ann"), text="go"),
        {**says("lead", "I wait"), "repeat": 0},
        says("ann", "", ("TaskUpdate", {"taskId": "1", "status": "in_progress"}), text="work"),
        says("ann", "first"),
    )
    with team(project, *replies) as found:
        found.run()
        id = found.session.id
    again = (
        says("lead", "", tells("ann", "and then?"), text="go on"),
        {**says("lead", "I wait"), "repeat": 0},
        {**says("ann", "second", text="and then?"), "repeat": 0},
    )
    with team(project, *again, resume=id) as found:
        found.run("go on")
        (task,) = found.session.conversation.services.crew.all()
        assert task.resting
        assert "Message from lead, who leads your team" in found.read_by("ann")
        assert "Its last words:\n\nsecond" in found.read_by("lead")
        assert found.tasks() == {"1": ("pending", None)}


def test_one_that_fails_frees_its_tasks_and_its_name(project: Path) -> None:
    replies = (
        says("lead", "", ("TaskCreate", {"subject": "s", "description": ""}), starts("ann"), text="go"),
        says("lead", "", starts("ann", "work again"), text="has failed"),
        {**says("lead", "I wait"), "repeat": 0},
        says("ann", "", ("TaskUpdate", {"taskId": "1", "owner": "ann"}), text="work"),
        {**says("ann", "", tool_result="updated"), "fault": {"status": 400, "after": 0}},
        says("ann", "better", text="work again"),
    )
    with team(project, *replies) as found:
        found.run()
        states = [task.state for task in found.session.conversation.services.crew.all()]
        assert states == ["failed", "running"]
        assert found.tasks() == {"1": ("pending", None)}


def test_what_the_lead_may_not_a_teammate_may_not(project: Path, write) -> None:
    write(".claude/settings.json", {"permissions": {"deny": ["Bash(touch *)"]}})
    replies = (
        says("lead", "", starts("ann"), text="go"),
        {**says("lead", "I wait"), "repeat": 0},
        says("ann", "", ("Bash", {"command": "touch made"}), text="work"),
        {**says("ann", "well"), "repeat": 0},
    )
    with team(project, *replies) as found:
        found.run()
        assert "Bash(touch *)" in found.answers("Bash")[0]
    assert not (project / "made").exists()


TESTER = "---\nname: tester\ndescription: d\ntools: Read\nskills: s\n---\nTest it."
SKILL = "---\nname: s\ndescription: d\n---\nSKILL TEXT"


@pytest.mark.project({".claude/agents/tester.md": TESTER, ".claude/skills/s/SKILL.md": SKILL})
def test_a_definition_gives_tools_and_text_but_no_skills(project: Path) -> None:
    replies = (
        says("lead", "", starts("ann", subagent_type="tester"), text="go"),
        {"text": "well", "repeat": 0},
    )
    with team(project, *replies) as found:
        found.run()
        (request,) = found.requests("ann")
        system = "\n".join(block.text for block in request.system)
        assert system.rstrip().endswith("Test it.")
        assert len(system) > 500, "the usual prompt comes first"
        assert "SKILL TEXT" not in found.read_by("ann")
        (task,) = found.session.conversation.services.crew.all()
        assert task.session is not None
        names = set(task.session.conversation.host.tools.names())
        assert {"Read", "SendMessage", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate"} <= names
        assert not names & {"Bash", "Edit", "Write", "Agent", "CronCreate"}


def test_hooks_of_tasks_learn_who_works_on_them(project: Path, write) -> None:
    command = {"type": "command", "command": "cat >> .claude/told"}
    group = [{"hooks": [command]}]
    write(".claude/settings.json", {"hooks": {"TaskCreated": group, "TaskCompleted": group}})
    replies = (
        says("lead", "", starts("ann"), text="go"),
        {**says("lead", "I wait"), "repeat": 0},
        says("ann", "", ("TaskCreate", {"subject": "s", "description": ""}), text="work"),
        says("ann", "", ("TaskUpdate", {"taskId": "1", "status": "completed"}), tool_result="created"),
        {**says("ann", "well"), "repeat": 0},
    )
    with team(project, *replies) as found:
        found.run()
        assert found.tasks() == {"1": ("completed", "ann")}
    told = (project / ".claude/told").read_text()
    assert told.count('"teammate_name"') == 2
    assert told.count('"agent_id"') == 2
