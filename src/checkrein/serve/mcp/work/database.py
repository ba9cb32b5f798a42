"""Reading a SQLite file."""

from __future__ import annotations

import base64
import json
import os
import re
import sqlite3
import time
from contextlib import closing
from typing import Any

from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.hands import Hands

_READS = re.compile(r"\s*(?:select|with|values)\b", re.IGNORECASE)
_HARMLESS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)


def read_db(
    hands: Hands, db_path: str, query: str, params: str = "[]", timeout: float = 0.0
) -> dict[str, Any]:
    """One statement that reads: by its first word, by the file's mode, and by what SQLite is about to do."""
    path = os.path.realpath(os.path.join(hands.root, db_path))
    hands.may_read(path)
    if _READS.match(query) is None:
        raise ToolFailure("Only a SELECT can run here.")
    try:
        values = json.loads(params)
    except ValueError as error:
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
            cursor = database.execute(query, values)
            names = [one[0] for one in cursor.description or ()]
            rows = cursor.fetchmany(most + 1)
    except sqlite3.Error as error:
        raise ToolFailure(f"SQLite: {error}") from None
    found = [dict(zip(names, map(_plain, row), strict=True)) for row in rows[:most]]
    return {"success": True, "rows": found, "count": len(found), "truncated": len(rows) > most}


def _opened(path: str) -> closing[sqlite3.Connection]:
    from urllib.parse import quote

    if not os.path.isfile(path):
        raise ToolFailure(f"{path} is not a file.")
    return closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True))


def _authorized(action: int, first: str | None, second: str | None, *_: object) -> int:
    loads = action == sqlite3.SQLITE_FUNCTION and (second or "").lower() == "load_extension"
    return sqlite3.SQLITE_OK if action in _HARMLESS and not loads else sqlite3.SQLITE_DENY


def _plain(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
