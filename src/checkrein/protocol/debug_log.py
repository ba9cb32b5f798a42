"""What happens in a run, one line for each event: for people who look for the reason of something.

Lines have names, numbers and reasons, never the words of prompts, replies, files and results.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from checkrein.base import clock
from checkrein.base.errors import UsageError
from checkrein.base.home import checkrein_home, private_dir
from checkrein.runtime.session import events
from checkrein.runtime.session.events import Event

if TYPE_CHECKING:
    from checkrein.runtime.session.session import Session

_TOLD: dict[type[Event], tuple[str, tuple[str, ...]]] = {
    events.SessionStarted: ("session", ("session_id", "cwd", "model", "mode", "trusted", "servers")),
    events.PromptAccepted: ("session", ("uuid",)),
    events.Transition: ("session", ("name", "detail")),
    events.Notice: ("session", ("level", "text")),
    events.Cleared: ("session", ("before", "after")),
    events.Compacted: ("session", ("trigger", "tokens_before", "tokens_after")),
    events.BackgroundStarted: ("session", ("id", "kind", "call_id")),
    events.BackgroundEnded: ("session", ("id", "kind", "status", "duration_ms")),
    events.Finished: ("session", ("uuid",)),
    events.RequestSent: ("api", ("number", "model")),
    events.ReplyCompleted: ("api", ("duration_ms", "cost_usd")),
    events.Retrying: ("api", ("attempt", "max_attempts", "delay_ms", "status", "error")),
    events.CacheBreak: ("api", ("reason", "layer", "tokens")),
    events.ToolStarted: ("tools", ("id", "name", "caller")),
    events.ToolFinished: ("tools", ("id", "name", "is_error", "duration_ms", "verdict", "rule", "reason")),
    events.PermissionDenied: ("permissions", ("by",)),
    events.PermissionsChanged: ("permissions", ("by", "file")),
    events.ModeChanged: ("permissions", ("mode",)),
    events.HookStarted: ("hooks", ("hook_id", "hook_name", "event")),
    events.HookFinished: ("hooks", ("hook_id", "hook_name", "event", "outcome", "exit_code")),
}
KINDS = tuple(dict.fromkeys(kind for kind, _ in _TOLD.values()))


class DebugLog:
    """`take` gets every event. `wanted` are kinds, separated by commas, or those that are not wanted, each
    with `!`. Without `file`, the log is `debug/SESSION.txt` in the Checkrein home, unless `say` takes it."""

    def __init__(self, wanted: str, file: str | None, say: Callable[[str], None] | None = None) -> None:
        self._kinds = _kinds(wanted)
        self._file = file
        self._say = say
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self._masked: Callable[[str], str] = str
        if file is not None:
            self._open(file)

    def attach(self, session: Session) -> None:
        self._masked = session.conversation.services.kept.vault.masked
        if self._file is None and self._say is None:
            self._open(str(private_dir(checkrein_home() / "debug") / f"{session.id}.txt"))

    def take(self, event: Event) -> None:
        kind, fields = _TOLD.get(type(event), ("", ()))
        if kind not in self._kinds:
            return
        said: dict[str, Any] = {name: getattr(event, name) for name in fields}
        if isinstance(event, events.Finished):
            said |= {"subtype": event.result.subtype, "terminal_reason": event.result.terminal_reason}
        if event.agent_id is not None:
            said["agent_id"] = event.agent_id
        name = type(event).__struct_config__.tag
        words = msgspec.json.encode(said).decode()
        self._write(f"{clock.timestamp_ms()} [DEBUG] [{kind}] {name} {self._masked(words)}")

    def close(self) -> None:
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
            self._descriptor = None

    def _open(self, path: str) -> None:
        try:
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise UsageError(f"--debug-file {path} can't be written: {error.strerror}.") from error

    def _write(self, line: str) -> None:
        with self._lock, contextlib.suppress(OSError):
            if self._descriptor is not None:
                os.write(self._descriptor, f"{line}\n".encode())
            if self._say is not None:
                self._say(line)


def _kinds(wanted: str) -> frozenset[str]:
    """A filter that names no kind of ours takes everything: the product has more of them."""
    named = {word.strip().lower() for word in wanted.split(",")}
    without = {word[1:] for word in named if word.startswith("!")}
    return frozenset((named & set(KINDS) or set(KINDS)) - without)
