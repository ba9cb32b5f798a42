"""One call of a server's tool for the person who typed it: through the tool host, as every call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from checkrein.base.config import load_config
from checkrein.base.errors import NotFoundError, PolicyError
from checkrein.base.home import checkrein_home
from checkrein.base.nearest import did_you_mean
from checkrein.facts.config import KEYS
from checkrein.llm.port import Cancel, ToolUse
from checkrein.model.items import Server
from checkrein.model.project import Project
from checkrein.model.view import View
from checkrein.protocol.machine.setup import NoModel
from checkrein.runtime.mcp.connection import Connection
from checkrein.runtime.mcp.declared_effects import DeclaredEffects
from checkrein.runtime.mcp.server_tool import tools_of
from checkrein.runtime.mcp.tool_names import ToolNames
from checkrein.runtime.session.control import Answer, Question
from checkrein.runtime.session.events import ToolFinished
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session

_CALL_ID = "call_1"


class _Typed:
    """The person has answered already: they typed the call."""

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        return Answer(verdict="allow")


def call(
    project: Project, server: Server, connection: Connection, tool: str, input: dict[str, Any], cancel: Cancel
) -> ToolFinished:
    """Validation, hooks, rules and declared effects hold. Raises PolicyError when they refuse the call, and
    NotFoundError when the server has no such tool."""
    config = load_config(KEYS, Path(project.place.root), checkrein_home())
    found = tools_of(connection, ToolNames(), DeclaredEffects.of(config), server.origin).tools
    chosen = next((one for one in found if one.tool.name == tool), None)
    if chosen is None:
        known = [one.tool.name for one in found]
        raise NotFoundError(
            f"The server {connection.name} has no tool {tool!r}.{did_you_mean(tool, known)}",
            kind="tool_not_found",
        )
    options = Options(mode="default", persist=False)
    view = View(project).narrow(servers=())
    with Session(view, model=NoModel(), options=options, asker=_Typed(), tools=found) as session:
        done = session.call(ToolUse(_CALL_ID, chosen.name, input), cancel)
    if done.denial is not None:
        origin = done.denial.denial.origin
        raise PolicyError(str(done.finished.content), kind="policy_refused", origin=origin)
    return done.finished


def blocks(finished: ToolFinished) -> tuple[dict[str, Any], ...]:
    """The content of the answer, as content blocks."""
    if isinstance(finished.content, str):
        return ({"type": "text", "text": finished.content},)
    return tuple(msgspec.to_builtins(finished.content))
