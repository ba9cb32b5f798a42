"""Images and PDFs as content for the model."""

from __future__ import annotations

import re
from base64 import b64encode

from checkrein.llm.port import Base64, Document, Image, Text
from checkrein.runtime.tools.port import ToolFailure, ToolOutput

_LARGEST_IMAGE = 3_750_000
_LARGEST_PDF = 20 << 20
_PAGES_AT_ONCE = 20
_PAGES_WITHOUT_ASKING = 10
_RANGE = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?")


def image(path: str, data: bytes, media: str) -> ToolOutput:
    if len(data) > _LARGEST_IMAGE:
        raise ToolFailure(
            f"{path} has {len(data)} bytes; an image can have {_LARGEST_IMAGE}. Make a smaller copy."
        )
    encoded = b64encode(data).decode("ascii")
    file = {"base64": encoded, "type": media, "originalSize": len(data)}
    return ToolOutput(content=(Image(Base64(media, encoded)),), structured={"type": "image", "file": file})


def pdf(path: str, data: bytes, pages: str | None) -> ToolOutput:
    """The document, or the named pages of it. Pages need `pypdf`; without it the model gets the whole PDF."""
    size = len(data)
    count = _page_count(data)
    if pages:
        data = _extract(path, data, pages)
    elif count is not None and count > _PAGES_WITHOUT_ASKING:
        raise ToolFailure(
            f"{path} has {count} pages. Name up to {_PAGES_AT_ONCE} of them, such as "
            f'pages="1-{_PAGES_WITHOUT_ASKING}".'
        )
    if len(data) > _LARGEST_PDF:
        raise ToolFailure(f"{path} has {size} bytes, which is more than a model accepts. Read fewer pages.")
    encoded = b64encode(data).decode("ascii")
    title = path.rpartition("/")[2]
    note = Text(f"{path}: PDF, {count} pages" if count else f"{path}: PDF, {size} bytes")
    file = {"filePath": path, "base64": encoded, "originalSize": size}
    return ToolOutput(
        content=(note, Document(Base64("application/pdf", encoded), title)),
        structured={"type": "pdf", "file": file},
    )


def _page_count(data: bytes) -> int | None:
    """The number of pages; None when only the missing `pypdf` package could tell."""
    try:
        from io import BytesIO

        from pypdf import PdfReader  # type: ignore[import-not-found, unused-ignore]  # optional
    except ImportError:
        counts = re.findall(
            rb"/Type\s*/Pages\b[^>]*?/Count\s+(\d+)|/Count\s+(\d+)[^>]*?/Type\s*/Pages\b", data
        )
        return max((int(a or b) for a, b in counts), default=None)
    try:
        return len(PdfReader(BytesIO(data)).pages)
    except Exception:  # pypdf raises many kinds on a damaged file; the model may still be able to read it
        return None


def _extract(path: str, data: bytes, pages: str) -> bytes:
    asked = _RANGE.fullmatch(pages)
    if asked is None:
        raise ToolFailure(f'pages must be a number or a range such as "1-5", not {pages!r}.')
    first, last = int(asked[1]), int(asked[2] or asked[1])
    if not 1 <= first <= last:
        raise ToolFailure(f"{pages!r} is not a range of pages; pages count from 1.")
    if last - first >= _PAGES_AT_ONCE:
        raise ToolFailure(f"{last - first + 1} pages are too many; read at most {_PAGES_AT_ONCE} at once.")
    try:
        from io import BytesIO

        from pypdf import PdfReader, PdfWriter  # type: ignore[import-not-found, unused-ignore]  # optional
    except ImportError:
        raise ToolFailure(
            "Reading single pages of a PDF needs the pypdf package, which is not installed. "
            "Read the file without pages, or use `pdftotext` with Bash."
        ) from None
    try:
        reader = PdfReader(BytesIO(data))
        total = len(reader.pages)
        if first > total:
            raise ToolFailure(f"{path} has {total} pages.")
        writer = PdfWriter()
        for index in range(first - 1, min(last, total)):
            writer.add_page(reader.pages[index])
        part = BytesIO()
        writer.write(part)
    except ToolFailure:
        raise
    except Exception as error:
        raise ToolFailure(f"{path} can't be split into pages: {error}") from None
    return part.getvalue()
