"""Agent, SendMessage and ListAgents: the tools by which a conversation has others work for it."""

from __future__ import annotations

from typing import Any

from checkrein.runtime.tools.delegate import Delegate
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput


def start(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    return _delegate(context).start(input, context)


def send(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    return _delegate(context).send(input, context)


def listing(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    return _delegate(context).listing()


def _delegate(context: ToolContext) -> Delegate:
    if context.state.delegate is None:
        raise ToolFailure("This conversation can't start agents.")
    return context.state.delegate
