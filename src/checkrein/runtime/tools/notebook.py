"""Jupyter notebooks: their cells for Read, and NotebookEdit."""

from __future__ import annotations

import json
from typing import Any

from checkrein.base.ids import new_uuid
from checkrein.llm.port import Base64, Image, Text
from checkrein.runtime.tools import files
from checkrein.runtime.tools.desk import digest
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput
from checkrein.runtime.tools.read import NOTEBOOK_BYTES

_OUTPUT_LIMIT = 10_000


def show(path: str, data: bytes, real: str, context: ToolContext) -> ToolOutput:
    """The cells, for Read: their ids, kinds, sources and outputs; images as images."""
    book = _parse(path, data)
    language = _language(book)
    content: list[Text | Image] = []
    cells = []
    for index, cell in enumerate(book["cells"]):
        kind, source = cell.get("cell_type", "code"), _joined(cell.get("source", ""))
        identity = _identity(cell, index)
        of = f' language="{language}"' if kind == "code" else ""
        content.append(Text(f'<cell id="{identity}" type="{kind}"{of}>\n{source}\n</cell>'))
        outputs = list(_outputs(cell)) if kind == "code" else []
        content.extend(outputs)
        shown = {"cellType": kind, "source": source, "cell_id": identity}
        if kind == "code":
            shown |= {"language": language, "execution_count": cell.get("execution_count")}
            shown["outputs"] = [block.text for block in outputs if isinstance(block, Text)]
        cells.append(shown)
    context.state.note_seen(real, data, "whole")
    if not content:
        content.append(Text(f"<system-reminder>{path} has no cells.</system-reminder>"))
    return ToolOutput(
        content=tuple(content), structured={"type": "notebook", "file": {"filePath": path, "cells": cells}}
    )


def run(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    """NotebookEdit."""
    path: str = input["notebook_path"]
    if not path.endswith(".ipynb"):
        raise ToolFailure(f"{path} is not a notebook. Use Edit.")
    real = files.approved(path, context)
    data = files.read(real, NOTEBOOK_BYTES, shown=path)
    seen = context.state.seen(real)
    if seen is None:
        raise ToolFailure(f"You have not read {path}. Read it first, then edit it.")
    if seen.digest != digest(data):
        raise ToolFailure(f"{path} has changed since you read it. Read it again, then edit it.")
    book = _parse(path, data)
    mode = input.get("edit_mode") or "replace"
    cell = _change(book, mode, input)
    text = data.decode("utf-8")
    changed = json.dumps(book, ensure_ascii=False, indent=_indent(text)) + (
        "\n" if text.endswith("\n") else ""
    )
    context.state.changing(real)
    files.replace(real, changed.encode("utf-8"), expected=data, shown=path)
    context.state.note_seen(real, changed.encode("utf-8"), "whole")
    done = {"replace": "replaced", "insert": "inserted", "delete": "deleted"}[mode]
    identity = cell.get("id") or input.get("cell_id")
    return ToolOutput(
        content=f"Cell {identity} of {path} has been {done}.",
        structured={
            "notebook_path": path,
            "cell_id": identity,
            "cell_type": cell.get("cell_type", "code"),
            "language": _language(book),
            "edit_mode": mode,
            "new_source": "" if mode == "delete" else input["new_source"],
            "original_file": text,
            "updated_file": changed,
        },
    )


def _change(book: dict[str, Any], mode: str, input: dict[str, Any]) -> dict[str, Any]:
    cells: list[dict[str, Any]] = book["cells"]
    named, kind = input.get("cell_id"), input.get("cell_type")
    if mode == "insert":
        if not kind:
            raise ToolFailure("A new cell needs cell_type: code or markdown.")
        cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": _split(input["new_source"])}
        if (book.get("nbformat", 4), book.get("nbformat_minor", 0)) >= (4, 5):
            cell = {"id": new_uuid()[:8], **cell}
        _clear(cell)
        cells.insert(_index(cells, named) + 1 if named else 0, cell)
        return cell
    if not named:
        raise ToolFailure(f"Set cell_id to the cell to {mode}.")
    index = _index(cells, named)
    if mode == "delete":
        return cells.pop(index)
    cell = cells[index]
    if kind:
        cell["cell_type"] = kind
    cell["source"] = _split(input["new_source"])
    _clear(cell)
    return cell


def _clear(cell: dict[str, Any]) -> None:
    """A cell with new source has no outputs yet."""
    if cell["cell_type"] == "code":
        cell["outputs"], cell["execution_count"] = [], None
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)


def _index(cells: list[dict[str, Any]], named: str) -> int:
    for index, cell in enumerate(cells):
        if _identity(cell, index) == named or f"cell-{index}" == named:
            return index
    raise ToolFailure(f"There is no cell {named!r}. Read the notebook to see the ids.")


def _identity(cell: dict[str, Any], index: int) -> str:
    return str(cell.get("id") or f"cell-{index}")


def _parse(path: str, data: bytes) -> dict[str, Any]:
    try:
        book = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ToolFailure(f"{path} is not a notebook: {error}") from None
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise ToolFailure(f"{path} is not a notebook of format 4: it has no list of cells.")
    assert isinstance(book, dict)
    return book


def _language(book: dict[str, Any]) -> str:
    metadata = book.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    return str(info.get("name", "python")) if isinstance(info, dict) else "python"


def _outputs(cell: dict[str, Any]) -> list[Text | Image]:
    blocks: list[Text | Image] = []
    for output in cell.get("outputs") or ():
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        data = data if isinstance(data, dict) else {}
        text = _joined(output.get("text") or data.get("text/plain") or "")
        if output.get("output_type") == "error":
            text = f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
        if text:
            more = "" if len(text) <= _OUTPUT_LIMIT else "\n... [output left out]"
            blocks.append(Text(f"<output>\n{text[:_OUTPUT_LIMIT]}{more}\n</output>"))
        for media in ("image/png", "image/jpeg"):
            if media in data:
                blocks.append(Image(Base64(media, "".join(_joined(data[media]).split()))))
    return blocks


def _joined(source: Any) -> str:
    return "".join(str(part) for part in source) if isinstance(source, list) else str(source)


def _split(source: str) -> list[str]:
    return source.splitlines(keepends=True)


def _indent(text: str) -> int | None:
    """How the file is indented; None when it is on one line."""
    second = text.partition("\n")[2]
    return len(second) - len(second.lstrip(" ")) or 1 if second.strip() else None
