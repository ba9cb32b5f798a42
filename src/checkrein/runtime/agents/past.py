"""What the transcripts know of subagents from before this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from checkrein.llm.port import Message, Text, ToolResult
from checkrein.runtime.store.fold import UNKNOWN_EFFECT
from checkrein.runtime.store.kept_task import KeptTask

if TYPE_CHECKING:
    from checkrein.runtime.store import SessionWriter
    from checkrein.runtime.store.values import Conversation

_LEFT = "It was still at work when the session was left. SendMessage continues it."


def past_messages(writer: SessionWriter, agent_id: str) -> tuple[Message, ...]:
    """The conversation of a subagent, as its transcript has it; nothing when there is none."""
    found = _loaded(writer, agent_id)
    return tuple(msgspec.convert(one, Message) for one in found.messages) if found is not None else ()


def settled(kept: KeptTask, writer: SessionWriter, carry: Callable[[str], str]) -> KeptTask:
    """A task of a process that is gone. Its own transcript says whether it had ended. `carry` makes the
    report of its last words."""
    if kept.state != "running":
        return kept
    found = _loaded(writer, kept.id)
    result = found.result if found is not None else None
    if result is None:
        return replace(kept, state="stopped", cut=_LEFT)
    text = result.get("text")
    done = result.get("is_error") is not True
    return replace(
        kept,
        state="completed" if done else "failed",
        report=carry(text) if isinstance(text, str) and text else "",
        cut="" if done else "; ".join(map(str, result.get("errors") or ())),
    )


def is_told(kept: KeptTask, text: str, messages: Sequence[Message]) -> bool:
    """Whether the model has the report, though the mark of it is missing: as the answer to the call of one in
    the foreground, or as the notification `text`."""
    blocks = [block for message in messages for block in message.content]
    if kept.background:
        return any(isinstance(block, Text) and text in block.text for block in blocks)
    cut_off = (one.content for one in blocks if isinstance(one, ToolResult) and one.tool_use_id == kept.call)
    return UNKNOWN_EFFECT not in cut_off


def _loaded(writer: SessionWriter, agent_id: str) -> Conversation | None:
    if not writer.saved:
        return None
    from checkrein.runtime.store.companions import main_transcript, subagent_path
    from checkrein.runtime.store.load import load

    path = subagent_path(main_transcript(writer), agent_id)
    return load(path, aside=True) if path.is_file() else None
