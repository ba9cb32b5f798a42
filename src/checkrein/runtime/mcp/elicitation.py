"""A server's question to the user: hooks first, then whoever can be asked, then hooks on the answer.

A form asks for the fields of a schema; a URL is shown and never opened by us. Without anybody who can answer,
the answer is no.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from checkrein.base.harmless import harmless, one_line
from checkrein.llm.port import Cancel
from checkrein.runtime.hooks import payloads_calls
from checkrein.runtime.hooks.outcome import Elicited, HookOutcome
from checkrein.runtime.hooks.payloads import notification
from checkrein.runtime.hooks.runner import HookRunner
from checkrein.runtime.session.channel import drained, ignored
from checkrein.runtime.session.events import Event, Notice

_KEYWORDS = frozenset(
    {
        *("type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
        *("minLength", "maxLength", "minItems", "maxItems", "uniqueItems"),
    }
)
"""What a field may demand. A pattern could keep us busy for ever, so the server checks it itself."""
_CHOICES = ("oneOf", "anyOf")


class Elicitation(Struct, frozen=True, kw_only=True):
    """What a server asks. A form has `schema`, an object with plain fields; a URL has `url` and `id`."""

    server: str
    message: str
    mode: Literal["form", "url"] = "form"
    schema: dict[str, Any] = {}
    url: str | None = None
    id: str | None = None

    @property
    def shown(self) -> str:
        """The question for a person: harmless text that names who asks, and the whole address."""
        asked = f"The MCP server {one_line(self.server)} asks: {harmless(self.message)}"
        return f"{asked}\n{one_line(self.url)}" if self.mode == "url" and self.url else asked


class ElicitationAsker(Protocol):
    """Answers for the user. May take long; must return soon after `cancel` fires."""

    def elicit(self, asked: Elicitation, cancel: Cancel) -> Elicited: ...


class ScriptedElicitationAsker:
    """Answers from a list, then declines; the fake that ships for tests."""

    def __init__(self, *answers: Elicited) -> None:
        self.answers = list(answers)
        self.questions: list[Elicitation] = []

    def elicit(self, asked: Elicitation, cancel: Cancel) -> Elicited:
        self.questions.append(asked)
        return self.answers.pop(0) if self.answers else Elicited("decline")


class Elicitor:
    """Answers the questions of servers in one conversation. Safe to use from several threads."""

    def __init__(
        self,
        hooks: HookRunner,
        asker: Callable[[], ElicitationAsker | None],
        emit: Callable[[Event], object] = ignored,
    ) -> None:
        self._hooks = hooks
        self._asker = asker
        self._emit = emit
        self._unheard: set[str] = set()
        """The servers that asked when nobody was there: the user learns it once."""

    def answer(self, asked: Elicitation, cancel: Cancel) -> Elicited:
        """The answer for the server. Never raises; content that does not fit the schema is not sent."""
        if asked.mode == "url" and not _is_web(asked.url):
            text = f"The MCP server {one_line(asked.server)} wants to open {one_line(str(asked.url))}. "
            self._emit(Notice("warning", f"{text}Only http and https addresses are shown to the user."))
            return Elicited("decline")
        hooked = self._fire(_question(self._hooks, asked), cancel).elicited
        answer = hooked or self._judged(asked, self._ask(asked, cancel), cancel)
        if answer.action != "accept" or asked.mode == "url":
            return Elicited(answer.action)
        content, problem = completed(asked.schema, answer.content or {})
        if problem is None:
            return Elicited("accept", content)
        text = f"The answer to the MCP server {one_line(asked.server)} was not sent: {one_line(problem)}."
        self._emit(Notice("warning", text))
        return Elicited("cancel")

    def _ask(self, asked: Elicitation, cancel: Cancel) -> Elicited:
        asker = self._asker()
        if cancel.cancelled:
            return Elicited("cancel")
        if asker is None:
            if asked.server not in self._unheard:
                self._unheard.add(asked.server)
                text = f"The MCP server {one_line(asked.server)} asked a question, and nobody can answer it."
                self._emit(Notice("warning", text))
            return Elicited("decline")
        kind = "elicitation_url_dialog" if asked.mode == "url" else "elicitation_dialog"
        self._hooks.fire_aside(notification(self._hooks.common, asked.shown, kind))
        try:
            answer = asker.elicit(asked, cancel)
        except Exception as error:  # the asker is code of a program
            self._emit(Notice("warning", f"The question of {one_line(asked.server)} failed: {error}"))
            return Elicited("cancel")
        said = f"{one_line(asked.server)}: {answer.action}"
        self._hooks.fire_aside(notification(self._hooks.common, said, "elicitation_response"))
        return answer

    def _judged(self, asked: Elicitation, answer: Elicited, cancel: Cancel) -> Elicited:
        """The answer after the hooks that see it."""
        payload = payloads_calls.elicitation_result(
            self._hooks.common,
            asked.server,
            answer.action,
            content=answer.content,
            mode=asked.mode,
            elicitation_id=asked.id,
        )
        changed = self._fire(payload, cancel).elicited
        if changed is None:
            return answer
        keeps = changed.action == "accept" and changed.content is None
        return Elicited("accept", answer.content) if keeps else changed

    def _fire(self, payload: dict[str, Any], cancel: Cancel) -> HookOutcome:
        return drained(self._hooks.fire(payload, cancel), self._emit)


def _question(hooks: HookRunner, asked: Elicitation) -> dict[str, Any]:
    return payloads_calls.elicitation(
        hooks.common,
        asked.server,
        asked.message,
        mode=asked.mode,
        url=asked.url,
        elicitation_id=asked.id,
        requested_schema=asked.schema if asked.mode == "form" else None,
    )


def _is_web(url: str | None) -> bool:
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def completed(schema: Mapping[str, Any], content: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """The content with the schema's defaults for omitted fields, and what is wrong with it. A default that
    does not fit its own field is left out."""
    properties = schema.get("properties")
    fields: dict[str, Any] = properties if isinstance(properties, dict) else {}
    filled = dict(content)
    for name, field in fields.items():
        has_default = name not in filled and isinstance(field, dict) and "default" in field
        if has_default and _problem(field, field["default"]) is None:
            filled[name] = field["default"]
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in filled:
            return filled, f"`{name}` is missing"
    if schema.get("additionalProperties") is False:
        for name in filled:
            if name not in fields:
                return filled, f"`{name}` was not asked for"
    for name, value in filled.items():
        problem = _problem(fields[name], value) if isinstance(fields.get(name), dict) else None
        if problem is not None:
            return filled, f"`{name}`: {problem}"
    return filled, None


def _problem(field: dict[str, Any], value: Any) -> str | None:
    """What is wrong with the value of a field."""
    from jsonschema import Draft202012Validator, exceptions

    demands = _demands(field)
    try:
        Draft202012Validator.check_schema(demands)
    except exceptions.SchemaError:
        return "the server's schema for it is broken"
    error = exceptions.best_match(Draft202012Validator(demands).iter_errors(value))
    return error.message[:300] if error is not None else None


def _demands(field: dict[str, Any]) -> dict[str, Any]:
    """The plain keywords of a field, with the titled choices and the list that forms may have."""
    found = {key: value for key, value in field.items() if key in _KEYWORDS}
    for key in _CHOICES:
        choices = field.get(key)
        if isinstance(choices, list) and choices and all(_is_choice(one) for one in choices):
            found["enum"] = [one["const"] for one in choices]
    if isinstance(field.get("items"), dict):
        found["items"] = _demands({**field["items"], "items": None})
    return found


def _is_choice(choice: Any) -> bool:
    return isinstance(choice, dict) and "const" in choice
