"""Reading a SQLite file."""

from __future__ import annotations

import base64
import json
import math
import os
import re
import sqlite3
import time
from contextlib import closing
from typing import Any

from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.hands import Hands

_READS = re.compile(r"\s*(?:select|with|values)\b", re.IGNORECASE)
_LARGEST = 4 << 20
"""Bytes of one value, and of an answer."""
_HARMLESS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)


def read_db(
    hands: Hands, db_path: str, query: str, params: str = "[]", timeout: float = 0.0
) -> dict[str, Any]:
    """One statement that reads: by its first word, by the file's mode, and by what SQLite is about to do."""
    path = hands.path(db_path)
    hands.may_read(path)
    if _READS.match(query) is None:
        raise ToolFailure("Only a SELECT can run here.")
    try:
        values = json.loads(params)
    except (ValueError, RecursionError) as error:
        raise ToolFailure(f"`params` is not JSON: {error}") from None
    if not isinstance(values, list | dict):
        raise ToolFailure("`params` must be a JSON list or object.")
    limit = timeout if timeout > 0 else float(hands.setting("read_db.timeout"))
    most = int(hands.setting("read_db.max_rows"))
    until = time.monotonic() + limit
    try:
        with _opened(path) as database:
            database.set_authorizer(_authorized)
            database.set_progress_handler(
                lambda: int(time.monotonic() > until or hands.context.cancel.cancelled), 1_000
            )
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST)
            cursor = database.execute(query, values)
            names = _distinct([one[0] for one in cursor.description or ()])
            rows, truncated = _fetched(cursor, most)
    except (sqlite3.Error, OverflowError) as error:
        raise ToolFailure(f"SQLite: {error}") from None
    found = [dict(zip(names, map(_plain, row), strict=True)) for row in rows]
    return {"success": True, "rows": found, "count": len(found), "truncated": truncated}


def _fetched(cursor: sqlite3.Cursor, most: int) -> tuple[list[tuple[Any, ...]], bool]:
    """The first rows, and whether there are more than an answer holds."""
    rows: list[tuple[Any, ...]] = []
    held = 0
    for row in cursor:
        held += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
        if len(rows) == most or held > _LARGEST:
            return rows, True
        rows.append(row)
    return rows, False


def _distinct(names: list[str]) -> list[str]:
    """`a, a` as `a, a:2`: no column hides another."""
    found: dict[str, None] = {}
    for name in names:
        number, free = 1, name
        while free in found:
            number += 1
            free = f"{name}:{number}"
        found[free] = None
    return list(found)


def _opened(path: str) -> closing[sqlite3.Connection]:
    from urllib.parse import quote

    if not os.path.isfile(path):
        raise ToolFailure(f"{path} is not a file.")
    return closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True))


def _authorized(action: int, first: str | None, second: str | None, *_: object) -> int:
    loads = action == sqlite3.SQLITE_FUNCTION and (second or "").lower() == "load_extension"
    return sqlite3.SQLITE_OK if action in _HARMLESS and not loads else sqlite3.SQLITE_DENY


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no word for it
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
