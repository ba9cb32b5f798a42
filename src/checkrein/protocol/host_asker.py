"""Asks the host whether a call may run: `can_use_tool`."""

from __future__ import annotations

from typing import Any

import msgspec

from checkrein.llm.cancel import Cancel
from checkrein.policy.updates import Update
from checkrein.protocol.requests import HostError, Requests
from checkrein.protocol.session_states import SessionStates
from checkrein.protocol.wire import Frame
from checkrein.runtime.session.control import Answer, Question

_TOLD = ("description", "file_path", "notebook_path", "command", "url", "pattern", "query", "prompt")


class HostAsker:
    """The function of the program that drives the session speaks for the user. When it fails, the answer is
    no."""

    def __init__(self, requests: Requests, states: SessionStates) -> None:
        self._requests = requests
        self._states = states

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        try:
            with self._states.asking():
                return _answer(self._requests.ask(_request(question), cancel), question)
        except HostError as failure:
            return Answer(
                verdict="deny", message=failure.message, interrupt=failure.why in ("cancelled", "gone")
            )


def _request(question: Question) -> Frame:
    request: Frame = {
        "subtype": "can_use_tool",
        "tool_name": question.tool,
        "display_name": question.tool,
        "input": question.input,
        "description": _description(question),
        "permission_suggestions": msgspec.to_builtins(question.suggestions),
        "blocked_path": question.blocked_path,
        "decision_reason": question.reason,
        "tool_use_id": question.call_id,
    }
    return request if question.agent_id is None else request | {"agent_id": question.agent_id}


def _description(question: Question) -> str:
    """What the call is about, in one line."""
    found = (question.input.get(key) for key in _TOLD)
    return next((value for value in found if isinstance(value, str) and value), question.reason)


def _answer(response: Frame, question: Question) -> Answer:
    if response.get("behavior") != "allow":
        message = response.get("message")
        return Answer(
            verdict="deny",
            message=message if isinstance(message, str) else "",
            interrupt=response.get("interrupt") is True,
        )
    updated: Any = response.get("updatedInput")
    if updated is not None and not isinstance(updated, dict):
        return Answer(verdict="deny", message="The host's answer has an input that is not an object.")
    try:
        permissions = msgspec.convert(response.get("updatedPermissions") or [], tuple[Update, ...])
    except msgspec.ValidationError as error:
        return Answer(verdict="deny", message=f"The host's answer has permissions of no known form: {error}")
    changed = None if updated == question.input else updated
    return Answer(verdict="allow", updated_input=changed, updated_permissions=permissions)
