"""An asker that is a tool of an MCP server: `--permission-prompt-tool`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkrein.runtime.call.host import ToolHost
from checkrein.runtime.call.prompt_tool import PromptTool

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.session.conversation import Conversation


def prompt_asker(conversation: Conversation, name: str) -> PromptTool:
    services, host = conversation.services, conversation.host
    own = ToolHost(host.gate, host.hooks, host.recorder, host.bench, host.permissions)

    def settle(server: str, cancel: Cancel) -> None:
        if services.servers is not None:
            services.servers.wait(server, cancel)

    return PromptTool(name, own, services.tools, settle)
