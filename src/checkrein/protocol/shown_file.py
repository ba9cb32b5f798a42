"""Files that a host looks at, or has looked at: `read_file`, `seed_read_state`."""

from __future__ import annotations

import base64
import os
from typing import BinaryIO

from checkrein.base.errors import NotFoundError, UsageError
from checkrein.protocol.wire import Frame
from checkrein.runtime.call.host import ToolHost
from checkrein.runtime.tools.desk import ToolState

_LARGEST = 1_000_000


def shown_file(host: ToolHost, path: str, limit: int | None, *, exact: bool) -> Frame:
    """The beginning of a file that the session may read without approval. `exact` gives the bytes in base64;
    otherwise what is not UTF-8 is replaced."""
    real = _readable(host, path, "ask", "deny")
    most = _LARGEST if limit is None else min(limit, _LARGEST)
    with _opened(real, path) as file:
        data = file.read(most + 1)
    told: Frame = {"absPath": real, **({"truncated": True} if len(data) > most else {})}
    data = data[:most]
    if exact:
        return told | {"contents": base64.b64encode(data).decode(), "encoding": "base64"}
    text = data.decode("utf-8", "replace")
    return told | {"contents": text, "lossy": text.encode() != data}


def count_as_read(host: ToolHost, desk: ToolState, path: str, mtime: int) -> None:
    """The host knows that the model has read a file, which it may edit then, if it has not changed since.
    That gives no right: a rule that denies the reading holds. `mtime` is in milliseconds."""
    from checkrein.runtime.tools.write import LARGEST

    real = _readable(host, path, "deny")
    with _opened(real, path) as file:
        known = os.fstat(file.fileno()).st_mtime_ns // 1_000_000 == mtime
        data = file.read(LARGEST) if known else b""
    if known:
        desk.note_seen(real, data, "whole")


def _readable(host: ToolHost, path: str, *refusing: str) -> str:
    """The canonical path of a file. These verdicts about reading it refuse."""
    if "\0" in path:
        raise UsageError("A path has no NUL character.", kind="path_invalid")
    named = os.path.join(host.cwd, os.path.expanduser(path))
    real = os.path.realpath(named)
    for one in dict.fromkeys((named, real)):
        decision = host.gate.decide("Read", {"file_path": one}, host.cwd)
        if decision.verdict in refusing:
            raise UsageError(f"Reading {path} is not allowed: {decision.reason}.", kind="read_refused")
    return real


def _opened(real: str, path: str) -> BinaryIO:
    from checkrein.runtime.tools import files
    from checkrein.runtime.tools.port import ToolFailure

    try:
        return os.fdopen(files.open_regular(real, shown=path), "rb")
    except (ToolFailure, OSError, ValueError) as error:
        raise NotFoundError(f"{path} can't be read: {error}", kind="file_not_read") from error
