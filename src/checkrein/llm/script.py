"""Scripts for a scripted model: one JSON object per reply, as JSONL or as a JSON list."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from checkrein.base.errors import ConfigError, FileError
from checkrein.base.files import read_text
from checkrein.llm.content import Message, Text, ToolResult
from checkrein.llm.failures import ModelRequestError
from checkrein.llm.port import Hit, Request, Usage

_DIFF_LINES = 20


class Call(Struct, frozen=True, forbid_unknown_fields=True):
    """A tool call. `arguments` replaces `input` and goes out unchanged, so that it may be broken JSON."""

    name: str
    input: dict[str, Any] = {}
    id: str | None = None
    arguments: str | None = None


class Match(Struct, frozen=True, forbid_unknown_fields=True):
    """What a request must look like. It must contain each text, and offer all `tools`."""

    text: str | None = None
    tool_result: str | None = None
    first_text: str | None = None
    system: str | None = None
    model: str | None = None
    tools: tuple[str, ...] = ()
    messages: int | None = None

    def problem(self, request: Request) -> str | None:
        """Why the request does not match, in words; None when it does."""
        last = request.messages[-1] if request.messages else Message("user", ())
        first = request.messages[0] if request.messages else last
        system = "\n\n".join(block.text for block in request.system)
        for wanted, name, found in (
            (self.text, "text of the last message", _texts(last)),
            (self.tool_result, "tool results of the last message", _results(last)),
            (self.first_text, "text of the first message", _texts(first)),
            (self.system, "system prompt", system),
            (self.model, "model", request.model),
        ):
            if wanted is not None and wanted not in found:
                return f"the {name} should hold {_short(wanted)!r}\n{_difference(wanted, found)}"
        missing = [name for name in self.tools if name not in {tool.name for tool in request.tools}]
        if missing:
            return f"the tool {missing[0]!r} should be offered"
        if self.messages is not None and len(request.messages) != self.messages:
            return f"there should be {self.messages} messages but there are {len(request.messages)}"
        return None


class Fault(Struct, frozen=True, forbid_unknown_fields=True):
    """How this reply fails. `after` is the number of events before it does.

    `status` refuses the request; `cut` closes the connection; `malformed` sends an event that is not JSON;
    `oversized` sends an event of that many bytes; `silent` sends nothing for that many seconds, then goes on;
    `error` sends an error event of that type; `content_type` mislabels the answer."""

    status: int | None = None
    error: str | None = None
    message: str = "scripted fault"
    retry_after: float | None = None
    after: int = 1
    cut: bool = False
    malformed: bool = False
    oversized: int | None = None
    silent: float | None = None
    content_type: str | None = None


class Turn(Struct, frozen=True, forbid_unknown_fields=True):
    """One reply: the `hits` of a web search, thinking, then text, then tool calls.

    `chunk` is the size of a delta in characters (0: whole); `delay` the seconds before an answer, `pace`
    the seconds between two events. `when` limits the turn to matching requests (others take the next turn);
    `expect` fails the session when it does not match. `repeat` 0 means without end."""

    text: str = ""
    thinking: str = ""
    signature: str = "c2lnbmVk"
    tool_calls: tuple[Call, ...] = ()
    hits: tuple[Hit, ...] = ()
    stop_reason: str | None = None
    usage: dict[str, int] = {}
    chunk: int = 0
    delay: float = 0.0
    pace: float = 0.0
    repeat: int = 1
    when: Match | None = None
    expect: Match | None = None
    fault: Fault | None = None

    def __post_init__(self) -> None:
        unknown = self.usage.keys() - set(Usage.__struct_fields__)
        if unknown:
            raise ValueError(f"usage has no {min(unknown)!r}")


class Script:
    """Turns in order. Each request takes the first remaining one whose `when` matches. Thread-safe."""

    def __init__(self, turns: Iterable[Turn | dict[str, Any]], name: str = "script") -> None:
        self.name = name
        self.turns = tuple(_turn(turn, name, number) for number, turn in enumerate(turns, 1))
        self._left: list[float] = [turn.repeat or float("inf") for turn in self.turns]
        self._lock = threading.Lock()
        self._taken = 0
        self._from = 0
        self.failures: list[str] = []

    @classmethod
    def load(cls, path: str | Path) -> Script:
        file = read_text(path)
        if not file.readable:
            raise FileError(f"The script {path} {file.problem}.")
        return cls.parse(file.text, str(path))

    @classmethod
    def parse(cls, text: str, name: str = "script") -> Script:
        try:
            if text.lstrip().startswith("["):
                return cls(msgspec.json.decode(text, type=list[dict[str, Any]]), name)
            lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
            return cls([msgspec.json.decode(line, type=dict[str, Any]) for line in lines], name)
        except msgspec.DecodeError as error:
            raise ConfigError(
                f"The script {name} can't be read: {error}.", hint="Write one JSON object per line."
            ) from None

    def take(self, request: Callable[[], Request]) -> tuple[int, Turn]:
        """The turn for a request, with its number (from 1). Raises a failure of kind `script`, and keeps it
        in `failures`: a session goes on without its model."""
        try:
            return self._take(request)
        except ModelRequestError as error:
            self.failures.append(error.message)
            raise

    def _take(self, request: Callable[[], Request]) -> tuple[int, Turn]:
        with self._lock:
            index = self._pick(request)
            self._left[index] -= 1
            while self._from < len(self.turns) and self._left[self._from] <= 0:
                self._from += 1
            self._taken += 1
            number, turn = self._taken, self.turns[index]
        problem = turn.expect.problem(request()) if turn.expect else None
        if problem:
            end = "" if "\n" in problem else "."
            raise ModelRequestError("script", f"{self.name}, turn {index + 1}: {problem}{end}")
        return number, turn

    def _pick(self, request: Callable[[], Request]) -> int:
        for index in range(self._from, len(self.turns)):
            when = self.turns[index].when
            if self._left[index] > 0 and (when is None or when.problem(request()) is None):
                return index
        raise ModelRequestError(
            "script",
            f"{self.name} has no turn left for request {self._taken + 1}{_last_words(request())}",
            hint='Add a turn, or repeat one with "repeat": 0.',
        )

    @property
    def finished(self) -> bool:
        """True when requests have taken every turn that does not repeat without end."""
        return not self.unused

    @property
    def unused(self) -> list[int]:
        """The numbers, from 1, of the turns that requests have not taken as often as they should."""
        with self._lock:
            left = enumerate(self._left, 1)
            return [number for number, times in left if 0 < times < float("inf")]


def _turn(turn: Turn | dict[str, Any], name: str, number: int) -> Turn:
    if isinstance(turn, Turn):
        return turn
    try:
        return msgspec.convert(turn, Turn)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{name}, turn {number}: {error}.") from None


def _difference(wanted: str, found: str) -> str:
    """What the script wants against what the request has, as a diff. Reminders, which every session puts
    before a prompt, are left out, and the beginning of what is long."""
    from difflib import unified_diff

    asked = _without_reminders(found).splitlines()
    before = [f"… {len(asked) - _DIFF_LINES} lines"] if len(asked) > _DIFF_LINES else []
    asked = [*before, *asked[-_DIFF_LINES:]]
    lines = unified_diff(wanted.splitlines(), asked, "script", "request", lineterm="", n=1)
    return "\n".join(map(_short, lines))


def _texts(message: Message) -> str:
    return "\n".join(block.text for block in message.content if isinstance(block, Text))


def _results(message: Message) -> str:
    found: list[str] = []
    for block in message.content:
        if isinstance(block, ToolResult):
            content = block.content
            found.append(
                content
                if isinstance(content, str)
                else "\n".join(part.text for part in content if isinstance(part, Text))
            )
    return "\n".join(found)


def _without_reminders(text: str) -> str:
    import re

    return re.sub(r"<system-reminder>.*?</system-reminder>\s*", "", text, flags=re.DOTALL)


def _last_words(request: Request) -> str:
    """What a request says last, for a message about it."""
    last = request.messages[-1] if request.messages else Message("user", ())
    said = _without_reminders(_results(last) or _texts(last)).strip()
    return f", which says {_short(said)!r}." if said else "."


def _short(text: str) -> str:
    return text if len(text) <= 200 else text[:200] + "…"
