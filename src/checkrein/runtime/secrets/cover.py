"""The secrets of one call: masked in what it gives out, put back into the file that it edits."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from checkrein.llm.port import Text
from checkrein.runtime.secrets.exposure import Exposure
from checkrein.runtime.secrets.vault import Vault, masks_in

if TYPE_CHECKING:
    from checkrein.base.secret_spans import Span
    from checkrein.runtime.tools.port import ToolOutput

Lines = int | Sequence[int | None] | None
_LARGEST = 8 << 20
_KEY_LINE = r"(?m)(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40,}+={0,2}[ \t\r]*+$"


class Found(Struct, frozen=True):
    """A secret that was masked. `line` is None where it is not known."""

    kind: str
    file: str | None = None
    line: int | None = None


class Cover:
    """`tool` is the call's tool. Tools use `text` before they cut a text, since half a secret has no shape;
    the tool host masks everything once more."""

    def __init__(self, vault: Vault, exposure: Exposure, tool: str = "") -> None:
        self.found: list[Found] = []
        self.hidden = 0
        self._vault = vault
        self._exposure = exposure
        self._shown = exposure.shows_tool(tool)
        self._open: set[str] = set()

    def __repr__(self) -> str:
        return "Cover()"

    def text(self, text: str, path: str | None = None, line: Lines = None, before: str = "") -> str:
        """The text with masks. It stands in the file `path`, from `line` on, or its lines have these numbers.
        `before` is what the file has before it, for a private key that begins there."""
        from checkrein.base.secret_spans import KEY_REACH

        shown = self._shown or (path is not None and self._exposure.shows_file(path))
        whole = before[-KEY_REACH:] + text
        start = len(whole) - len(text)
        found = [one for one in self._vault.spans(whole, own_only=shown) if one.end > start]
        if shown and not self._shown:
            self._open.update(self._values(text))
        if not found:
            return text
        return self._masked(whole, found, start, path, line)

    def _values(self, text: str) -> list[str]:
        return [text[one.start : one.end] for one in self._vault.spans(text)]

    def _masked(self, whole: str, found: list[Span], start: int, path: str | None, line: Lines) -> str:
        from checkrein.base.secret_spans import Span

        found = [one if one.start >= start else Span(start, one.end, one.kind) for one in found]
        found = [one for one in found if whole[one.start : one.end] not in self._open]
        for one in found:
            self.hidden += 1
            if self._vault.is_news(whole[one.start : one.end]):
                below = whole.count("\n", start, one.start)
                at = line + below if isinstance(line, int) else line[below] if line else None
                self.found.append(Found(one.kind, path, at))
        return self._vault.replaced(whole, found, start)

    def look_at(self, path: str, text: str) -> None:
        """Learn the secrets of a file before a part of it, `text`, is shown: a line from the middle of a
        private key has no shape of its own."""
        if self._exposure.shows_file(path) or not re.search(_KEY_LINE, text):
            return
        for one in _file_texts(path):
            self._vault.masked(one)

    def output(self, output: ToolOutput, path: str | None = None) -> ToolOutput:
        content = output.content
        if isinstance(content, str):
            shown: Any = self.text(content, path)
        else:
            shown = tuple(
                replace(one, text=self.text(one.text, path)) if isinstance(one, Text) else one
                for one in content
            )
        return replace(output, content=shown, structured=self.value(output.structured))

    def value(self, value: Any, name: str = "") -> Any:
        """A JSON-like value with masks in all its texts."""
        from checkrein.base.secret_spans import Span, is_secret_field

        if isinstance(value, str):
            if name and not self._shown and value not in self._open and is_secret_field(name, value):
                return self._masked(value, [Span(0, len(value), "token")], 0, None, None)
            return self.text(value)
        if isinstance(value, dict):
            return {
                self.text(key) if isinstance(key, str) else key: self.value(one, str(key))
                for key, one in value.items()
            }
        if isinstance(value, list | tuple):
            return type(value)(self._lines(value) or (self.value(one, name) for one in value))
        return value

    def _lines(self, texts: Sequence[Any]) -> list[str] | None:
        """A list of lines as one text: it is quicker, and a private key has several. None for other lists."""
        if len(texts) < 2 or not all(isinstance(one, str) and "\n" not in one for one in texts):
            return None
        return self.text("\n".join(texts)).split("\n")

    def revealed(self, input: dict[str, Any], paths: tuple[str, ...]) -> tuple[dict[str, Any], str | None]:
        """The input of a call that edits a file, with the secrets of that same file in place of their masks;
        and why it must not run: a mask in it stands for a secret that the file does not hold."""
        wanted = {digest for digest in masks_in(input) if self._vault.is_ours(digest)}
        if not wanted:
            return input, None
        texts = [text for path in paths for text in _file_texts(path)]
        values = self._vault.values(texts)
        literal = {digest for text in texts for digest in masks_in(text)}
        if strange := wanted - values.keys() - literal:
            mask = next(one[0] for one in _masks(input) if one[1] in strange)
            return input, (
                f"{mask} stands for a secret that is not in this file, so it can't be written here. Nothing "
                "was changed. Ask the user to put it in, or copy it with a command that does not show it."
            )
        return _filled(input, {digest: values[digest] for digest in wanted & values.keys()}), None

    def has_masks(self, input: dict[str, Any]) -> bool:
        return any(self._vault.is_ours(digest) for digest in masks_in(input))


def uncovered() -> Cover:
    """For a call outside any session."""
    return Cover(Vault(), Exposure())


def _masks(value: Any) -> list[re.Match[str]]:
    from checkrein.base.secret_spans import MASK

    if isinstance(value, str):
        return list(MASK.finditer(value))
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [match for one in inner for match in _masks(one)]


def _filled(value: Any, values: dict[str, str]) -> Any:
    from checkrein.base.secret_spans import MASK

    if isinstance(value, str):
        return MASK.sub(lambda found: values.get(found[1], found[0]), value)
    if isinstance(value, dict):
        return {key: _filled(one, values) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(one, values) for one in value]
    return value


def _file_texts(path: str) -> list[str]:
    """The text of a file; of a notebook its cells too, since the model sees them without JSON's escapes."""
    from checkrein.runtime.tools import files
    from checkrein.runtime.tools.port import ToolFailure
    from checkrein.runtime.tools.textfile import decode

    try:
        decoded = decode(files.read(path, _LARGEST)) if os.path.isfile(path) else None
    except ToolFailure:
        return []
    if decoded is None:
        return []
    if not path.endswith(".ipynb"):
        return [decoded.text]
    return [decoded.text, *_cells(decoded.text)]


def _cells(text: str) -> list[str]:
    import json

    try:
        cells = json.loads(text)["cells"]
        return ["".join(cell["source"]) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
