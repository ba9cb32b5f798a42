"""One conversation: what is said between prompts, what takes effect before a request, what a turn ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from checkrein.llm.port import Text, user
from checkrein.runtime.session.channel import drained
from checkrein.runtime.session.conversation import Conversation
from checkrein.runtime.session.events import ContextAdded, Event, ModeChanged, Notice
from checkrein.runtime.session.session import Session
from support.calls import make_tool, rules
from support.sessions import locks, open_session


@pytest.fixture
def session(project: Path) -> Iterator[Session]:
    with open_session(project, {"text": "hi"}) as opened:
        yield opened


@pytest.fixture
def conversation(session: Session) -> Conversation:
    return session.conversation


def settled(conversation: Conversation) -> list[Event]:
    heard: list[Event] = []
    drained(conversation.settle(), heard.append)
    return heard


class TestNote:
    def test_before_the_conversation_it_waits_for_the_opening(self, conversation: Conversation) -> None:
        assert list(conversation.note("mind", "hook")) == []
        assert conversation.backdrop.opening_context == ["mind"]
        assert conversation.state.messages == []

    def test_later_it_is_said(self, conversation: Conversation) -> None:
        conversation.state.append(user("hello"))
        (event,) = conversation.note("mind", "hook")
        assert isinstance(event, ContextAdded)
        assert (event.source, "mind" in event.text, event.text.startswith("<system-reminder>")) == (
            "hook",
            True,
            True,
        )
        last = conversation.state.messages[-1].content[-1]
        assert isinstance(last, Text)
        assert last.text == event.text


class TestSettle:
    def test_nothing_happened(self, conversation: Conversation) -> None:
        assert settled(conversation) == []

    def test_another_mode(self, conversation: Conversation) -> None:
        conversation.control.set_mode("acceptEdits")
        assert settled(conversation) == [ModeChanged("acceptEdits")]
        assert conversation.gate.mode == "acceptEdits"
        assert conversation.hooks.common.permission_mode == "acceptEdits"
        assert settled(conversation) == [], "once"

    @pytest.mark.parametrize("mode", ["bypassPermissions", "nonsense"])
    def test_a_mode_that_can_not_be_entered(self, conversation: Conversation, mode: str) -> None:
        conversation.control.set_mode(mode)
        (notice,) = settled(conversation)
        assert isinstance(notice, Notice)
        assert mode in notice.text
        assert conversation.gate.mode == "default"

    def test_bypass_where_the_caller_allowed_it(self, project: Path) -> None:
        with open_session(project, allow_bypass=True) as session:
            session.control.set_mode("bypassPermissions")
            assert settled(session.conversation) == [ModeChanged("bypassPermissions")]

    def test_tools_that_came_are_known_to_the_gate(self, conversation: Conversation) -> None:
        conversation.state.append(user("hello"))
        conversation.services.tools.add(make_tool("mcp__x__y"))
        assert conversation.host.tools.get("mcp__x__y") is None, "not before it is safe"
        (added,) = settled(conversation)
        assert isinstance(added, ContextAdded)
        assert (added.source, "mcp__x__y" in added.text) == ("tools", True)
        assert "mcp__x__y" in conversation.gate.policy.tools
        assert settled(conversation) == []

    def test_tools_that_go_are_gone(self, conversation: Conversation) -> None:
        before = conversation.request(messages=[user("x")])
        conversation.services.tools.remove(["NotebookEdit"])
        assert settled(conversation) == []
        assert conversation.host.tools.get("NotebookEdit") is None
        assert conversation.request(messages=[user("x")]).tools == before.tools, "it was not in the request"


class TestTurn:
    def test_what_held_for_one_prompt_ends(self, conversation: Conversation) -> None:
        conversation.gate.grant_for_turn(rules("allow Bash(make *)"))
        conversation.state.turn_model = "other"
        conversation.next_turn()
        assert conversation.gate.decide("Bash", {"command": "make x"}, "/p").verdict == "ask"
        assert conversation.state.turn_model is None
        assert conversation.meter.requests == 1, "what the result counts goes on"


class TestRequest:
    def test_it_holds_the_conversation_so_far(self, conversation: Conversation) -> None:
        conversation.state.append(user("hello"))
        request = conversation.request()
        assert request.messages == (user("hello"),)
        assert [spec.name for spec in request.tools] == [spec.name for spec in conversation.host.tools.specs]

    def test_other_messages_in_the_same_surroundings(self, conversation: Conversation) -> None:
        conversation.state.append(user("hello"))
        plain, summary = conversation.request(), conversation.request([user("sum up")], max_tokens=99)
        assert (summary.messages, summary.max_tokens) == ((user("sum up"),), 99)
        assert (summary.system, summary.tools) == (plain.system, plain.tools)

    def test_the_limit_of_a_reply(self, project: Path) -> None:
        with open_session(project, max_tokens=123) as session:
            assert session.conversation.request().max_tokens == 123
            session.conversation.state.max_tokens = 45
            assert session.conversation.request().max_tokens == 45, "what a full window leaves"


def test_closing_frees_what_it_alone_holds(project: Path) -> None:
    session = open_session(project)
    session.conversation.close()
    assert locks() == []
    session.close()
