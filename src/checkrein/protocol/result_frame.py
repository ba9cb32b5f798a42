"""The end of a turn as a frame; also what `--output-format json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from checkrein.llm.port import Usage
from checkrein.protocol.wire import Frame
from checkrein.runtime.session.events import ModelUsage, Result


def result_frame(result: Result, uuid: str, before: Usage | None = None) -> Frame:
    """The terminal frame; also what `--output-format json` prints. `usage` is that of the turn, without what
    was used `before` it; costs and `modelUsage` count the whole session."""
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
        "usage": _result_usage(result.usage - (before or Usage())),
        "modelUsage": model_usage(result.by_model),
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
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
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


def model_usage(by_model: Mapping[str, ModelUsage]) -> Frame:
    return {name: _model_usage(name, used) for name, used in by_model.items()}


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
        "thinkingTokens": used.usage.reasoning,
        "cacheCreationEphemeral5mInputTokens": used.usage.cache_creation - used.usage.cache_creation_1h,
        "cacheCreationEphemeral1hInputTokens": used.usage.cache_creation_1h,
        "canonicalModel": facts.name if facts else name,
    }
