from __future__ import annotations

from checkrein.llm.port import Text, ToolResult, assistant, user
from checkrein.runtime.session.state import State


def test_neighbours_of_one_role_become_one_message() -> None:
    state = State("m")
    state.append(user("a"))
    state.append(user("b"))
    state.append(assistant("c"))
    state.append(user(ToolResult("1", "r")))
    state.append(user("d"))
    assert [(m.role, len(m.content)) for m in state.messages] == [("user", 2), ("assistant", 1), ("user", 2)]
    assert state.messages[0].content == (Text("a"), Text("b"))
    assert state.break_reason is None


def test_changing_what_was_sent_is_a_cache_break() -> None:
    state = State("m")
    state.append(user("a"))
    state.sent = 1
    state.append(user("b"))
    assert state.break_reason is not None
