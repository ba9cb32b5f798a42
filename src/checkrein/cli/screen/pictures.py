"""Images in a prompt: files that it names, and what was pasted from the clipboard."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from checkrein.base.errors import CheckreinError
from checkrein.llm.port import Base64, Block, Image, Text

if TYPE_CHECKING:
    from checkrein.runtime.session.control import Prompt
    from checkrein.runtime.session.session import Session

_KINDS = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif"}
_KINDS |= {"webp": "image/webp"}
_WORD = re.compile(r"@?(?:\"([^\"\n]{1,4096})\"|'([^'\n]{1,4096})')|((?:\\ |\S)+)")
_LONGEST = 4096
_MOST = 10
_CLIPBOARDS = (
    ("wl-paste", "--no-newline", "--type", "image/png"),
    ("xclip", "-selection", "clipboard", "-target", "image/png", "-out"),
    ("pngpaste", "-"),
)
_PNG = b"\x89PNG"


def with_pictures(session: Session, text: str, tell: Callable[[str, str], None]) -> Prompt:
    """The prompt with the images that it names. Rules for reading hold; what can't be read is told."""
    blocks: list[Block] = []
    for path in dict.fromkeys(_paths(text)):
        image = _image(session, path, tell)
        if image is not None and len(blocks) < _MOST:
            blocks.append(image)
    return [Text(text), *blocks] if blocks else text


def _paths(text: str) -> Iterator[str]:
    """The files that a text names, with `@`, in quotes, or as terminals write a file that was dropped."""
    endings = tuple(f".{kind}" for kind in _KINDS)
    for found in _WORD.finditer(text):
        word = found[1] or found[2] or found[3].lstrip("@").rstrip(".,;:!?)").replace("\\ ", " ")
        if len(word) <= _LONGEST and word.lower().endswith(endings) and "\0" not in word:
            path = word.removeprefix("file://")
            if os.path.isfile(os.path.expanduser(path)):
                yield path


def _image(session: Session, path: str, tell: Callable[[str, str], None]) -> Image | None:
    from checkrein.protocol.shown_file import shown_file

    try:
        found = shown_file(session.conversation.host, path, None, exact=True)
    except CheckreinError as error:
        tell(f"{path} is not attached: {error.message}", "warn")
        return None
    if found.get("truncated"):
        tell(f"{path} is not attached: it is larger than 1 MB.", "warn")
        return None
    media = _KINDS[path.rpartition(".")[2].lower()]
    return Image(Base64(media, str(found["contents"])))


def clipboard_image(directory: str) -> str | None:
    """The image on the clipboard, as a file in this directory; None when there is none."""
    from checkrein.base.ids import new_uuid
    from checkrein.runtime.process.probes import probe

    for argv in _CLIPBOARDS:
        data = probe(argv, timeout=2.0)
        if data and data.startswith(_PNG):
            os.makedirs(directory, mode=0o700, exist_ok=True)
            path = os.path.join(directory, f"clipboard-{new_uuid()[:8]}.png")
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
            return path
    return None
