"""Mask output while it comes: a secret that arrives in two pieces is still one secret."""

from __future__ import annotations

from checkrein.base.secret_spans import KEY_REACH
from checkrein.runtime.secrets.cover import Cover

_LONGEST_WORD = 16_384
_ENCODING = "utf-8"


class Flow:
    """The bytes of one stream, with masks. `take` keeps back the last word, which may be half a secret, until
    something follows it; `rest` gives what is left. Bytes that are not UTF-8 pass unchanged."""

    def __init__(self, cover: Cover) -> None:
        self._cover = cover
        self._before = ""
        self._kept = b""

    def take(self, chunk: bytes) -> bytes:
        data = self._kept + chunk
        cut = max(data.rfind(space) for space in (b"\n", b" ", b"\t", b"\r")) + 1
        if len(data) - cut > _LONGEST_WORD:
            cut = len(data)
        self._kept = data[cut:]
        return self._masked(data[:cut])

    def rest(self) -> bytes:
        data, self._kept = self._kept, b""
        return self._masked(data)

    def _masked(self, data: bytes) -> bytes:
        if not data:
            return b""
        text = data.decode(_ENCODING, "surrogateescape")
        masked = self._cover.text(text, before=self._before)
        self._before = (self._before + text)[-KEY_REACH:]
        return data if masked == text else masked.encode(_ENCODING, "surrogateescape")
