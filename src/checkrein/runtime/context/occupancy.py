"""What fills the context window: the parts of the next request and their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from checkrein.policy.remote import PREFIX
from checkrein.runtime.context.compaction import estimate
from checkrein.runtime.context.segments import Segment, estimate_tokens
from checkrein.runtime.turn.compactor import auto_compacts, threshold, window

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation

Row = dict[str, Any]
_FREE = "Free space"


def context_usage(conversation: Conversation) -> Row:
    """The context as `get_context_usage` describes it. Sizes are estimates until the model counted them."""
    tools = [(spec.name, _tool_tokens(spec)) for spec in conversation.host.tools.specs]
    remote = [row for row in tools if row[0].startswith(PREFIX)]
    prompt = conversation.backdrop.prompt
    instructions = {item.name for item in prompt.instructions}
    memory = [one for one in prompt.opening if one.name in instructions]
    messages = list(conversation.state.messages)
    said = estimate(messages) - _sum(prompt.opening) if messages else 0
    parts = [
        ("System prompt", _sum(prompt.system)),
        ("System tools", sum(size for name, size in tools if (name, size) not in remote)),
        ("MCP tools", sum(size for _, size in remote)),
        ("Memory files", _sum(memory)),
        ("Session context", _sum(prompt.opening) - _sum(memory)),
        ("Messages", said),
    ]
    used = [(name, tokens) for name, tokens in parts if tokens > 0]
    total, room = sum(tokens for _, tokens in used), window(conversation)
    return {
        "categories": [
            *({"name": name, "tokens": tokens, "color": "used", "kind": "used"} for name, tokens in used),
            {"name": _FREE, "tokens": max(0, room - total), "color": "free", "kind": "free"},
        ],
        "totalTokens": total,
        "maxTokens": room,
        "rawMaxTokens": room,
        "percentage": round(100 * total / room) if room else 0,
        "gridRows": [],
        "model": conversation.state.model,
        "memoryFiles": [
            {
                "path": one.name,
                "type": one.origin.scope.title() if one.origin else "Project",
                "tokens": one.tokens,
            }
            for one in memory
        ],
        "mcpTools": [
            {"name": name, "serverName": name.split("__")[1], "tokens": size, "isLoaded": True}
            for name, size in remote
        ],
        "agents": [
            {"agentType": name, "source": "session", "tokens": estimate_tokens(kind.description or "")}
            for name, kind in conversation.offer.agents.items()
        ],
        "systemTools": [{"name": name, "tokens": size} for name, size in tools],
        "autoCompactThreshold": threshold(conversation),
        "isAutoCompactEnabled": auto_compacts(conversation),
        "apiUsage": None,
    }


def as_text(usage: Row) -> str:
    """The same for people."""
    share = f"{usage['totalTokens']:,} of {usage['maxTokens']:,} tokens ({usage['percentage']}%)"
    lines = [f"{row['name']}: {row['tokens']:,}" for row in usage["categories"]]
    return "\n".join((f"{usage['model']}: {share}", *lines))


def _sum(segments: Sequence[Segment]) -> int:
    return sum(segment.tokens for segment in segments)


def _tool_tokens(spec: Any) -> int:
    return estimate_tokens(msgspec.json.encode(spec).decode())
