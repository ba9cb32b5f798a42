"""Putting a session together: what fails in the middle leaves nothing open, and what a child is given."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import CheckreinError
from checkrein.base.origin import Origin
from checkrein.llm.port import Cancel
from checkrein.model.view import View
from checkrein.passes.load import load
from checkrein.runtime.process.spawner import Command, Spawner
from checkrein.runtime.session import assembly, ground, opened
from checkrein.runtime.session.budget import Budget
from checkrein.runtime.session.channel import drained, ignored
from checkrein.runtime.session.control import Answer, ScriptedAsker
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import ScriptedModel
from support.calls import make_tool
from support.sessions import call, home, lines, locks, open_child, open_session

FURNISHING = (
    "Models",
    "Asides",
    "Record",
    "Gate",
    "hook_runner",
    "ToolState",
    "Bench",
    "ToolHost",
    "skill_kit",
    "Offer",
    "ToolView",
    "skill_listing",
    "LazyContext",
    "offered_segments",
    "Prompt",
    "Backdrop",
    "Conversation",
)
STEPS = [
    (ground, "memory_dir"),
    (ground, "Ground"),
    (ground, "Start"),
    *((assembly, name) for name in ("confinement", "children_env", "ToolSet", "results_dir", "env_file")),
    *((assembly, name) for name in ("Services", "Meter", "Checkpoints", *FURNISHING, "_keep")),
]


GUARD = {"type": "mcp_tool", "server": "guard", "tool": "check", "input": {}}


class BoomError(Exception):
    pass


def boom(*args: Any, **more: Any) -> Any:
    raise BoomError


class Watched(Spawner):
    """A spawner that is known to the test."""

    made: list[Watched] = []  # noqa: RUF012  emptied by the fixture

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.made.append(self)

    @property
    def is_closed(self) -> bool:
        try:
            return (
                self.run(
                    Command(argv=("true",), cwd="/", origin=Origin("x", "user"), purpose="t", env={}),
                    Cancel(),
                ).exit_code
                != 0
            )
        except CheckreinError:
            return True


@pytest.fixture(autouse=True)
def _watched(monkeypatch: pytest.MonkeyPatch) -> None:
    Watched.made.clear()
    monkeypatch.setattr(assembly, "Spawner", Watched)


def left_open() -> list[Watched]:
    return [one for one in Watched.made if not one.is_closed]


class TestFailure:
    @pytest.mark.parametrize(("module", "name"), STEPS, ids=lambda one: getattr(one, "__name__", one))
    def test_nothing_stays_open(
        self, project: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str
    ) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(module, name, boom)
            with pytest.raises(BoomError):
                open_session(project, mode="acceptEdits")
        assert locks() == []
        assert left_open() == []

    def test_the_search_would_find_what_is_open(self, project: Path) -> None:
        with open_session(project):
            assert len(locks()) == len(left_open()) == 1
        assert locks() == []
        assert left_open() == []

    @pytest.mark.parametrize("name", ["estimate", "prompts_of", "Opened"])
    def test_a_session_that_goes_on_is_free_again(
        self, project: Path, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        with open_session(project, {"text": "one"}) as session:
            list(session.run("go"))
        with monkeypatch.context() as patched:
            patched.setattr(opened, name, boom)
            with pytest.raises(BoomError):
                open_session(project, resume=session.id)
        assert locks() == []
        with open_session(project, {"text": "two"}, resume=session.id) as again:
            assert list(again.run("go"))[-1].result.text == "two"

    def test_a_recording_that_can_not_be_written(
        self, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("checkrein.llm.record.RecordingModel", boom)
        with pytest.raises(BoomError):
            open_session(project, record=str(tmp_path / "tape.jsonl"))
        assert locks() == []

    def test_telemetry_that_can_not_start(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("checkrein.runtime.session.telemetry.is_wanted", boom)
        with pytest.raises(BoomError):
            open_session(project, env={**os.environ, "CHECKREIN_TELEMETRY__OTEL": "1"})
        assert locks() == []
        assert left_open() == []

    @pytest.mark.parametrize("name", FURNISHING)
    def test_a_child_that_fails_leaves_its_parent_whole(
        self, project: Path, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        with open_session(project, {"text": "one"}) as parent:
            before = locks()
            with monkeypatch.context() as patched:
                patched.setattr(assembly, name, boom)
                with pytest.raises(BoomError):
                    open_child(parent)
            assert locks() == before
            assert list(parent.run("go"))[-1].result.text == "one"


class TestChild:
    def test_what_it_uses_counts_for_its_parent(self, project: Path) -> None:
        usage = {"usage": {"input": 10, "output": 2}}
        with open_session(project, {"text": "child", **usage}, {"text": "parent", **usage}) as parent:
            with open_child(parent) as child:
                list(child.run("go"))
            assert child.conversation.meter.parent is parent.conversation.meter
            assert (child.result.usage.input, parent.conversation.meter.usage.input) == (10, 10)
            list(parent.run("go"))
            assert parent.result.usage.input == 20

    def test_the_parents_budget_binds_it(self, project: Path) -> None:
        with open_session(
            project, {"text": "a", "usage": {"input": 100}}, {"text": "never"}, budget=Budget(tokens=50)
        ) as parent:
            list(parent.run("go"))
            with open_child(parent) as child:
                list(child.run("go"))
            assert (child.result.is_error, child.result.terminal_reason) == (True, "budget_exhausted")

    def test_its_transcript_lies_beside_its_parents(self, project: Path) -> None:
        with open_session(project, {"text": "hi"}) as parent, open_child(parent, call="call_7") as child:
            list(child.run("go"))
            own, above = child.conversation.recorder.writer.path, parent.conversation.recorder.writer.path
            link = child.conversation.link
        assert own == above.with_suffix("") / "subagents" / f"agent-{link.agent_id}.jsonl"
        said = [line for line in lines(own) if line["type"] in ("user", "assistant")]
        assert {(line["agentId"], line["isSidechain"], line["sessionId"]) for line in said} == {
            (link.agent_id, True, parent.id)
        }
        assert json.loads(own.with_suffix("").with_suffix(".meta.json").read_text())["toolUseId"] == "call_7"

    def test_a_grandchild_names_its_parent(self, project: Path) -> None:
        with (
            open_session(project, {"text": "hi"}) as parent,
            open_child(parent) as child,
            open_child(child) as below,
        ):
            list(below.run("go"))
            own = below.conversation.recorder.writer.path
            meta = json.loads(own.with_suffix("").with_suffix(".meta.json").read_text())
            assert meta["parentAgentId"] == child.conversation.link.agent_id
            assert own.parent == child.conversation.recorder.writer.path.parent
            assert below.conversation.meter.parent is child.conversation.meter

    @pytest.mark.project({".claude/settings.json": {"env": {"FROM_SETTINGS": "yes"}}})
    def test_it_has_its_parents_environment(self, project: Path) -> None:
        show = call("Bash", command="echo $FROM_SETTINGS-$FROM_CALLER")
        env = {**os.environ, "FROM_CALLER": "too"}
        with (
            open_session(project, show, {"text": "x"}, allowed=("Bash",), env=env) as parent,
            open_child(parent) as child,
        ):
            events = list(child.run("go"))
        assert "yes-too" in next(event.content for event in events if hasattr(event, "content"))

    @pytest.mark.project(
        {
            ".claude/settings.json": {
                "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}
            }
        }
    )
    @pytest.mark.parametrize(
        "options", [{}, {"hooks": False}, {"bare": True}, {"mode": "bypassPermissions", "allow_bypass": True}]
    )
    def test_its_parents_hooks_judge_it_whatever_it_asks_for(
        self, project: Path, options: dict[str, Any]
    ) -> None:
        replies = [call("Bash", command="ls"), {"text": "x"}]
        with open_session(project, *replies) as parent, open_child(parent, **options) as child:
            events = list(child.run("go"))
        finished = next(event for event in events if hasattr(event, "content"))
        assert (finished.refused, finished.content.endswith(": no")) == (True, True)

    @pytest.mark.project(
        {
            ".claude/settings.json": {
                "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [GUARD]}]},
                "permissions": {"allow": ["mcp__guard", "Bash"]},
            }
        }
    )
    @pytest.mark.parametrize("kind", ["agent", "helper"])
    def test_a_hook_that_calls_a_tool_judges_it_though_it_does_not_see_the_tool(
        self, project: Path, kind: str
    ) -> None:
        deny = {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "guarded",
        }
        replies = [call("Bash", command="touch x"), {"text": "x"}]
        with open_session(project, *replies) as parent:
            guard = make_tool("mcp__guard__check", json.dumps({"hookSpecificOutput": deny}))
            parent.conversation.services.tools.add(guard)
            drained(parent.conversation.settle(), ignored)
            narrow = parent.conversation.view.narrow(tools=("Bash",))
            with open_child(parent, view=narrow, kind=kind) as child:
                events = list(child.run("go"))
        assert not (project / "x").exists()
        assert "guarded" in [event.content for event in events if hasattr(event, "content")][-1]

    @pytest.mark.parametrize(
        "options", [{"allowed": ("Bash", "Read")}, {"mode": "bypassPermissions", "allow_bypass": True}]
    )
    def test_its_rules_only_take_away(self, project: Path, options: dict[str, Any]) -> None:
        (project / "secret").write_text("marigold")
        replies = [call("Read", file_path="secret"), call("Bash", command="touch x"), {"text": "x"}]
        with (
            open_session(project, *replies, disallowed=("Read(secret)",)) as parent,
            open_child(parent, **options) as child,
        ):
            events = list(child.run("go"))
        refused = [event.refused for event in events if hasattr(event, "content")]
        assert refused == [True, True]
        assert not (project / "x").exists()

    def test_a_child_that_denies_more(self, project: Path) -> None:
        with open_session(project, call("Bash", command="ls"), {"text": "x"}, allowed=("Bash",)) as parent:
            with open_child(parent, disallowed=("Bash(ls)",)) as child:
                events = list(child.run("go"))
            assert next(event for event in events if hasattr(event, "content")).refused
            assert parent.conversation.gate.decide("Bash", {"command": "ls"}, str(project)).verdict == "allow"

    def test_its_view_can_only_narrow(self, project: Path) -> None:
        whole = View(load(project))
        with open_session(whole.narrow(tools=("Read", "Glob"), skills=())) as parent:
            for asked, seen in ((whole, {"Read", "Glob"}), (whole.narrow(tools=("Read", "Bash")), {"Read"})):
                with open_child(parent, view=asked) as child:
                    assert set(child.conversation.host.tools.names()) == seen

    def test_it_is_asked_as_its_parent_is_and_says_who_asks(self, project: Path) -> None:
        asker = ScriptedAsker(Answer(verdict="allow"))
        replies = [call("Bash", command="touch x"), {"text": "x"}]
        with open_session(project, *replies, asker=asker) as parent, open_child(parent) as child:
            list(child.run("go"))
            assert [one.agent_id for one in asker.questions] == [child.conversation.link.agent_id]
        assert (project / "x").exists()

    def test_it_stands_where_its_parent_is_and_does_not_move_it(self, project: Path) -> None:
        (project / "sub").mkdir()
        (project / "other").mkdir()
        replies = [
            call("Bash", command="cd sub"),
            {"text": "a"},
            call("Bash", command="cd ../other"),
            {"text": "b"},
        ]
        with open_session(project, *replies, allowed=("Bash",)) as parent:
            list(parent.run("go"))
            with open_child(parent) as child:
                assert child.conversation.host.cwd == str(project / "sub")
                list(child.run("go"))
                assert child.conversation.host.cwd == str(project / "sub"), "each command starts there"
            assert parent.conversation.host.cwd == str(project / "sub")

    def test_tools_that_come_later_are_there_for_all(self, project: Path) -> None:
        with open_session(project, {"text": "a"}) as parent, open_child(parent) as child:
            parent.conversation.services.tools.add(make_tool("mcp__x__y"))
            list(child.run("go"))
            assert child.conversation.host.tools.get("mcp__x__y") is not None

    def test_an_untrusted_project_is_untrusted_below_too(self, project: Path) -> None:
        with open_session(project, trust=False) as parent, open_child(parent, trust=True) as child:
            assert (
                child.conversation.gate.context(str(project)).trusted
                is parent.conversation.gate.context(str(project)).trusted
            )
            assert child.conversation.services is parent.conversation.services


def test_what_the_caller_chose_is_kept_for_a_session_that_goes_on(project: Path) -> None:
    with open_session(project, {"text": "a"}, mode="acceptEdits") as session:
        list(session.run("go"))
    with open_session(project, resume=session.id) as again:
        assert again.conversation.gate.mode == "acceptEdits"


def test_a_session_that_is_not_kept_leaves_nothing(project: Path) -> None:
    with Session(project, model=ScriptedModel([{"text": "a"}]), options=Options(persist=False)) as session:
        list(session.run("go"))
    assert list(home().rglob("*.jsonl")) == []


@pytest.mark.parametrize(
    ("parents", "childs", "has"),
    [
        (("Bash",), None, {"Bash"}),
        (("Bash",), ("Bash", "Read"), {"Bash"}),
        (("Bash",), ("Read",), set()),
        (None, ("Read",), {"Read"}),
    ],
)
def test_a_child_has_no_tool_that_its_parent_was_not_given(
    project: Path, parents: tuple[str, ...] | None, childs: tuple[str, ...] | None, has: set[str]
) -> None:
    with open_session(project, tools=parents) as parent, open_child(parent, tools=childs) as child:
        assert {*child.conversation.host.tools.names()} - {"Skill", "ToolSearch"} == has
