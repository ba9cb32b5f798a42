"""A session as a file, and the last reply on the clipboard."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from checkrein.base.errors import UsageError
from checkrein.cli.screen.command_line import say_outcome
from checkrein.cli.screen.session_views import session_of
from checkrein.llm.port import text_of

if TYPE_CHECKING:
    from checkrein.cli.screen.cockpit import Cockpit

_LONGEST_COPY = 74_994
"""Bytes that terminals take for the clipboard."""


def export(cockpit: Cockpit, rest: str) -> None:
    session = session_of(cockpit)
    file = rest or f"session-{session.id[:8]}.md"
    say_outcome(cockpit, ("sessions", "export", session.id, "--output", file))


def copy_reply(cockpit: Cockpit, rest: str) -> None:
    """By the terminal itself (OSC 52), so that it works over ssh too."""
    messages = session_of(cockpit).conversation.state.messages
    replies = (text_of(one.content) for one in reversed(messages) if one.role == "assistant")
    text = next((one for one in replies if one.strip()), "")
    if not text:
        raise UsageError("There is no reply yet.")
    data = text.encode()[:_LONGEST_COPY]
    loop = cockpit.face.app.loop
    assert loop is not None
    loop.call_soon_threadsafe(cockpit.terminal.copy, base64.b64encode(data).decode())
    cockpit.tell(f"Copied {len(data):,} bytes to the clipboard.")
