"""What a host may ask to have read again from the files: skills, output styles, plugins."""

from __future__ import annotations

import msgspec

from checkrein.base.errors import UsageError
from checkrein.protocol.handshake import agents, commands, invocable
from checkrein.protocol.inbox import Handler
from checkrein.protocol.wire import Frame
from checkrein.runtime.context import styles
from checkrein.runtime.session.session import Session
from checkrein.runtime.session.start import plugins


class ReloadRequests:
    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def handlers(self) -> dict[str, Handler]:
        return {
            "reload_skills": self._skills,
            "reload_output_styles": self._styles,
            "reload_plugins": self._plugins,
        }

    def _skills(self, request: Frame) -> Frame:
        from checkrein.runtime.session.reload import skills_now

        view = skills_now(self._session.conversation, self._session.watch)
        return {"skills": invocable(view)}

    def _styles(self, request: Frame) -> Frame:
        found = styles.styles(self._session.conversation.view.project)
        return {"available_output_styles": [styles.DEFAULT, *found]}

    def _plugins(self, request: Frame) -> Frame:
        """A session keeps the plugins that it began with: the answer is what it has, if that is what the
        files say."""
        from checkrein.runtime.turn.plugin_changes import changed

        if request.get("add_plugins"):
            raise UsageError("A running session takes no more plugins: start another one with them.")
        news, holds = changed(self._session.conversation), request.get("hold_on_cache_impact") is True
        if news.plugins and not holds:
            names = ", ".join(news.plugins)
            raise UsageError(f"Not reloaded. Changed: {names}. Start a new session for them.")
        held: Frame = {"held": bool(news.plugins)} if holds else {}
        if news.plugins:
            held["cache_impact"] = {
                "mcp_servers_added": list(news.servers_added),
                "mcp_servers_removed": list(news.servers_removed),
                "lsp_tool_change": None,
            }
        return {
            "commands": commands(self._session),
            "agents": agents(self._session),
            "plugins": list(msgspec.to_builtins(plugins(self._session.conversation.view.project))),
            "mcpServers": self._session.servers.status(),
            "error_count": 0,
            **held,
        }
