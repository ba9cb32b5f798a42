"""The prompt cache: whether a request extends the previous one, and if not, why (contract 6).

A cache serves the longest common prefix of two requests. What comes before the conversation (model, effort,
thinking, tools, system) is its key: when that changes, the cache serves nothing. When an earlier message
changes, everything from there on goes out again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

import checkrein
from checkrein.llm.port import CacheMark, Message, Request
from checkrein.runtime.context.compaction import estimate

Layer = Literal["request", "conversation"]


class Break(Struct, frozen=True):
    """`layer` says how much is lost: the whole request, or the conversation after `kept` messages. `tokens`
    is about how many tokens must go out a second time."""

    reason: str
    layer: Layer
    kept: int
    tokens: int


Key = dict[str, str]
"""What comes before the conversation, by name: small values unchanged, the rest as digests."""


def key_of(request: Request) -> Key:
    import hashlib

    import msgspec

    def digest(value: object) -> str:
        return hashlib.blake2b(msgspec.json.encode(value), digest_size=8).hexdigest()

    return {
        "model": request.model,
        "effort": str(request.effort or ""),
        "thinking": str(request.thinking or ""),
        "tools": digest(request.tools),
        "system": digest(request.system),
        "version": checkrein.__version__,
    }


class PrefixWatch:
    """Compares each request with the previous one; the first of a resumed session with the `resumed` key."""

    def __init__(self, resumed: Key | None = None) -> None:
        self._last: Request | None = None
        self._resumed = resumed

    def check(self, request: Request, hint: str | None = None) -> Break | None:
        """The break between the last request and this one; None when this one extends the last. `hint` is the
        reason when the caller knows it."""
        last, self._last = self._last, request
        if last is None:
            return self._since_resumed(request)
        changed = _changed(last, request)
        if changed is not None:
            return Break(hint or changed, "request", 0, estimate(last.messages) + _head_tokens(last))
        if request.messages[: len(last.messages)] == last.messages:
            return None
        kept = _common(last.messages, request.messages)
        reason = hint or f"message {kept + 1} of the conversation differs from the one that was sent"
        return Break(reason, "conversation", kept, estimate(last.messages[kept:]))

    def rewound(self, messages: tuple[Message, ...]) -> None:
        """The conversation continues from an earlier point. The next request extends that older prefix."""
        if self._last is not None:
            self._last = replace(self._last, messages=messages)

    def _since_resumed(self, request: Request) -> Break | None:
        if self._resumed is None:
            return None
        now = key_of(request)
        changed = [name for name in now if name != "version" and self._resumed.get(name) != now[name]]
        if not changed:
            return None
        words = f"the session was resumed with other {' and '.join(changed)}"
        if self._resumed.get("version") != now["version"]:
            words = f"{words} after an upgrade to {now['version']}"
        return Break(words, "request", 0, estimate(request.messages[:-1]) + _head_tokens(request))


def _changed(last: Request, request: Request) -> str | None:
    if request.model != last.model:
        return f"the model changed to {request.model}"
    if request.effort != last.effort:
        return f"the effort changed to {request.effort or 'the default'}"
    if request.thinking != last.thinking:
        return f"thinking changed to {request.thinking or 'the default'}"
    if request.tools is not last.tools and request.tools != last.tools:
        return _tools_changed(last, request)
    if request.system is not last.system and request.system != last.system:
        return "the system prompt changed"
    if request.extra != last.extra or request.betas != last.betas:
        return "a switch of the service changed"
    return None


def _tools_changed(last: Request, request: Request) -> str:
    before = {tool.name: tool for tool in last.tools}
    after = {tool.name: tool for tool in request.tools}
    for words, names in (
        ("added", after.keys() - before.keys()),
        ("removed", before.keys() - after.keys()),
        ("changed", {name for name in before.keys() & after.keys() if before[name] != after[name]}),
    ):
        if names:
            return f"tool definitions were {words}: {', '.join(sorted(names))}"
    return "the order of the tools changed"


def _common(one: tuple[Message, ...], other: tuple[Message, ...]) -> int:
    kept = 0
    for before, after in zip(one, other, strict=False):
        if before != after:
            break
        kept += 1
    return kept


def _head_tokens(request: Request) -> int:
    import msgspec

    tools = len(msgspec.json.encode(request.tools))
    return (tools + sum(len(block.text.encode()) for block in request.system)) // 4


def cache_ttl(env: Mapping[str, str], model: str) -> Literal["5m", "1h"] | None:
    """How long the request asks the service to keep the prompt; None when it does not ask.

    `DISABLE_PROMPT_CACHING` (also for one family: `DISABLE_PROMPT_CACHING_OPUS`) asks for nothing,
    `ENABLE_PROMPT_CACHING_1H` for an hour, unless `FORCE_PROMPT_CACHING_5M`."""
    families = (f"_{family.upper()}" for family in ("haiku", "sonnet", "opus") if family in model)
    if any(_on(env, f"DISABLE_PROMPT_CACHING{family}") for family in ("", *families)):
        return None
    return "1h" if _on(env, "ENABLE_PROMPT_CACHING_1H") and not _on(env, "FORCE_PROMPT_CACHING_5M") else "5m"


def cache_marks(ttl: Literal["5m", "1h"] | None, opening_blocks: int) -> tuple[CacheMark, ...]:
    """Marks at the ends of the layers: the system prompt, the opening, the conversation."""
    if ttl is None:
        return ()
    opening = (CacheMark("messages", 0, ttl, opening_blocks - 1),) if opening_blocks else ()
    return (CacheMark("system", -1, ttl), *opening, CacheMark("messages", -1, ttl))


def _on(env: Mapping[str, str], name: str) -> bool:
    return env.get(name, "").lower() not in ("", "0", "false", "no", "off")
