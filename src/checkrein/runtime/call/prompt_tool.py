"""An MCP tool that answers for the user whether a call may run: `--permission-prompt-tool`.

It gets `tool_name`, `input` and `tool_use_id`. Its text is JSON: `{"behavior": "allow", "updatedInput": ...}`
or `{"behavior": "deny", "message": ...}`. The call of this tool itself passes host and gate: a rule or a hook
can refuse it, and then nobody answers. The user named it on the command line, so no mode asks about it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from checkrein.base.ids import short_id
from checkrein.base.origin import COMMAND_LINE, Origin
from checkrein.llm.port import Cancel, Text, ToolUse
from checkrein.policy.remote import PREFIX
from checkrein.policy.updates import Update
from checkrein.policy.values import HookVerdict
from checkrein.runtime.call.toolset import Toolbox, ToolView
from checkrein.runtime.session.control import Answer, Question

if TYPE_CHECKING:
    from checkrein.llm.port import Block
    from checkrein.runtime.call.host import ToolHost
    from checkrein.runtime.call.toolset import ToolSet
    from checkrein.runtime.session.events import ToolFinished

FLAG = "--permission-prompt-tool"
CONSENT = HookVerdict("allow", f"{FLAG} names it", Origin(COMMAND_LINE, "cli"))
"""Why the gate lets the call of the tool itself pass, where no rule refuses or asks."""

Settle = Callable[[str, Cancel], object]
"""Waits for a server that somebody needs now."""


class PromptTool:
    """An Asker. `host` is one of its own: the model has no such tool."""

    def __init__(self, name: str, host: ToolHost, tools: ToolSet, settle: Settle) -> None:
        self._name = name
        self._host = host
        self._settle = settle
        host.view = ToolView(tools, lambda all: Toolbox(tool for tool in all if self._is_it(tool.name)))

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        if self._is_it(question.tool):
            return _denied("It answers for the user, and can't decide about itself.")
        self._settle(self._name.removeprefix(PREFIX).partition("__")[0], cancel)
        self._host.view.refresh()
        if self._host.tools.get(self._name) is None:
            return _denied(f"{FLAG} {self._name}: no connected MCP server has this tool.")
        asked = {"tool_name": question.tool, "input": question.input, "tool_use_id": question.call_id}
        use = ToolUse(short_id("ask_"), self._name, asked)
        done = self._host.call(use, cancel, caller="asker").finished
        self._host.recorder.take(done)
        text = _text(done)
        if done.is_error:
            return _denied(f"{self._name} did not answer: {text[:500]}")
        return _answer(text, question, self._name, self._masked(question.input))

    def _is_it(self, tool: str) -> bool:
        return tool == self._name

    def _masked(self, input: dict[str, Any]) -> Any:
        """The input as it comes back in the tool's answer, where secrets are masked."""
        return json.loads(self._host.bench.vault.masked(json.dumps(input)))


def _answer(text: str, question: Question, name: str, masked: Any) -> Answer:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        told = None
    match told:
        case {"behavior": "allow"}:
            updated = told.get("updatedInput")
            if updated is not None and not isinstance(updated, dict):
                return _denied(f"{name}: `updatedInput` must be an object.")
            same = updated is None or updated == masked
            permissions = tuple(_updates(told.get("updatedPermissions")))
            return Answer(
                verdict="allow",
                updated_input=None if same else updated,
                updated_permissions=permissions,
            )
        case {"behavior": "deny"}:
            message = told.get("message")
            words = message if isinstance(message, str) else ""
            return Answer(verdict="deny", message=words, interrupt=told.get("interrupt") is True)
    wanted = '{"behavior": "allow" or "deny", ...}'
    return _denied(f"{name} must answer {question.tool} with {wanted}, and said: {text[:200]}")


def _updates(given: Any) -> Iterator[Update]:
    for one in given if isinstance(given, list) else ():
        try:
            yield msgspec.convert(one, Update)
        except msgspec.ValidationError:
            continue


def _text(done: ToolFinished) -> str:
    content: str | Sequence[Block] = done.content
    if isinstance(content, str):
        return content
    return "".join(part.text for part in content if isinstance(part, Text))


def _denied(message: str) -> Answer:
    return Answer(verdict="deny", message=message)
