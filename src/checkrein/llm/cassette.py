"""A recorded session: requests and replies in a JSONL file, without secrets.

Line 1 is a header. Every other line is an Exchange. A request is stored as its difference from an earlier one
(`base`): the messages after the first `kept` ones, and the fields that changed. So the file grows linearly
with the session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from checkrein.base import jsonl
from checkrein.base.errors import ConfigError, FileError
from checkrein.base.secrets import redact
from checkrein.llm.bodies import MessageBytes, encode_json
from checkrein.llm.content import Message
from checkrein.llm.failures import Limits, ModelRequestError
from checkrein.llm.port import ModelEvent, Request

VERSION = 1
_IDENTITY = ("messages", "cache_key", "user_id")
"""Fields that are stored separately, or that name one session or one user and so never match again."""
Rewrites = tuple[tuple[str, str], ...]


class StoredRequest(Struct, frozen=True, omit_defaults=True):
    hash: str
    base: int | None = None
    kept: int = 0
    messages: tuple[msgspec.Raw, ...] = ()
    fields: dict[str, Any] = {}


class StoredFailure(Struct, frozen=True, omit_defaults=True):
    kind: str
    message: str
    hint: str | None = None
    status: int | None = None
    retry_after: float | None = None
    limits: Limits | None = None


class Exchange(Struct, frozen=True, omit_defaults=True):
    request: StoredRequest
    events: tuple[msgspec.Raw, ...] = ()
    failure: StoredFailure | None = None


class Plain(Struct, frozen=True):
    """A request as text that can be stored and compared: no secrets, no values of this machine."""

    messages: tuple[bytes, ...]
    fields: dict[str, Any]

    @property
    def hash(self) -> str:
        digest = hashlib.sha256(encode_json(self.fields))
        for message in self.messages:
            digest.update(b"\n" + message)
        return digest.hexdigest()


class Plainer:
    """Makes requests and events plain. `rewrites` pairs each text of this machine (a directory, a date)
    with the word that replaces it in the file."""

    def __init__(self, rewrites: Rewrites = ()) -> None:
        ordered = sorted(rewrites, key=lambda pair: -len(pair[0]))
        self._rewrites = [(_inside_json(here), _inside_json(word)) for here, word in ordered if here]
        self._messages = MessageBytes(self._message)

    def request(self, request: Request) -> Plain:
        fields = {
            name: value
            for name in Request.__struct_fields__
            if name not in _IDENTITY and (value := getattr(request, name)) != getattr(_BLANK, name)
        }
        plain = self.out(encode_json(redact(msgspec.to_builtins(fields))))
        return Plain(tuple(self._messages.of(request.messages)), msgspec.json.decode(plain))

    def event(self, event: ModelEvent) -> msgspec.Raw:
        return msgspec.Raw(self.out(encode_json(redact(msgspec.to_builtins(event)))))

    def out(self, data: bytes) -> bytes:
        for here, word in self._rewrites:
            data = data.replace(here, word)
        return data

    def back(self, data: bytes) -> bytes:
        for here, word in self._rewrites:
            data = data.replace(word, here)
        return data

    def _message(self, message: Message) -> bytes:
        return self.out(encode_json(redact(msgspec.to_builtins(message))))


class Cassette:
    """The content of a file. Reading it restores the whole requests."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self.exchanges = tuple(exchanges)
        self.requests: list[Plain] = []
        for exchange in self.exchanges:
            self.requests.append(_restore(exchange.request, self.requests))

    @classmethod
    def load(cls, path: str | Path) -> Cassette:
        try:
            lines = list(jsonl.read(Path(path)))
        except OSError as error:
            raise FileError(f"The cassette {path} can't be read: {error.strerror}.") from None
        if not lines or lines[0][1].get("cassette") != VERSION:
            raise ConfigError(f"{path} is not a cassette of version {VERSION}.", hint="Record it again.")
        try:
            return cls(_exchange(line) for _, line in lines[1:])
        except (msgspec.ValidationError, IndexError) as error:
            raise ConfigError(f"The cassette {path} is damaged: {error}.", hint="Record it again.") from None


def store(request: Plain, earlier: list[Plain]) -> StoredRequest:
    """The request as its difference from the earlier one with the most messages in common."""
    best, kept = None, 0
    for index in range(max(0, len(earlier) - 8), len(earlier)):
        shared = _shared(earlier[index].messages, request.messages)
        if shared >= kept:
            best, kept = index, shared
    before = earlier[best].fields if best is not None else {}
    fields = {
        name: request.fields.get(name)
        for name in {**before, **request.fields}
        if before.get(name) != request.fields.get(name)
    }
    messages = tuple(msgspec.Raw(message) for message in request.messages[kept:])
    return StoredRequest(request.hash, best, kept, messages, fields)


def _restore(stored: StoredRequest, earlier: list[Plain]) -> Plain:
    before = earlier[stored.base] if stored.base is not None else Plain((), {})
    fields = {**before.fields, **stored.fields}
    messages = (*before.messages[: stored.kept], *(bytes(message) for message in stored.messages))
    return Plain(messages, {name: value for name, value in fields.items() if value is not None})


def store_failure(error: ModelRequestError) -> StoredFailure:
    return StoredFailure(error.kind, error.message, error.hint, error.status, error.retry_after, error.limits)


def _exchange(line: Any) -> Exchange:
    return msgspec.json.decode(encode_json(line), type=Exchange)


def _shared(one: tuple[bytes, ...], other: tuple[bytes, ...]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _inside_json(text: str) -> bytes:
    return encode_json(text)[1:-1]


_BLANK = Request(model="", messages=())
