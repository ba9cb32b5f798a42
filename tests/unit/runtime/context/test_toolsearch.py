"""Tools behind the search: found, shown, called; the request's list of tools stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from checkrein.llm.port import Text, ToolUse
from checkrein.runtime.call.toolset import Toolbox
from checkrein.runtime.context.toolsearch import NAME, defers, find, named, unwrapped
from checkrein.runtime.session.events import CacheBreak, ToolFinished
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.runtime.tools.catalog import builtin_tools
from checkrein.testing import Call, ScriptedModel, Turn

BOX = Toolbox(builtin_tools())
EAGER = {"Bash", "Read", "Write", "Edit", "Glob", "Grep", "TodoWrite", "Agent", "Skill", NAME}


pytestmark = pytest.mark.project(
    {
        ".claude/skills/s/SKILL.md": "---\ndescription: d\n---\n",
        "n.ipynb": '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
    }
)


def play(project: Path, *turns: Turn, **options: object) -> tuple[ScriptedModel, list[object]]:
    model = ScriptedModel(turns, idle=5)
    with Session(project, model=model, options=Options(persist=False, **options)) as session:  # type: ignore[arg-type]
        return model, list(session.run("go"))


def call(tool: str, /, **input: object) -> Turn:
    return Turn(tool_calls=(Call(tool, dict(input)),))


def results(events: list[object]) -> list[ToolFinished]:
    return [event for event in events if isinstance(event, ToolFinished)]


def test_the_first_request_is_small(project: Path) -> None:
    model, _ = play(project, Turn(text="ok"))
    request = model.requests[0]
    assert {tool.name for tool in request.tools} == EAGER
    tools = msgspec.json.encode(
        [{"name": t.name, "description": t.description, "input_schema": t.schema} for t in request.tools]
    )
    system = msgspec.json.encode([{"type": "text", "text": block.text} for block in request.system])
    assert len(tools) + len(system) <= 8 * 1024
    said = " ".join(b.text for b in request.messages[0].content if isinstance(b, Text))
    assert "WebFetch" in said
    assert "NotebookEdit" in said


def test_a_definition_comes_as_a_result_and_the_prefix_stays(project: Path) -> None:
    plan = (
        call(NAME, query="select:TaskCreate,TaskList"),
        call("TaskCreate", subject="one", description="d"),
        call(NAME, name="TaskCreate", input={"subject": "two", "description": "d"}),
        call(NAME, name="TaskList"),
        Turn(text="ok"),
    )
    model, events = play(project, *plan)
    shown, one, two, listed = results(events)
    definitions = [json.loads(line) for line in shown.content.splitlines()]
    assert [d["name"] for d in definitions] == ["TaskCreate", "TaskList"]
    assert definitions[0]["input_schema"]["required"] == ["subject", "description"]
    assert [r.name for r in (one, two, listed)] == ["TaskCreate", "TaskCreate", "TaskList"]
    assert not any(r.is_error for r in (one, two, listed))
    assert "two" in listed.content
    assert len({msgspec.json.encode(request.tools) for request in model.requests}) == 1
    assert not any(isinstance(event, CacheBreak) for event in events)


def test_the_gate_judges_the_tool_that_is_meant(project: Path) -> None:
    edit = {"notebook_path": "n.ipynb", "new_source": "x", "cell_type": "code", "edit_mode": "insert"}
    hidden = call(NAME, name="Bash", input={"command": "touch x"})
    _, events = play(project, call(NAME, name="NotebookEdit", input=edit), hidden, Turn(text="ok"))
    assert [(r.name, r.refused) for r in results(events)] == [("NotebookEdit", True), ("Bash", True)]
    assert not (project / "x").exists()


def test_skills_can_be_loaded_before_one_is_listed(tmp_path: Path) -> None:
    folder = tmp_path / "pkg/.claude/skills/near"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\ndescription: d\n---\nNEAR\n")
    (tmp_path / "pkg/x.txt").write_text("x")
    plan = (call("Read", file_path="pkg/x.txt"), call("Skill", skill="near"), Turn(text="ok"))
    _, events = play(tmp_path, *plan, allowed=("Skill",))
    assert "NEAR" in results(events)[1].content


def test_a_denied_tool_is_neither_named_nor_called(project: Path) -> None:
    model, events = play(
        project, call(NAME, name="WebFetch", input={"url": "x"}), Turn(text="ok"), disallowed=("WebFetch",)
    )
    said = " ".join(b.text for b in model.requests[0].messages[0].content if isinstance(b, Text))
    assert "WebFetch" not in said
    assert "no tool 'WebFetch'" in results(events)[0].content


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("select:taskget", ["TaskGet"]),
        ("select:Nothing", []),
        ("fetch web page", ["WebFetch"]),
        ("notebook", ["NotebookEdit"]),
        ("zzz", []),
    ],
)
def test_finding(query: str, names: list[str]) -> None:
    assert [tool.name for tool in find(query, BOX.deferred)][: max(1, len(names))] == names


@pytest.mark.parametrize(
    ("switch", "window", "waits"),
    [
        ("", None, True),
        ("true", None, True),
        ("false", None, False),
        ("auto", 1_000_000, False),
        ("auto", 5_000, True),
        ("auto:1", 100_000, True),
        ("auto:50", 100_000, False),
    ],
)
def test_the_switch(switch: str, window: int | None, waits: bool) -> None:
    assert defers({"ENABLE_TOOL_SEARCH": switch}, BOX, window) is waits


def test_named_tools_are_all_in_the_request(project: Path) -> None:
    model, _ = play(project, Turn(text="ok"), tools=("Read", "WebFetch"))
    assert {tool.name for tool in model.requests[0].tools} == {"Read", "WebFetch"}
    model, _ = play(project, Turn(text="ok"), tools=("Read", "Skill"))
    assert {tool.name for tool in model.requests[0].tools} == {"Read", "Skill"}


@pytest.mark.parametrize(
    ("name", "input", "meant"),
    [
        ("Bash", {"name": "Read"}, "Bash"),
        (NAME, {"query": "x"}, NAME),
        (NAME, {"name": ""}, NAME),
        (NAME, {"name": 3}, NAME),
        (NAME, {"name": NAME}, NAME),
        (NAME, {"name": "Read", "input": "text"}, "Read"),
    ],
)
def test_unwrapping(name: str, input: dict[str, object], meant: str) -> None:
    found = unwrapped(ToolUse("1", name, input))
    assert (found.id, found.name) == ("1", meant)
    assert isinstance(found.input, dict)


def test_thousands_of_names_are_counted() -> None:
    assert named(()) == ""
    assert named(("a", "b")) == "a, b"
    many = named([f"mcp__server__tool_{number:04}" for number in range(2_000)])
    assert len(many) < 8_100
    assert many.startswith("mcp__server__tool_0000, ")
    assert many.endswith(" more that a search finds")
