"""The payloads of the verbs that run something. Light to import: they do not need the runtime."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.protocol.machine.route import Match
from checkrein.protocol.machine.stages import Stage


class TokenUsage(Struct, frozen=True):
    """Tokens as the provider counts them."""

    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int


class Refusal(Struct, frozen=True):
    """A refused call, and the rule that refused it with its file and line."""

    tool_name: str
    reason: str
    tool_use_id: str
    tool_input: dict[str, Any]
    rule: str | None
    origin: Origin | None


class Compaction(Struct, frozen=True):
    occurred: bool
    trigger: str | None = None
    tokens_before: int = 0
    tokens_after: int = 0


class Turn(Struct, frozen=True, kw_only=True):
    """`usage` is the session's total after the turn. `cancel_observed`: the turn got a stop and acknowledged
    it."""

    prompt: str
    output: str
    stop_reason: str
    cancel_observed: bool
    matched_commands: tuple[str, ...]
    matched_tools: tuple[str, ...]
    usage: TokenUsage
    permission_denials: tuple[Refusal, ...]
    tool_calls: int
    structured_output: Any
    compaction: Compaction


class Limits(Struct, frozen=True, kw_only=True):
    """`timeout_seconds` is for all turns, `turn_timeout_seconds` for each. `grace_seconds` is the time that a
    turn gets to acknowledge a stop."""

    max_turns: int = 3
    timeout_seconds: float | None = None
    turn_timeout_seconds: float | None = None
    grace_seconds: float = 2.0


class Looped(Struct, frozen=True, kw_only=True):
    """`final_cancel_observed` true after a time limit: you can use the session again; false: start a new one
    (`suspect`)."""

    prompt: str
    max_turns: int
    turns_completed: int
    timeout_seconds: float | None
    continuation_prompt: str | None
    turns: tuple[Turn, ...]
    final_stop_reason: str | None
    final_cancel_observed: bool
    turn_timeout_seconds: float | None
    grace_seconds: float
    max_budget_tokens: int | None
    session_id: str | None
    persisted_session_path: str | None
    suspect: bool
    model: str | None
    model_requested: str | None
    permission_mode: str | None
    permission_mode_source: str | None
    denied_tools: tuple[str, ...]
    usage: TokenUsage
    usage_source: str
    cost_usd: float
    permission_denials: tuple[Refusal, ...]


class ToolRun(Struct, frozen=True, kw_only=True):
    """`message` is one line; `output` is the whole result as the model would see it, `structured` as programs
    see it. `rule` is the rule that allowed the call."""

    name: str
    payload: str
    source_hint: str
    handled: bool
    message: str
    output: Any
    structured: Any
    duration_ms: int
    verdict: str
    reason: str
    rule: str | None


class CommandRun(Struct, frozen=True, kw_only=True):
    """`expansion` is the command's text for the model, with the output of its `!` lines. `executed`: a model
    worked on it, and the fields after it say how that ended."""

    name: str
    prompt: str
    source_hint: str
    handled: bool
    message: str
    expansion: str
    executed: bool
    output: str | None
    stop_reason: str | None
    cancel_observed: bool
    session_id: str | None
    persisted_session_path: str | None
    usage: TokenUsage | None
    permission_denials: tuple[Refusal, ...]
    duration_ms: int


class Machine(Struct, frozen=True):
    """`test_command` is the command that tests this setup."""

    python_version: str
    implementation: str
    platform_name: str
    test_command: str


class TurnBrief(Struct, frozen=True):
    prompt: str
    output: str
    stop_reason: str
    cancel_observed: bool


class Bootstrapped(Struct, frozen=True, kw_only=True):
    """The messages say what ran in the turn: expanded commands and called tools."""

    prompt: str
    limit: int
    setup: Machine
    routed_matches: tuple[Match, ...]
    command_execution_messages: tuple[str, ...]
    tool_execution_messages: tuple[str, ...]
    turn: TurnBrief
    persisted_session_path: str | None
    session_id: str | None
    stages: tuple[Stage, ...]
    final_stop_reason: str | None
    final_cancel_observed: bool
    suspect: bool
    model: str | None
    permission_mode: str | None
    usage: TokenUsage
    cost_usd: float
    permission_denials: tuple[Refusal, ...]
