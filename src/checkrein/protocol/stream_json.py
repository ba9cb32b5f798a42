"""Events as stream-json frames, in the shapes that Claude Code prints and its SDK reads.

One object per line. The first frame is `system/init`, the last `result`, each once; frames of partial
messages and of hooks come only on request.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from checkrein.base import clock
from checkrein.base.ids import new_uuid
from checkrein.facts.subagents import AGENT_TOOL
from checkrein.llm.port import Usage
from checkrein.protocol.raw_events import raw_events, usage_fields
from checkrein.runtime.session.events import (
    AssistantBlock,
    BackgroundEnded,
    BackgroundStarted,
    Compacted,
    Compacting,
    ContextAdded,
    Event,
    Finished,
    HookFinished,
    HookStarted,
    ModeChanged,
    ModelUsage,
    Notice,
    PermissionDenied,
    PromptAccepted,
    RequestSent,
    Result,
    Retrying,
    SessionStarted,
    Streamed,
    ToolFinished,
    ToolStarted,
)

Frame = dict[str, Any]
COMPATIBLE_VERSION = "2.1.325"
"""The product version whose shapes these are; `claude_code_version` of the init frame."""

_ALWAYS_SHOWN_HOOKS = frozenset({"SessionStart", "Setup"})


class FrameOptions(Struct, frozen=True, kw_only=True):
    partial: bool = False
    hook_events: bool = False
    replay_user: bool = False
    memory_path: str = ""
    api_key_source: str = "none"


class Frames:
    """Turns the events of one session into frames."""

    def __init__(self, options: FrameOptions) -> None:
        self.options = options
        self.session_id = ""
        self._asked_at = 0.0
        self._tasks: dict[str, Frame] = {}

    def of(self, event: Event) -> Iterator[Frame]:
        """The frames of one event. Frames of a child name the child and the call that it belongs to."""
        for frame in self._of(event):
            if "parent_tool_use_id" in frame:
                frame["parent_tool_use_id"] = event.parent_call
            if event.agent_id is not None:
                frame["agent_id"] = event.agent_id
            yield frame

    def _of(self, event: Event) -> Iterator[Frame]:
        match event:
            case SessionStarted():
                self.session_id = event.session_id
                yield self._init(event)
            case PromptAccepted() if self.options.replay_user:
                yield self._user(event.message.content, event.uuid) | {"isReplay": True}
            case RequestSent() if self.options.partial and event.agent_id is None:
                self._asked_at = time.monotonic()
                yield self._system("status", status="requesting")
            case Streamed() if self.options.partial:
                for raw in raw_events(event.event):
                    yield self._frame("stream_event", {"event": raw, "parent_tool_use_id": None}) | (
                        {"ttft_ms": int((time.monotonic() - self._asked_at) * 1000)}
                        if raw["type"] == "message_start"
                        else {}
                    )
            case AssistantBlock():
                yield self._assistant(event)
            case ToolFinished() if event.caller != "model":
                yield self._beside(event)
            case ToolFinished():
                yield self._tool_result(event)
            case ContextAdded():
                yield self._user([{"type": "text", "text": event.text}], event.uuid) | {"isSynthetic": True}
            case PermissionDenied():
                yield self._denied(event)
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
            case Compacting():
                yield self._system("status", status="compacting" if event.active else None)
            case ModeChanged():
                yield self._system("status", status=None, permissionMode=event.mode)
            case BackgroundStarted() | BackgroundEnded():
                yield from self._task(event)
            case Notice():
                more = {} if event.finding is None else {"finding": msgspec.to_builtins(event.finding)}
                yield self._system("informational", content=event.text, level=event.level, **more)
            case Finished():
                yield result_frame(event.result, event.uuid)

    def progress(self, call: ToolStarted, seconds: float) -> Frame:
        """A call that still runs."""
        fields = {
            "tool_use_id": call.id,
            "tool_name": call.name,
            "parent_tool_use_id": call.parent_call,
            "elapsed_time_seconds": round(seconds),
        }
        return self._frame("tool_progress", fields)

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
            "output_style": "default",
            "agents": list(event.agents),
            "skills": list(event.skills),
            "plugins": [{"name": name, "path": path} for name, path in event.plugins],
            "analytics_disabled": True,
            "product_feedback_disabled": True,
            "uuid": new_uuid(),
            "memory_paths": {"auto": self.options.memory_path},
            "fast_mode_state": "off",
            "checkrein": {"layers": msgspec.to_builtins(event.layers)},
        }

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
        block = {
            "tool_use_id": event.id,
            "type": "tool_result",
            "content": msgspec.to_builtins(event.content),
            "is_error": event.is_error,
        }
        structured = event.structured if event.structured is not None else f"Error: {event.content}"
        return self._user([block], event.uuid) | {"tool_use_result": structured}

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

    def _task(self, event: BackgroundStarted | BackgroundEnded) -> Iterator[Frame]:
        """A command or an agent in the background: that it runs, or how it ended."""
        if isinstance(event, BackgroundStarted):
            task = {"task_id": event.id, "task_type": event.kind, "description": event.description}
            more: Frame = {"tool_use_id": event.call_id, "is_backgrounded": True}
            if event.agent_type is not None:
                task["subagent_type"] = event.agent_type
                more |= {"spawn_depth": event.depth, "prompt": event.prompt}
            self._tasks[event.id] = task
            yield self._system("background_tasks_changed", tasks=list(self._tasks.values()))
            yield self._system("task_started", **task, **more)
            return
        self._tasks.pop(event.id, None)
        patch = {"status": event.status, "end_time": int(clock.now() * 1000)}
        yield self._system("task_updated", task_id=event.id, patch=patch)
        yield self._system(
            "task_notification",
            task_id=event.id,
            tool_use_id=event.call_id,
            status="stopped" if event.status == "killed" else event.status,
            output_file=event.path,
            summary=event.summary,
            usage={
                "total_tokens": event.tokens,
                "tool_uses": event.calls,
                "duration_ms": event.duration_ms,
            },
        )
        yield self._system("background_tasks_changed", tasks=list(self._tasks.values()))

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


def result_frame(result: Result, uuid: str) -> Frame:
    """The terminal frame; also what `--output-format json` prints."""
    failed = result.subtype != "success"
    outcome: Frame = {} if failed else {"api_error_status": result.status_code}
    frame: Frame = {
        "type": "result",
        "subtype": result.subtype,
        "is_error": result.is_error,
        **outcome,
        "duration_ms": result.duration_ms,
        "duration_api_ms": result.model_ms,
    }
    if failed:
        frame["errors"] = list(result.errors)
        if result.text:
            frame["result"] = result.text
    else:
        frame["ttft_ms"] = result.first_token_ms
        frame["ttft_stream_ms"] = result.first_token_ms
        frame["time_to_request_ms"] = result.first_request_ms
        frame["result"] = result.errors[-1] if result.is_error and result.errors else result.text
    frame |= {
        "num_turns": result.requests,
        "stop_reason": result.stop_reason,
        "session_id": result.session_id,
        "total_cost_usd": result.cost_usd,
        "usage": _result_usage(result.usage),
        "modelUsage": {name: _model_usage(name, used) for name, used in result.by_model.items()},
        "permission_denials": [_denial(denial) for denial in result.denials],
        "terminal_reason": result.terminal_reason,
        "fast_mode_state": "off",
        "uuid": uuid,
    }
    if result.structured_output is not None:
        frame["structured_output"] = result.structured_output
    if result.deferred is not None:
        frame["deferred_tool_use"] = msgspec.to_builtins(result.deferred)
    own: Frame = {}
    if result.skipped:
        own["skipped"] = msgspec.to_builtins(result.skipped)
    if len(result.by_agent) > 1:
        own["by_agent"] = {name: _agent_usage(used) for name, used in result.by_agent.items()}
    return frame | ({"checkrein": own} if own else {})


def _agent_usage(used: ModelUsage) -> Frame:
    return {**_result_usage(used.usage), "cost_usd": used.cost_usd, "requests": used.requests}


def _denial(denial: Any) -> Frame:
    return {
        "tool_name": denial.tool_name,
        "tool_use_id": denial.tool_use_id,
        "tool_input": denial.tool_input,
        "checkrein": {
            "reason": denial.reason,
            "rule": denial.rule,
            "origin": msgspec.to_builtins(denial.origin),
        },
    }


def _result_usage(usage: Usage) -> Frame:
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_creation,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        "server_tool_use": {"web_search_requests": usage.searches, "web_fetch_requests": 0},
        "service_tier": "standard",
        "cache_creation": {
            "ephemeral_1h_input_tokens": usage.cache_creation_1h,
            "ephemeral_5m_input_tokens": usage.cache_creation - usage.cache_creation_1h,
        },
        "inference_geo": "",
        "iterations": [],
        "speed": "standard",
    }


def _model_usage(name: str, used: ModelUsage) -> Frame:
    from checkrein.facts.models import find_model

    facts = find_model(name)
    return {
        "inputTokens": used.usage.input,
        "outputTokens": used.usage.output,
        "cacheReadInputTokens": used.usage.cache_read,
        "cacheCreationInputTokens": used.usage.cache_creation,
        "webSearchRequests": used.usage.searches,
        "costUSD": used.cost_usd or 0.0,
        "contextWindow": facts.window if facts else 0,
        "maxOutputTokens": facts.max_output if facts else 0,
    }
