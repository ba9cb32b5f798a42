"""The result of a call as a frame: what the model gets, what programs get, and who decided about it."""

from __future__ import annotations

from typing import Any

import msgspec

from checkrein.policy.remote import PREFIX
from checkrein.protocol.wire import Frame
from checkrein.runtime.session.events import ToolFinished

_DECIDERS = {"asker": ("user_temporary", "user_reject"), "hook": ("hook", "hook")}
"""What `source` calls who decided, for an approval and for a refusal. Everything else is configuration."""


def result_block(event: ToolFinished, *, hosted: bool) -> tuple[Frame, Frame]:
    """The block of the user message, and the fields beside the message. For a host, text of a server's tool
    is a list of blocks."""
    content = msgspec.to_builtins(event.content)
    structured: Any = event.structured if event.structured is not None else f"Error: {event.content}"
    if hosted and event.name.startswith(PREFIX) and isinstance(content, str):
        said = f"Error: {content}" if event.is_error else [{"type": "text", "text": content}]
        structured = said if isinstance(structured, str) else structured
        content = content if event.is_error else said
    block = {
        "tool_use_id": event.id,
        "type": "tool_result",
        "content": content,
        "is_error": event.is_error,
    }
    beside: Frame = {"tool_use_result": structured}
    return block, beside | ({"tool_result_meta": [_decided(event)]} if event.by is not None else {})


def _decided(event: ToolFinished) -> Frame:
    assert event.by is not None
    accepted, rejected = _DECIDERS.get(event.by, ("config", "config"))
    decision: Frame = {
        "decision": "reject" if event.refused else "accept",
        "source": rejected if event.refused else accepted,
    }
    if event.by != "asker":
        decision["reason_type"] = event.by
    kind = {"non_execution_kind": "permission-rule"} if event.refused else {}
    return {"id": event.id, **kind, "permission_decision": decision}
