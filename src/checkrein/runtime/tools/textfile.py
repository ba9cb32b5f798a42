"""Text files with their encoding and byte order mark, so that a change keeps both."""

from __future__ import annotations

import codecs

from msgspec import Struct

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class TextFile(Struct, frozen=True):
    """`text` has the line endings of the file."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Other text in the same encoding. Raises UnicodeEncodeError when the encoding can't hold it."""
        return self.mark + text.encode(self.encoding, "surrogatepass" if "16" in self.encoding else "strict")


def decode(data: bytes) -> TextFile | None:
    """None when it is not text: NULs without a UTF-16 mark. Bytes that are not UTF-8 count as Latin-1, which
    keeps each of them."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return TextFile(data[len(mark) :].decode(encoding), encoding, mark)
            except UnicodeDecodeError:
                break
    if b"\0" in data[:65536]:
        return None
    try:
        return TextFile(data.decode("utf-8"))
    except UnicodeDecodeError:
        return TextFile(data.decode("latin-1"), "latin-1")


def uses_crlf(text: str) -> bool:
    """True when most lines end in CR LF."""
    return "\r\n" in text and 2 * text.count("\r\n") > text.count("\n")
