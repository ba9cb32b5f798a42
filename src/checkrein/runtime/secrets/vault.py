"""The secrets that a session has seen, and the masks that stand for them.

A mask is `«secret:KIND:DIGEST»`. The digest depends on the value and on a key of the user, so equal values
have equal masks, also in a resumed session, and nobody can guess a value from its mask. Its last two digits
are a check: a mask that somebody made up is not one of ours.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checkrein.base.secret_spans import Span

_SHORTEST_KNOWN = 12
"""A shorter value hides only where its place says what it is: many texts hold the same word."""
_SHORTEST_OWN = 8
_MOST_KNOWN = 500


def fresh_key() -> bytes:
    import os

    return os.urandom(32)


class Vault:
    """Safe to use from several threads. `own` are the credentials that Checkrein itself uses; they hide
    wherever they occur. `key` gives the key for the masks, at the first secret."""

    def __init__(self, own: Iterable[str] = (), key: Callable[[], bytes] = fresh_key) -> None:
        self._own = tuple(value for value in dict.fromkeys(own) if len(value) >= _SHORTEST_OWN)
        self._known: dict[str, str] = {}
        self._reported: set[str] = set()
        self._make_key = key
        self._key: bytes | None = None
        self._lock = threading.Lock()

    def spans(self, text: str, *, own_only: bool = False) -> list[Span]:
        """The secrets of a text: by their looks, and those seen before by their value."""
        from checkrein.base.secret_spans import Span, spans

        found = [] if own_only else spans(text)
        known = [(value, "own-key") for value in self._own]
        if not own_only:
            with self._lock:
                known += [(value, _kind(mask)) for value, mask in self._known.items()]
        taken = {(one.start, one.end) for one in found}
        for value, kind in known:
            at = text.find(value)
            while at >= 0:
                if (at, at + len(value)) not in taken:
                    found.append(Span(at, at + len(value), kind))
                at = text.find(value, at + len(value))
        return _apart(found) if len(found) > 1 else found

    def mask(self, value: str, kind: str) -> str:
        """The mask of a value. The first kind that a session gives a value stays."""
        known = self._known.get(value)
        if known is not None:
            return known
        made = f"«secret:{kind}:{self._digest(value)}»"
        if len(value) >= _SHORTEST_KNOWN and not value.isalpha() and value not in self._own:
            with self._lock:
                if len(self._known) >= _MOST_KNOWN:
                    self._known.pop(next(iter(self._known)))
                self._known[value] = made
        return made

    def masked(self, text: str) -> str:
        found = self.spans(text)
        return self.replaced(text, found) if found else text

    def replaced(self, text: str, found: Iterable[Span], start: int = 0) -> str:
        """The text from `start` on, with masks in place of the spans."""
        parts: list[str] = []
        at = start
        for one in found:
            parts += (text[at : one.start], self.mask(text[one.start : one.end], one.kind))
            at = one.end
        return "".join((*parts, text[at:]))

    def values(self, texts: Iterable[str]) -> dict[str, str]:
        """The secrets in these texts, by the digest of their mask."""
        from checkrein.base.secret_spans import spans

        found: dict[str, str] = {}
        for text in texts:
            seen = (text[one.start : one.end] for one in (*spans(text), *self.spans(text)))
            with self._lock:
                known = [value for value in (*self._own, *self._known) if value in text]
            found |= {self._digest(value): value for value in (*seen, *known)}
        return found

    def is_ours(self, digest: str) -> bool:
        """Whether a mask with this digest is of our making, in this session or in another."""
        return digest[8:] == self._check(digest[:8])

    def is_news(self, value: str) -> bool:
        """True once for each value."""
        digest = self._digest(value)
        with self._lock:
            news = digest not in self._reported
            self._reported.add(digest)
        return news

    def _digest(self, value: str) -> str:
        start = self._hash(value)[:8]
        return start + self._check(start)

    def _check(self, start: str) -> str:
        return self._hash(f"check:{start}")[:2]

    def _hash(self, text: str) -> str:
        from hashlib import blake2b

        with self._lock:
            if self._key is None:
                self._key = self._make_key()
        return blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=8).hexdigest()


def _kind(mask: str) -> str:
    return mask.split(":")[1]


def _apart(found: list[Span]) -> list[Span]:
    """In order, and joined where they overlap: what a value covers stays covered."""
    from checkrein.base.secret_spans import Span

    found.sort(key=lambda one: (one.start, -one.end))
    kept = [found[0]]
    for one in found[1:]:
        last = kept[-1]
        if one.start >= last.end:
            kept.append(one)
        elif one.end > last.end:
            kept[-1] = Span(last.start, one.end, last.kind)
    return kept


def masks_in(value: object) -> Iterator[str]:
    """The digests of all masks in the texts of a JSON-like value."""
    from checkrein.base.secret_spans import MASK

    if isinstance(value, str):
        if "«" in value:
            yield from MASK.findall(value)
    elif isinstance(value, dict):
        for one in value.values():
            yield from masks_in(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from masks_in(one)
