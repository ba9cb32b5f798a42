"""What hooks need from the session. Each port is one function; None means that the session has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from checkrein.runtime.hooks.match import RuleMatches

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.process.command import Command, Completed
    from checkrein.runtime.session.events import Event

    Emit = Callable[[Event], None]


class RunsCommands(Protocol):
    """`checkrein.runtime.process.spawner.Spawner`, or a replacement for it."""

    def run(self, command: Command, cancel: Cancel, /) -> Completed: ...


AskModel = Callable[[str, str | None, "Cancel"], str]
"""(prompt, model, cancel): the reply of a small model, as text."""
RunAgent = Callable[[str, str | None, str, "Cancel", "Emit"], str]
"""(prompt, model, call, cancel, emit): the last message of a child that may only read. The child belongs to
`call`."""
CallTool = Callable[[str, str, dict[str, Any], "Cancel", "Emit"], str]
"""(server, tool, input, cancel, emit): the text from a tool of a connected MCP server. May raise."""
Callback = Callable[[dict[str, Any], str | None], dict[str, Any]]
"""(payload, tool_use_id): a function of the program that drives the session; returns a hook's JSON."""


class PluginPlace(Struct, frozen=True):
    """A plugin's directory, its data directory, and the user's values for its options."""

    root: str
    data: str = ""
    options: dict[str, str] = {}


class Ports(Struct, frozen=True, kw_only=True):
    """`allowed_urls` None allows every URL; `allowed_env` None leaves the choice to each hook."""

    ask_model: AskModel | None = None
    run_agent: RunAgent | None = None
    call_tool: CallTool | None = None
    rule_matches: RuleMatches | None = None
    allowed_urls: tuple[str, ...] | None = None
    allowed_env: tuple[str, ...] | None = None


class Surroundings(Struct, frozen=True, kw_only=True):
    """The session as command hooks see it. `env` is their whole environment."""

    project_dir: str
    session_id: str
    env: Mapping[str, str]
    results_dir: str | None = None
    env_file: str | None = None
    plugins: Mapping[str, PluginPlace] = {}
    remote: bool = False
