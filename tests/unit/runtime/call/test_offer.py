"""Which of the tools one conversation sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checkrein.model.view import View
from checkrein.passes.load import load
from checkrein.runtime.call.offer import offered_segments, skill_listing
from checkrein.runtime.call.toolset import Toolbox
from checkrein.runtime.session.events import SessionStarted
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.runtime.tools.catalog import builtin_tools
from checkrein.testing import ScriptedModel
from support.calls import make_tool

SKILL = {".claude/skills/s/SKILL.md": "---\ndescription: d\n---\nDo it.\n"}


def offered(
    project: Path, view: View | None = None, env: dict[str, str] | None = None, **options: Any
) -> Toolbox:
    chosen = Options(persist=False, trust=True, **options)
    with Session(view or project, model=ScriptedModel([]), options=chosen, env=env) as session:
        return session.conversation.host.tools


def request_names(box: Toolbox) -> set[str]:
    return {spec.name for spec in box.specs}


def test_the_tools_that_ship_and_those_of_a_conversation(project: Path) -> None:
    box = offered(project)
    assert {tool.name for tool in builtin_tools()} | {"Skill", "ToolSearch"} == set(box.names())
    assert "StructuredOutput" not in box.names()


def test_named_tools_are_all_in_the_request(project: Path) -> None:
    box = offered(project, tools=("Read", "NotebookEdit"))
    assert set(box.names()) == request_names(box) == {"Read", "NotebookEdit"}
    assert offered(project, tools=("default",)).names() == offered(project).names()


@pytest.mark.project({".claude/settings.json": {"permissions": {"deny": ["Bash", "Write(x)"]}}})
def test_a_rule_takes_a_whole_tool_away(project: Path) -> None:
    names = offered(project).names()
    assert "Bash" not in names
    assert "Write" in names, "a part of it is left"
    assert "Edit" not in offered(project, disallowed=("Edit",)).names()


def test_what_the_view_hides(project: Path) -> None:
    view = View(load(project)).narrow(tools=("Read", "Glob"))
    assert set(offered(project, view).names()) == {"Read", "Glob"}
    assert set(offered(project, view.narrow(tools=("Read", "Bash"), skills=())).names()) == {"Read"}


def test_structured_output_is_there_when_it_is_owed(project: Path) -> None:
    box = offered(project, schema={"type": "object"})
    assert "StructuredOutput" in request_names(box)


def test_without_a_search_every_tool_is_in_the_request(project: Path) -> None:
    box = offered(project, env={"ENABLE_TOOL_SEARCH": "0", "HOME": "/nowhere"})
    assert request_names(box) == set(box.names())
    assert "ToolSearch" not in box.names()


def test_bare_sessions_have_neither_skills_nor_a_search(project: Path) -> None:
    assert {"Skill", "ToolSearch"}.isdisjoint(offered(project, bare=True).names())


@pytest.mark.project(SKILL)
def test_the_listing_of_skills(project: Path) -> None:
    view = View(load(project))
    listing = skill_listing(view, Options(), {}, "m")
    waiting = Toolbox([make_tool("ToolSearch"), make_tool("Late", eager=False)])
    assert [(one.name, one.pinned) for one in offered_segments(waiting, listing)] == [
        ("skills", True),
        ("tools", False),
    ]
    assert skill_listing(view, Options(bare=True), {}, "m").text == ""
    assert offered_segments(Toolbox([make_tool("A")]), skill_listing(view, Options(bare=True), {}, "m")) == []


class TestLater:
    """A tool that comes while the session runs."""

    @pytest.fixture
    def played(self, project: Path) -> Any:
        model = ScriptedModel(
            [{"text": "one"}, {"tool_calls": [{"name": "mcp__x__peek"}]}, {"text": "two"}, {"text": "three"}]
        )
        options = Options(persist=False, allowed=("mcp__x",))
        with Session(project, model=model, options=options) as session:
            yield session, model

    def test_the_model_is_told_and_the_request_goes_on(self, played: Any) -> None:
        session, model = played
        list(session.run("first"))
        session.conversation.services.tools.add(make_tool("mcp__x__peek", "peeked"))
        events = list(session.run("second"))
        before, after = model.requests[0], model.requests[1]
        assert after.tools == before.tools
        assert after.system == before.system
        assert after.messages[: len(before.messages)] == before.messages
        texts = [
            block.text for message in after.messages for block in message.content if hasattr(block, "text")
        ]
        assert any("mcp__x__peek" in text and "ToolSearch" in text for text in texts)
        finished = next(
            event
            for event in events
            if getattr(event, "name", "") == "mcp__x__peek" and hasattr(event, "content")
        )
        assert (finished.content, finished.is_error) == ("peeked", False)
        assert not any(type(event).__name__ == "CacheBreak" for event in events)
        started = next(event for event in list(session.run("third")) if isinstance(event, SessionStarted))
        assert "mcp__x__peek" in started.tools

    def test_a_tool_that_is_gone_can_not_be_called(self, played: Any) -> None:
        session, _ = played
        session.conversation.services.tools.add(make_tool("mcp__x__peek", "peeked"))
        list(session.run("first"))
        session.conversation.services.tools.remove(["mcp__x__peek"])
        events = list(session.run("second"))
        finished = next(
            event for event in events if hasattr(event, "content") and event.name == "mcp__x__peek"
        )
        assert "There is no tool" in finished.content
