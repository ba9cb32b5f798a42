"""Read: text with line numbers; images, PDFs and notebooks in their own form."""

from __future__ import annotations

import os
from typing import Any

from checkrein.base.secret_spans import KEY_REACH
from checkrein.runtime.tools import files
from checkrein.runtime.tools.desk import View
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput
from checkrein.runtime.tools.textfile import decode

_MAX_BYTES = 64 << 20
NOTEBOOK_BYTES = 100 << 20
TOKENS = 25_000
BYTES_PER_TOKEN = 4
_IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def run(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    path: str = input["file_path"]
    real = files.approved(path, context)
    offset, limit = input.get("offset"), input.get("limit")
    if path.endswith(".ipynb"):
        from checkrein.runtime.tools.notebook import show

        return show(path, files.read(real, NOTEBOOK_BYTES, shown=path), real, context)
    descriptor = files.open_regular(real, shown=path)
    with os.fdopen(descriptor, "rb") as file:
        start = file.read(16)
        size = os.fstat(descriptor).st_size
        file.seek(0)
        if media := _image_type(start):
            from checkrein.runtime.tools.media import image

            return image(path, file.read(), media)
        if start.startswith(b"%PDF-"):
            from checkrein.runtime.tools.media import pdf

            return pdf(path, file.read(), input.get("pages"))
        if size > _MAX_BYTES:
            from checkrein.runtime.tools.longfile import page

            shown = page(path, file, offset, limit, _token_cap(context))
            return context.cover.output(shown, real)
        data = file.read()
    return _text(path, real, data, offset, limit, context)


def _token_cap(context: ToolContext) -> int:
    asked = context.env.get("CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS", "")
    return int(asked) if asked.isdecimal() and int(asked) else TOKENS


def _image_type(start: bytes) -> str | None:
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return next((media for magic, media in _IMAGES.items() if start.startswith(magic)), None)


def _text(
    path: str, real: str, data: bytes, offset: int | None, limit: int | None, context: ToolContext
) -> ToolOutput:
    decoded = decode(data)
    if decoded is None:
        raise ToolFailure(f"{path} is a binary file. Use Bash and a program that understands it.")
    if not data:
        context.state.note_seen(real, data, "whole")
        return result(path, "", 0, 1, 0, f"<system-reminder>{path} exists but is empty.</system-reminder>")
    lines = decoded.text.split("\n")
    first = max(offset or 1, 1)
    if first > len(lines):
        notice = f"{path} has {len(lines)} lines; it has no line {first}."
        return result(path, "", 0, first, len(lines), f"<system-reminder>{notice}</system-reminder>")
    chosen = lines[first - 1 : None if limit is None else first - 1 + max(limit, 0)]
    cap = _token_cap(context)
    view: View = "whole" if len(chosen) == len(lines) else "range"
    notice = ""
    if len(number(chosen, first).encode("utf-8", "replace")) > cap * BYTES_PER_TOKEN:
        if offset is not None or limit is not None:
            raise ToolFailure(
                f"These {len(chosen)} lines of {path} are more than {cap} tokens. Read fewer lines."
            )
        chosen = _first_page(chosen, cap)
        view = "partial"
        notice = partial_notice(path, len(chosen), len(lines))
    context.state.note_seen(real, data, view)
    chosen = _masked(chosen, lines, first, real, context)
    content, shown = "\n".join(chosen), number(chosen, first)
    return result(path, content, len(chosen), first, len(lines), shown + notice, view == "partial")


def _masked(chosen: list[str], lines: list[str], first: int, real: str, context: ToolContext) -> list[str]:
    """The chosen lines without secrets. A private key may begin above them; a cut may go through a secret."""
    above, room = first - 1, KEY_REACH
    while above > 0 and room > 0:
        above -= 1
        room -= len(lines[above]) + 1
    before = "".join(f"{line}\n" for line in lines[above : first - 1])
    if len(chosen) == 1 and len(chosen[0]) < len(lines[first - 1]):
        longer = lines[first - 1][: len(chosen[0]) + KEY_REACH]
        return [context.cover.text(longer, real, first, before)[: len(chosen[0])]]
    return context.cover.text("\n".join(chosen), real, first, before).split("\n") if chosen else chosen


def number(lines: list[str], first: int) -> str:
    """Lines as the model sees them: the number, a tab, the line."""
    return "\n".join(f"{index}\t{line.removesuffix(chr(13))}" for index, line in enumerate(lines, first))


def _first_page(lines: list[str], cap: int) -> list[str]:
    """As many lines from the start as fit. A first line that is too long alone is cut."""
    room = cap * BYTES_PER_TOKEN
    taken: list[str] = []
    for index, line in enumerate(lines, 1):
        room -= len(line.encode("utf-8", "replace")) + len(str(index)) + 2
        if room < 0:
            break
        taken.append(line)
    if not taken:
        taken = [lines[0][: cap * BYTES_PER_TOKEN // 4]]
    return taken


def partial_notice(path: str, shown: int, total: int) -> str:
    return (
        f"\n<system-reminder>PARTIAL view: lines 1-{shown} of {total} of {path}. The file is too long to "
        f"show at once; continue with offset={shown + 1} and a limit.</system-reminder>"
    )


def result(
    path: str, content: str, lines: int, first: int, total: int, shown: str, partial: bool = False
) -> ToolOutput:
    file: dict[str, Any] = {
        "filePath": path,
        "content": content,
        "numLines": lines,
        "startLine": first,
        "totalLines": total,
    }
    if partial:
        file["truncatedByTokenCap"] = True
    return ToolOutput(content=shown, structured={"type": "text", "file": file})
