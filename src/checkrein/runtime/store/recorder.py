"""Write events into the transcript before anyone sees them, so that nothing a user saw is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from checkrein.base.ids import short_id
from checkrein.llm.port import Message, Reply, Text
from checkrein.runtime.session.events import (
    AssistantBlock,
    BackgroundEnded,
    BackgroundStarted,
    CacheBreak,
    Compacted,
    ContextAdded,
    Event,
    Finished,
    ModeChanged,
    PermissionDenied,
    PermissionsChanged,
    PromptAccepted,
    ReplyCompleted,
    ToolFinished,
)
from checkrein.runtime.store import SessionWriter


class Recorder:
    def __init__(self, writer: SessionWriter) -> None:
        self.writer = writer
        self._background: dict[str, str] = {}

    def take(self, event: Event) -> None:
        """Write the events that belong in the transcript; ignore the others."""
        match event:
            case PromptAccepted():
                self.prompt(event)
            case AssistantBlock():
                self._assistant(event)
            case ToolFinished() if event.caller != "model":
                self._beside(event)
            case ToolFinished():
                self.writer.tool_result(
                    event.id,
                    msgspec.to_builtins(event.content),
                    is_error=event.is_error,
                    structured=event.structured,
                    uuid=event.uuid,
                )
            case ContextAdded():
                self.writer.user(event.text, meta=True, uuid=event.uuid, checkrein={"source": event.source})
            case ModeChanged():
                self.writer.state(mode=event.mode)
            case PermissionsChanged():
                update = msgspec.to_builtins(event.update)
                self.writer.mark("permissions", update=update, by=event.by, file=event.file)
            case PermissionDenied(by="asker"):
                self.writer.mark("denied", toolUseId=event.denial.tool_use_id, by=event.by)
            case ReplyCompleted():
                if event.cost_usd is not None:
                    self.writer.mark("cost", message=event.reply.id, cost_usd=event.cost_usd)
            case Compacted():
                self.writer.mark("compacted", **msgspec.to_builtins(event))
            case CacheBreak():
                fields = msgspec.to_builtins(event)
                self.writer.mark("cache_break", **{k: v for k, v in fields.items() if k != "type"})
            case BackgroundStarted(kind="local_bash"):
                self._running(event.id, event.description)
            case BackgroundEnded(kind="local_bash"):
                self._running(event.id, None)
            case Finished():
                self.writer.result(msgspec.to_builtins(event.result))

    def prompt(self, event: PromptAccepted) -> None:
        """A prompt that is one text becomes plain text, as other readers expect."""
        content = event.message.content
        plain = content[0].text if len(content) == 1 and isinstance(content[0], Text) else None
        self.writer.user(plain if plain is not None else blocks(event.message), uuid=event.uuid)

    def reminders(self, message: Message) -> None:
        """The note of the harness before a prompt."""
        self.writer.user(blocks(message), meta=True)

    def attached(self, path: str, contents: str) -> None:
        """A file that a prompt names. Readers of the transcript see it; the model got it as a reminder."""
        lines = len(contents.splitlines())
        file = {"filePath": path, "content": contents, "numLines": lines, "startLine": 1, "totalLines": lines}
        attachment = {"type": "file", "filename": path, "content": {"type": "text", "file": file}}
        self.writer.append({"type": "attachment", "attachment": attachment})

    def compacted(self, messages: Sequence[Message], trigger: str, before_tokens: int) -> None:
        """The conversation starts again with these messages; the earlier ones stay in the file."""
        self.writer.boundary(trigger=trigger, before_tokens=before_tokens)
        for message in messages:
            if message.role == "user":
                self.writer.user(blocks(message), meta=True)
            else:
                self.writer.assistant({"id": short_id("msg_"), "type": "message", "content": blocks(message)})

    def spilled(self, call: str, text: str) -> str:
        """Keep a result that is too large for the conversation; returns its path."""
        return str(self.writer.spill(call, text))

    def aside(self, reply: Reply, cost: float | None) -> None:
        """The usage of a request outside the conversation, so that the file's sums match the result."""
        self.writer.mark("aside", message=reply.id, usage=msgspec.to_builtins(reply.usage))
        if cost is not None:
            self.writer.mark("cost", message=reply.id, cost_usd=cost)

    def prefix(self, key: dict[str, str]) -> None:
        """What comes before the conversation, so that a resumed session can tell whether it changed."""
        self.writer.state(prefix=key)

    def _running(self, id: str, description: str | None) -> None:
        """The commands in the background, so that a resumed session can say that they ended."""
        self._background.pop(id, None)
        if description is not None:
            self._background[id] = description
        self.writer.state(background=self._background)

    def tool_started(self, call: str, name: str) -> None:
        self.writer.tool_started(call, name)

    def _beside(self, event: ToolFinished) -> None:
        """A call that is not part of the conversation: the line of a skill, the tool of a hook."""
        self.writer.mark(
            "call",
            toolUseId=event.id,
            name=event.name,
            input=event.input,
            caller=event.caller,
            parent_call=event.parent_call,
            verdict=event.verdict,
            by=event.by,
            reason=event.reason,
            is_error=event.is_error,
        )

    def _assistant(self, event: AssistantBlock) -> None:
        usage = event.usage
        message = {
            "id": event.message_id,
            "type": "message",
            "model": event.model,
            "content": [msgspec.to_builtins(event.block)],
            "stop_reason": event.stop_reason,
            "usage": {
                "input_tokens": usage.input,
                "output_tokens": usage.output,
                "cache_creation_input_tokens": usage.cache_creation,
                "cache_read_input_tokens": usage.cache_read,
            },
        }
        self.writer.assistant(message, uuid=event.uuid)


def blocks(message: Message) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = msgspec.to_builtins(message.content)
    return found
