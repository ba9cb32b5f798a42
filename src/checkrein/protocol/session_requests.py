"""What a host may ask about a session's work: what it spent and changed, what a command wrote, its name."""

from __future__ import annotations

import os
import time
from math import isfinite

from checkrein.base.errors import NotFoundError, UsageError
from checkrein.protocol.inbox import Handler
from checkrein.protocol.result_frame import model_usage
from checkrein.protocol.wire import Frame
from checkrein.runtime.session.events import Event, ToolFinished
from checkrein.runtime.session.session import Session

_TAIL = 8192


class SessionRequests:
    """Counts the lines that the tools for files change, from its beginning on."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._began = time.monotonic()
        self._added = self._removed = 0
        session.consumers.append(self._count)

    @property
    def handlers(self) -> dict[str, Handler]:
        return {
            "get_usage": self._usage,
            "get_task_output": self._output,
            "rename_session": self._rename,
            "seed_read_state": self._seed,
        }

    def _count(self, event: Event) -> None:
        if not isinstance(event, ToolFinished) or not isinstance(event.structured, dict):
            return
        match event.structured:
            case {"type": "create", "content": str(text)}:
                self._added += len(text.splitlines())
            case {"structuredPatch": [*hunks]}:
                lines = [line for hunk in hunks for line in hunk["lines"]]
                self._added += sum(line.startswith("+") for line in lines)
                self._removed += sum(line.startswith("-") for line in lines)

    def _usage(self, request: Frame) -> Frame:
        """Limits of a subscription are unknown here."""
        meter = self._session.conversation.meter
        return {
            "session": {
                "total_cost_usd": meter.cost,
                "total_api_duration_ms": int(meter.model_seconds * 1000),
                "total_duration_ms": int((time.monotonic() - self._began) * 1000),
                "total_lines_added": self._added,
                "total_lines_removed": self._removed,
                "model_usage": model_usage(meter.by_model),
            },
            "subscription_type": None,
            "rate_limits_available": False,
            "rate_limits": None,
            "behaviors": None,
        }

    def _output(self, request: Frame) -> Frame:
        """The end of what a command in the background wrote."""
        task = request.get("task_id")
        shell = self._session.conversation.desk.shells.get(task) if isinstance(task, str) else None
        if shell is None:
            raise NotFoundError(f"There is no command {task!r} in the background.", kind="task_not_found")
        try:
            with open(shell.path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(0, size - _TAIL))
                tail = file.read(_TAIL)
        except OSError:
            size, tail = 0, b""
        return {"output": tail.decode("utf-8", "replace"), "total_bytes": size, "truncated": size > _TAIL}

    def _rename(self, request: Frame) -> Frame:
        title, session = request.get("title"), request.get("session_id")
        if not isinstance(title, str) or not title.strip():
            raise UsageError("The request needs a `title`.")
        if session is not None and session != self._session.id:
            raise UsageError(f"This session is {self._session.id}, not {session}.")
        self._session.conversation.recorder.writer.title(title.strip())
        return {}

    def _seed(self, request: Frame) -> Frame:
        from checkrein.protocol.shown_file import count_as_read

        path, at = request.get("path"), request.get("mtime")
        if not isinstance(path, str) or not path or not isinstance(at, int | float) or not isfinite(at):
            raise UsageError("The request needs `path` and `mtime`.")
        conversation = self._session.conversation
        count_as_read(conversation.host, conversation.desk, path, int(at))
        return {}
