"""Events as stream-json frames, in the shapes that Claude Code prints and its SDK reads.

One object per line. The first frame is `system/init`, the last `result`, each once; frames of partial
messages and of hooks come only on request.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from checkrein.base import clock
from checkrein.base.ids import new_uuid
from checkrein.facts.claude import COMPATIBLE_VERSION
from checkrein.facts.subagents import AGENT_TOOL
from checkrein.llm.port import Block, BlockCompleted, Started, Text, ToolUse, Usage, UsageReport
from checkrein.protocol.raw_events import message_start, raw_events, usage_fields
from checkrein.protocol.result_frame import result_frame
from checkrein.protocol.task_frames import TaskFrames
from checkrein.protocol.tool_frames import result_block
from checkrein.protocol.wire import Frame
from checkrein.runtime.session.events import (
    AssistantBlock,
    BackgroundEnded,
    BackgroundStarted,
    Cleared,
    Compacted,
    Compacting,
    ContextAdded,
    Event,
    Finished,
    HookFinished,
    HookStarted,
    ModeChanged,
    Notice,
    PermissionDenied,
    PromptAccepted,
    RequestSent,
    Retrying,
    SessionStarted,
    Streamed,
    ToolFinished,
    ToolStarted,
)

CAPABILITIES = ("interrupt_receipt_v1",)
_ALWAYS_SHOWN_HOOKS = frozenset({"SessionStart", "Setup"})
_ONLY_ENDS_SHOWN = frozenset({"Notification", "SessionEnd", "PreCompact", "PostCompact"})
_DENIALS = frozenset({"rule", "mode", "classifier", "trust", "start", "effect"})
"""Refusals that get a frame. Whoever drives the session knows what its own functions refused."""

_INTERRUPTED = {
    "aborted_streaming": "[Request interrupted by user]",
    "aborted_tools": "[Request interrupted by user for tool use]",
}


class FrameOptions(Struct, frozen=True, kw_only=True):
    partial: bool = False
    hook_events: bool = False
    replay_user: bool = False
    subagent_text: bool = False
    memory_path: str = ""
    api_key_source: str = "none"
    notes: tuple[str, ...] = ()
    hosted: bool = False


class Frames:
    """Turns the events of one session into frames. For a host, `system/init` waits for the hooks of the
    prompt, and the texts that hooks and reminders put into the conversation are not shown. `about` are fields
    of the current prompt that its result gets."""

    def __init__(self, options: FrameOptions) -> None:
        self.options = options
        self.session_id = ""
        self.about: Frame = {}
        self._asked_at = 0.0
        self._reply = Started("", "")
        self._used: Usage | None = None
        self._spent = Usage()
        self._placed: set[str] = set()
        self._held: list[Event] = []
        self._tasks = TaskFrames()

    def of(self, event: Event) -> Iterator[Frame]:
        """The frames of one event. Frames of a child name the child and the call that it belongs to."""
        if self.options.hosted and event.agent_id is None:
            if isinstance(event, SessionStarted) or (self._held and isinstance(event, Notice)):
                self._held.append(event)
                return
            if self._held and isinstance(event, HookStarted | HookFinished):
                yield from self._linked(event)
                return
        held, self._held = self._held, []
        for one in (*held, event):
            yield from self._linked(one)

    def _linked(self, event: Event) -> Iterator[Frame]:
        for frame in self._of(event):
            if "parent_tool_use_id" in frame:
                frame["parent_tool_use_id"] = event.parent_call
            if event.agent_id is not None:
                frame["agent_id"] = event.agent_id
            yield frame

    def _of(self, event: Event) -> Iterator[Frame]:
        yield from self._shown(event)
        yield from (self._system(kind, **fields) for kind, fields in self._tasks.progress(event))

    def _shown(self, event: Event) -> Iterator[Frame]:
        match event:
            case SessionStarted():
                self.session_id = event.session_id
                yield self._init(event)
            case PromptAccepted() if self.options.replay_user:
                content = event.message.content
                sent = _as_sent(content) if self.options.hosted else content
                yield self._user(sent, event.uuid) | {"isReplay": True}
            case RequestSent() if self.options.partial and event.agent_id is None:
                self._asked_at = time.monotonic()
                yield self._system("status", status="requesting")
            case Streamed() if self.options.partial and event.agent_id is None:
                yield from self._streamed(event)
            case AssistantBlock() if self._is_hidden(event):
                return
            case AssistantBlock():
                if event.uuid in self._placed:
                    self._placed.discard(event.uuid)
                else:
                    yield self._assistant(event)
            case ToolFinished() if event.caller != "model":
                yield self._beside(event)
            case ToolFinished():
                yield self._tool_result(event)
            case ContextAdded() if not self.options.hosted:
                yield self._user([{"type": "text", "text": event.text}], event.uuid) | {"isSynthetic": True}
            case PermissionDenied() if event.by in _DENIALS or not self.options.hosted:
                yield self._denied(event)
            case HookStarted(event=name) if name in _ONLY_ENDS_SHOWN:
                return
            case HookStarted() | HookFinished():
                if self.options.hook_events or event.event in _ALWAYS_SHOWN_HOOKS:
                    yield self._hook(event)
            case Retrying():
                yield self._system(
                    "api_retry",
                    attempt=event.attempt,
                    max_retries=event.max_attempts,
                    retry_delay_ms=event.delay_ms,
                    error_status=event.status,
                    error=event.error,
                )
            case Compacted():
                metadata = {"trigger": event.trigger, "pre_tokens": event.tokens_before}
                yield self._system("compact_boundary", compact_metadata=metadata)
            case Cleared():
                yield self._frame("conversation_reset", {"new_conversation_id": event.after})
                self.session_id = event.after
            case Compacting():
                yield self._system("status", status="compacting" if event.active else None)
            case ModeChanged():
                yield self._system("status", status=None, permissionMode=event.mode)
            case BackgroundStarted():
                yield from (self._system(kind, **fields) for kind, fields in self._tasks.started(event))
            case BackgroundEnded():
                yield from (self._system(kind, **fields) for kind, fields in self._tasks.ended(event))
            case Notice():
                more = {} if event.finding is None else {"finding": msgspec.to_builtins(event.finding)}
                yield self._system("informational", content=event.text, level=event.level, **more)
            case Finished():
                cut = _INTERRUPTED.get(event.result.terminal_reason)
                if cut is not None and self.options.hosted:
                    yield self._user([{"type": "text", "text": cut}], new_uuid())
                yield result_frame(event.result, event.uuid, self._spent) | self.about
                self._spent = event.result.usage

    def _is_hidden(self, event: AssistantBlock) -> bool:
        """The words of an agent that the conversation waits for belong to its report. Its calls, and the
        words of an agent in the background, show that it works."""
        if event.agent_id is None or isinstance(event.block, ToolUse) or event.agent_id in self._tasks:
            return False
        return not self.options.subagent_text

    def progress(self, call: ToolStarted, seconds: float) -> Frame:
        """A call that still runs."""
        fields = {
            "tool_use_id": call.id,
            "tool_name": call.name,
            "parent_tool_use_id": call.parent_call,
            "elapsed_time_seconds": round(seconds),
        }
        return self._frame("tool_progress", fields)

    def state(self, state: str, hidden: bool) -> Frame:
        """The session works, waits for its host, or is idle. A `hidden` frame is for the host alone."""
        more = {"sdk_host_only": True} if hidden else {}
        return self._system("session_state_changed", state=state, **more)

    def _frame(self, kind: str, fields: Frame, uuid: str | None = None) -> Frame:
        return {"type": kind, **fields, "session_id": self.session_id, "uuid": uuid or new_uuid()}

    def _system(self, subtype: str, **fields: Any) -> Frame:
        return {
            "type": "system",
            "subtype": subtype,
            **fields,
            "uuid": new_uuid(),
            "session_id": self.session_id,
        }

    def _init(self, event: SessionStarted) -> Frame:
        return {
            "type": "system",
            "subtype": "init",
            "cwd": event.cwd,
            "session_id": event.session_id,
            "tools": ["Task" if name == AGENT_TOOL else name for name in event.tools],
            "mcp_servers": [{"name": name, "status": status} for name, status in event.servers],
            "model": event.model,
            "permissionMode": event.mode,
            "slash_commands": list(event.commands),
            "apiKeySource": self.options.api_key_source,
            "claude_code_version": COMPATIBLE_VERSION,
            "output_style": event.output_style,
            "agents": list(event.agents),
            "skills": list(event.skills),
            "plugins": [msgspec.to_builtins(plugin) for plugin in event.plugins],
            "capabilities": list(CAPABILITIES),
            "analytics_disabled": True,
            "product_feedback_disabled": True,
            **({"betas": list(event.betas)} if event.betas else {}),
            "uuid": new_uuid(),
            "memory_paths": {"auto": self.options.memory_path},
            "fast_mode_state": "off",
            "checkrein": {
                "layers": msgspec.to_builtins(event.layers),
                "trusted": event.trusted,
                "skipped": [f"{one.origin}: {one.message}" for one in event.skipped],
                "notes": list(self.options.notes),
            },
        }

    def _streamed(self, event: Streamed) -> Iterator[Frame]:
        """The raw events of a reply. Its beginning waits for what the request used, which comes next. A whole
        block comes before the event that ends it."""
        part = event.event
        if isinstance(part, Started):
            self._reply, self._used = part, None
            return
        if self._used is None:
            self._used = part.usage if isinstance(part, UsageReport) else Usage()
            first_token = int((time.monotonic() - self._asked_at) * 1000)
            yield self._raw(message_start(self._reply, self._used)) | {"ttft_ms": first_token}
        for raw in raw_events(part):
            if raw["type"] == "content_block_stop" and isinstance(part, BlockCompleted) and event.uuid:
                self._placed.add(event.uuid)
                block = AssistantBlock(
                    event.uuid, self._reply.id, self._reply.model, part.block, self._used, last=False
                )
                yield self._assistant(block)
            yield self._raw(raw)

    def _raw(self, event: Frame) -> Frame:
        return self._frame("stream_event", {"event": event, "parent_tool_use_id": None})

    def _assistant(self, event: AssistantBlock) -> Frame:
        message = {
            "id": event.message_id,
            "type": "message",
            "role": "assistant",
            "model": event.model,
            "content": [msgspec.to_builtins(event.block)],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage_fields(event.usage),
            "context_management": None,
        }
        frame = self._frame("assistant", {"message": message, "parent_tool_use_id": None}, event.uuid)
        return frame | {"error": event.error} if event.error else frame

    def _user(self, content: Any, uuid: str) -> Frame:
        fields = {
            "message": {"role": "user", "content": msgspec.to_builtins(content)},
            "parent_tool_use_id": None,
        }
        return self._frame("user", fields, uuid) | {"timestamp": clock.timestamp_ms()}

    def _tool_result(self, event: ToolFinished) -> Frame:
        block, beside = result_block(event, hosted=self.options.hosted)
        return self._user([block], event.uuid) | beside

    def _beside(self, event: ToolFinished) -> Frame:
        """A call that the model did not make: the line of a skill, the tool of a hook."""
        return self._system(
            "tool_call",
            caller=event.caller,
            tool_name=event.name,
            tool_use_id=event.id,
            tool_input=event.input,
            parent_tool_use_id=event.parent_call,
            is_error=event.is_error,
            verdict=event.verdict,
            reason=event.reason,
        )

    def _denied(self, event: PermissionDenied) -> Frame:
        denial = event.denial
        return self._system(
            "permission_denied",
            tool_name=denial.tool_name,
            tool_use_id=denial.tool_use_id,
            decision_reason_type=event.by,
            decision_reason=denial.rule or denial.reason,
            message=denial.reason,
        )

    def _hook(self, event: HookStarted | HookFinished) -> Frame:
        common = {"hook_id": event.hook_id, "hook_name": event.hook_name, "hook_event": event.event}
        if isinstance(event, HookStarted):
            return self._system("hook_started", **common)
        return self._system(
            "hook_response",
            **common,
            output=event.output,
            stdout=event.stdout,
            stderr=event.stderr,
            exit_code=event.exit_code if event.exit_code is not None else -1,
            outcome=event.outcome,
        )


def _as_sent(content: Sequence[Block]) -> Any:
    """A prompt that is one text goes back as it came."""
    match content:
        case (Text(text=text),):
            return text
    return content
