"""What a host may ask of a running session, one function for each kind of request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checkrein.base.errors import CheckreinError, UsageError
from checkrein.protocol.handshake import Greeting, read, reply
from checkrein.protocol.inbox import INITIALIZE, Handler, Told
from checkrein.protocol.reload_requests import ReloadRequests
from checkrein.protocol.session_requests import SessionRequests
from checkrein.protocol.wire import Frame
from checkrein.runtime.session.events import Event, ModeChanged
from checkrein.runtime.session.session import Session

SLOW = frozenset(
    {
        "get_context_usage",
        "mcp_reconnect",
        "mcp_set_servers",
        "mcp_status",
        "mcp_toggle",
        "get_task_output",
        "read_file",
        "reload_output_styles",
        "reload_plugins",
        "rewind_files",
        "seed_read_state",
        "stop_task",
    }
)
"""Requests that may wait for something else: a server, a file, the end of a task."""


class ControlRequests:
    """The requests to one session. An error is the answer to a request that can't be met. `show` shows an
    event that the session takes in later."""

    def __init__(self, session: Session, key_source: str, show: Callable[[Event], None]) -> None:
        self._session = session
        self._key_source = key_source
        self._show = show
        self._more = (ReloadRequests(session), SessionRequests(session))

    @property
    def handlers(self) -> dict[str, Handler]:
        return {
            INITIALIZE: self._initialize_again,
            "set_permission_mode": self._set_mode,
            "set_model": self._set_model,
            "set_max_thinking_tokens": self._set_thinking,
            "get_context_usage": self._context_usage,
            "mcp_status": lambda request: {"mcpServers": self._session.servers.status()},
            "mcp_reconnect": self._reconnect,
            "mcp_toggle": self._toggle,
            "mcp_set_servers": self._set_servers,
            "rewind_files": self._rewind,
            "stop_task": self._stop_task,
            "apply_flag_settings": self._apply_settings,
            "read_file": self._read_file,
            **{name: handler for part in self._more for name, handler in part.handlers.items()},
        }

    def greeted(self, greeting: Greeting) -> Frame:
        return reply(self._session, greeting, self._key_source)

    def _initialize_again(self, request: Frame) -> Frame:
        return reply(self._session, read({"request": request}), self._key_source, again=True)

    def _set_mode(self, request: Frame) -> Told:
        """The mode counts at once, for a running call too; the session records it at its next safe point."""
        conversation = self._session.conversation
        mode = request.get("mode")
        mode = "default" if mode == "manual" else mode
        if not isinstance(mode, str) or not conversation.may_enter(mode):
            raise UsageError(f"The mode {mode!r} is not available here.")
        conversation.enter(mode)
        changed = ModeChanged(mode)

        def then() -> None:
            self._show(changed)
            self._session.control.set_mode(changed.mode)

        return Told({"mode": mode}, then)

    def _set_model(self, request: Frame) -> Frame:
        name = _text(request, "model", optional=True)
        _, real = self._session.conversation.services.choose(name or "default")
        self._session.control.set_model(name)
        return {"model": real}

    def _set_thinking(self, request: Frame) -> Frame:
        tokens = request.get("max_thinking_tokens")
        if tokens is not None and (type(tokens) is not int or tokens < 0):
            raise UsageError("`max_thinking_tokens` must be a number of tokens.")
        self._session.conversation.backdrop.prompt.think(tokens)
        return {}

    def _context_usage(self, request: Frame) -> Frame:
        from checkrein.runtime.context.occupancy import context_usage

        return context_usage(self._session.conversation)

    def _reconnect(self, request: Frame) -> Frame:
        self._session.servers.reconnect(str(_text(request, "serverName")))
        return {}

    def _toggle(self, request: Frame) -> Frame:
        self._session.servers.toggle(str(_text(request, "serverName")), request.get("enabled") is True)
        return {}

    def _set_servers(self, request: Frame) -> Frame:
        servers = request.get("servers")
        if not isinstance(servers, dict):
            raise UsageError("The request needs `servers`, an object.")
        return self._session.servers.set_servers(servers)

    def _rewind(self, request: Frame) -> Frame:
        uuid, dry_run = str(_text(request, "user_message_id")), request.get("dry_run") is True
        try:
            restored = self._session.rewind(uuid, dry_run=dry_run)
        except CheckreinError as error:
            if not dry_run:
                raise
            return {"canRewind": False, "error": error.message}
        return {
            "canRewind": True,
            "filesChanged": [*restored.restored, *restored.deleted],
            "insertions": restored.insertions,
            "deletions": restored.deletions,
            "skippedLinks": len(restored.skipped),
        }

    def _stop_task(self, request: Frame) -> Frame:
        from checkrein.runtime.session.task_stops import stop_task

        stop_task(self._session.conversation, str(_text(request, "task_id")))
        return {}

    def _apply_settings(self, request: Frame) -> Frame:
        from checkrein.runtime.turn.live_settings import apply

        settings = request.get("settings")
        if not isinstance(settings, dict):
            raise UsageError("The request needs `settings`, an object.")
        for event in apply(self._session.conversation, settings):
            self._show(event)
        return {}

    def _read_file(self, request: Frame) -> Frame:
        """A file for the host's own screen, under the rules for reading."""
        from checkrein.protocol.shown_file import shown_file

        limit = request.get("max_bytes")
        return shown_file(
            self._session.conversation.host,
            str(_text(request, "path")),
            limit if type(limit) is int and limit >= 0 else None,
            exact=request.get("encoding") == "base64",
        )


def _text(request: Frame, name: str, *, optional: bool = False) -> str | None:
    value: Any = request.get(name)
    if isinstance(value, str) and value:
        return value
    if optional and value is None:
        return None
    raise UsageError(f"The request needs a `{name}`.")
