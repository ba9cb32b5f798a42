"""`read_file`: a file for a person who looks at the session through its host."""

from __future__ import annotations

import base64
import os

from checkrein.base.errors import NotFoundError, UsageError
from checkrein.protocol.wire import Frame
from checkrein.runtime.call.host import ToolHost

_LARGEST = 1_000_000


def shown_file(host: ToolHost, path: str, limit: int | None, *, exact: bool) -> Frame:
    """The beginning of a file that the session may read without approval. `exact` gives the bytes in base64;
    otherwise what is not UTF-8 is replaced."""
    from checkrein.runtime.tools import files
    from checkrein.runtime.tools.port import ToolFailure

    if "\0" in path:
        raise UsageError("A path has no NUL character.", kind="path_invalid")
    named = os.path.join(host.cwd, os.path.expanduser(path))
    real = os.path.realpath(named)
    for one in dict.fromkeys((named, real)):
        decision = host.gate.decide("Read", {"file_path": one}, host.cwd)
        if decision.verdict != "allow":
            raise UsageError(f"Reading {path} is not allowed: {decision.reason}.", kind="read_refused")
    most = _LARGEST if limit is None else min(limit, _LARGEST)
    try:
        with os.fdopen(files.open_regular(real, shown=path), "rb") as file:
            data = file.read(most + 1)
    except (ToolFailure, OSError, ValueError) as error:
        raise NotFoundError(f"{path} can't be read: {error}", kind="file_not_read") from error
    told: Frame = {"absPath": real, **({"truncated": True} if len(data) > most else {})}
    data = data[:most]
    if exact:
        return told | {"contents": base64.b64encode(data).decode(), "encoding": "base64"}
    text = data.decode("utf-8", "replace")
    return told | {"contents": text, "lossy": text.encode() != data}
