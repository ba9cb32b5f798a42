"""Prompt and agent hooks: a model judges whether something is all right."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from checkrein.base.wellformed import encode
from checkrein.facts.claude_hooks import REFUSAL_ENDS_TURN, REFUSAL_IGNORED, REFUSAL_MAY_END_TURN
from checkrein.model.items import Hook
from checkrein.runtime.hooks.output import Answer, Raw, refuse
from checkrein.runtime.hooks.ports import Ports

if TYPE_CHECKING:
    from checkrein.runtime.hooks.handlers import Occasion

_FORM = (
    "\n\nAnswer with one JSON object and nothing else: "
    '{"ok": true} when this is all right, {"ok": false, "reason": "..."} when it is not. '
    'Add "impossible": true when it never can be.'
)
_FENCE = re.compile(r"```(?:json)?\s*(\{.*?\})\s*```", re.DOTALL)


class Reply(Struct, frozen=True):
    ok: bool
    reason: str = ""
    impossible: bool = False


def ask(hook: Hook, occasion: Occasion, ports: Ports) -> Raw:
    """The model's words as `stdout`."""
    text, cancel = question(hook, occasion.payload), occasion.cancel
    if hook.type == "agent" and ports.run_agent is not None:
        said = ports.run_agent(text, hook.model, occasion.call, cancel, occasion.emit)
        return Raw(stdout=said, exit_code=None)
    if hook.type != "agent" and ports.ask_model is not None:
        return Raw(stdout=ports.ask_model(text, hook.model, cancel), exit_code=None)
    return Raw(failure=f"this session has no model for {hook.type} hooks", exit_code=None)


def question(hook: Hook, payload: dict[str, Any]) -> str:
    """The hook's prompt with `$ARGUMENTS` replaced by the event's JSON, or the JSON appended."""
    prompt = hook.prompt or ""
    event = encode(payload).decode()
    told = prompt.replace("$ARGUMENTS", event) if "$ARGUMENTS" in prompt else f"{prompt}\n\n{event}"
    return told + _FORM


def judge(hook: Hook, event: str, raw: Raw) -> Answer | None:
    """What a reply means for the event; None when it is not a valid reply."""
    reply = read_reply(raw.stdout)
    if reply is None:
        return None
    if reply.ok or event in REFUSAL_IGNORED:
        return Answer()
    reason = reply.reason or "The hook did not approve, and gave no reason."
    if event in ("Stop", "SubagentStop") and reply.impossible:
        return Answer(system_message=reason)
    goes_on = hook.type == "agent" or hook.continue_on_block
    ends = event in REFUSAL_ENDS_TURN or (event in REFUSAL_MAY_END_TURN and not goes_on)
    return refuse(event, reason, ends_turn=ends, stop_reason=reason if ends else None)


def read_reply(text: str) -> Reply | None:
    fenced = _FENCE.search(text)
    for candidate in (text.strip(), fenced[1] if fenced else "", text[text.find("{") : text.rfind("}") + 1]):
        if candidate.startswith("{"):
            try:
                return msgspec.json.decode(candidate, type=Reply)
            except (msgspec.DecodeError, RecursionError, UnicodeError):
                continue
    return None
