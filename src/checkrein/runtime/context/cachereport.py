"""What the prompt cache served in a recorded session; where the prefix broke, why, and at what cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from checkrein.facts.models import find_model


class RequestRow(Struct, frozen=True, omit_defaults=True):
    """One request. `broke` says why its prefix differs from the previous one. `resent` is about how many
    tokens went out again because of that; `extra_usd` is what they cost above the cache (None: no prices)."""

    number: int
    model: str
    prompt: int
    cached: int
    written: int
    output: int
    broke: str | None = None
    layer: str | None = None
    resent: int = 0
    extra_usd: float | None = None


class CacheReport(Struct, frozen=True):
    """`share` is the part of all prompt tokens that came from the cache."""

    session_id: str
    requests: tuple[RequestRow, ...]
    breaks: int
    prompt: int
    cached: int
    share: float
    extra_usd: float | None


def cache_report(path: Path) -> CacheReport:
    """Read a transcript. The report leaves out requests without a recorded answer."""
    rows = tuple(_rows(path))
    prompt = sum(row.prompt for row in rows)
    cached = sum(row.cached for row in rows)
    extra = [row.extra_usd for row in rows if row.extra_usd is not None]
    return CacheReport(
        session_id=path.stem,
        requests=rows,
        breaks=sum(row.broke is not None for row in rows),
        prompt=prompt,
        cached=cached,
        share=cached / prompt if prompt else 0.0,
        extra_usd=sum(extra) if extra else None,
    )


def _rows(path: Path) -> Iterator[RequestRow]:
    from checkrein.runtime.store.layout import open_for_reading
    from checkrein.runtime.store.lines import read_lines

    current: dict[str, Any] | None = None
    broken: dict[str, Any] | None = None
    own: dict[str, Any] | None = None
    number = 0
    with open_for_reading(path) as file:
        for line in read_lines(file):
            value = line.value or {}
            note = value.get("checkrein")
            message = value.get("message")
            if value.get("type") == "checkrein" and isinstance(note, dict):
                if note.get("event") == "cache_break":
                    broken = note
            elif value.get("type") == "assistant" and isinstance(message, dict) and "usage" in message:
                if current is not None and current.get("id") != message.get("id"):
                    number += 1
                    yield _row(number, current, own)
                    own = None
                if current is None or current.get("id") != message.get("id"):
                    own, broken = broken, None
                current = message
    if current is not None:
        yield _row(number + 1, current, own)


def _row(number: int, message: dict[str, Any], broken: dict[str, Any] | None) -> RequestRow:
    usage = message.get("usage") or {}
    model = str(message.get("model") or "")
    cached, written = _int(usage, "cache_read_input_tokens"), _int(usage, "cache_creation_input_tokens")
    prompt = _int(usage, "input_tokens") + cached + written
    resent = min(_int(broken, "tokens"), prompt) if broken else 0
    facts = find_model(model)
    extra = None
    if broken and facts is not None:
        prices = facts.prices
        extra = resent * ((prices.cache_write or prices.input) - prices.cache_read) / 1_000_000
    return RequestRow(
        number=number,
        model=model,
        prompt=prompt,
        cached=cached,
        written=written,
        output=_int(usage, "output_tokens"),
        broke=str(broken.get("reason", "")) if broken else None,
        layer=str(broken.get("layer", "")) if broken else None,
        resent=resent,
        extra_usd=extra,
    )


def _int(values: dict[str, Any], name: str) -> int:
    found = values.get(name)
    return found if isinstance(found, int) else 0
