"""The result of a call as a frame: what the model gets, what programs get, and who decided about it."""

from __future__ import annotations

from typing import Any

import msgspec

from checkrein.policy.remote import PREFIX
from checkrein.protocol.wire import Frame
from checkrein.runtime.session.events import ToolFinished

_LONGEST = 200_000
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
    beside: Frame = {"tool_use_result": _fitting(structured) if hosted else structured}
    return block, beside | ({"tool_result_meta": [_decided(event)]} if event.by is not None else {})


def _fitting(value: Any) -> Any:
    """The value with long texts cut. The Python SDK gives up at a line of one MiB, and the old text of a file
    that was edited may be longer; the file itself has it."""
    match value:
        case str() if len(value) > _LONGEST:
            return f"{value[:_LONGEST]}\n[{len(value) - _LONGEST} characters more]"
        case dict():
            return {key: _fitting(one) for key, one in value.items()}
        case list():
            return [_fitting(one) for one in value]
    return value


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
