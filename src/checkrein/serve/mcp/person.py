"""The person behind a client: asked by elicitation, and the client's model by sampling."""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types

from checkrein.base.harmless import harmless, one_line
from checkrein.llm.cancel import Cancel
from checkrein.runtime.hooks.outcome import Elicited
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.elicitation import Elicitation
from checkrein.runtime.session.control import Answer, Question
from checkrein.serve.mcp.line import Line

_SHOWN = 100_000
"""So many characters of a call a client can show; nobody approves what nobody sees whole."""
_ALLOW, _DENY = "allow", "deny"
_CHOICE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decision": {
            "type": "string",
            "title": "May it run?",
            "enum": [_ALLOW, _DENY],
            "default": _DENY,
        }
    },
    "required": ["decision"],
}


class Person:
    """An `Asker` and an `ElicitationAsker`. Only a clear yes allows a call. With `several` servers behind the
    gateway, a question says which of them asks."""

    def __init__(self, line: Line, *, several: bool = False) -> None:
        self._line = line
        self._several = several

    @property
    def takes_forms(self) -> bool:
        """A client that names neither forms nor addresses takes forms."""
        able = self._line.capabilities.elicitation
        return able is not None and (able.form is not None or able.url is None)

    @property
    def takes_addresses(self) -> bool:
        able = self._line.capabilities.elicitation
        return able is not None and able.url is not None

    @property
    def can_sample(self) -> bool:
        return self._line.capabilities.sampling is not None

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        given = harmless(json.dumps(question.input, ensure_ascii=False, default=str))
        if len(given) > _SHOWN:
            text = f"It can't be approved: it has {len(given):,} characters, and a question shows {_SHOWN:,}."
            return Answer(verdict="deny", message=f"{text} Split it, or allow it by a rule.")
        form = {"mode": "form", "message": _asked(question, given), "requestedSchema": _CHOICE}
        try:
            answer = self._elicit(form, cancel)
        except Exception as error:  # the client fails, or is gone: nobody said yes
            return Answer(verdict="deny", message=f"Nobody answered: {one_line(str(error))[:200]}")
        said = (answer.content or {}).get("decision") if answer.action == "accept" else None
        if said == _ALLOW:
            return Answer(verdict="allow")
        return Answer(verdict="deny", message="The user refused it.")

    def elicit(self, asked: Elicitation, cancel: Cancel) -> Elicited:
        if not (self.takes_addresses if asked.mode == "url" else self.takes_forms):
            return Elicited("decline")
        message = f"[{one_line(asked.server)}] {asked.message}" if self._several else asked.message
        form: dict[str, Any]
        if asked.mode == "url":
            form = {"mode": "url", "message": message, "url": asked.url, "elicitationId": asked.id or ""}
        else:
            form = {"mode": "form", "message": message, "requestedSchema": asked.schema}
        answer = self._elicit(form, cancel)
        return Elicited(answer.action, answer.content)

    def sample(self, server: str, asked: dict[str, Any], cancel: Cancel) -> dict[str, Any]:
        params = types.CreateMessageRequestParams.model_validate(asked)
        try:
            answer = self._line.ask(
                types.CreateMessageRequest(params=params), types.CreateMessageResultWithTools, cancel
            )
        except Exception as error:
            raise ServerFailure(f"The client gave no sample: {one_line(str(error))[:200]}") from None
        return answer.model_dump(by_alias=True, mode="json", exclude_none=True)

    def _elicit(self, form: dict[str, Any], cancel: Cancel) -> types.ElicitResult:
        model = types.ElicitRequestURLParams if form["mode"] == "url" else types.ElicitRequestFormParams
        request = types.ElicitRequest(params=model.model_validate(form))
        return self._line.ask(request, types.ElicitResult, cancel)


def _asked(question: Question, shown: str) -> str:
    why = f"\n{harmless(question.reason)}" if question.reason else ""
    claims = f"\nThe server says: {one_line('; '.join(question.claims))}" if question.claims else ""
    return f"{one_line(question.tool)} wants to run:\n{shown}{why}{claims}"
