"""What a person hears about servers."""

from __future__ import annotations

from checkrein.runtime.mcp.server_notices import ServerNotices
from checkrein.runtime.session.events import Notice


def heard(notices: ServerNotices) -> list[str]:
    return [event.text for event in notices.taken() if isinstance(event, Notice)]


def test_a_warning_is_heard_once() -> None:
    notices = ServerNotices()
    for _ in range(3):
        notices.warn("s", "bad")
    assert heard(notices) == ["bad"]
    notices.warn("s", "bad")
    assert heard(notices) == []


def test_a_log_without_end_does_not_drown_warnings() -> None:
    notices = ServerNotices()
    for number in range(1000):
        notices.logged("s", f"line {number}")
    notices.warn("s", "its tools are different now")
    said = heard(notices)
    assert len(said) == 52
    assert said[-2:] == [
        "The MCP server s logs more errors. They are not shown.",
        "its tools are different now",
    ]
