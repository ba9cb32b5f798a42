"""What the tools of subagents need: somebody who starts them, and knows those that there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from checkrein.runtime.tools.port import Aside, ToolContext, ToolOutput


class Errand(Struct, frozen=True, kw_only=True):
    """A skill that runs in an agent: its text is the task."""

    skill: str
    text: str
    agent: str | None = None
    model: str | None = None
    effort: str | None = None
    allowed: tuple[str, ...] = ()


class Delegate(Protocol):
    """For one conversation. `output` and `stop` return None when the input names no agent;
    `halt` stops one for its user, and says whether one of that name runs; `let_go` sends those in the
    foreground to the background, and says whether there are some; `standing` is what a conversation
    must know of its agents when it has forgotten the rest."""

    def run_skill(self, errand: Errand, aside: Aside) -> ToolOutput: ...

    def start(self, input: dict[str, Any], context: ToolContext) -> ToolOutput: ...
    def send(self, input: dict[str, Any], context: ToolContext) -> ToolOutput: ...
    def listing(self) -> ToolOutput: ...
    def standing(self) -> str: ...
    def output(self, input: dict[str, Any], context: ToolContext) -> ToolOutput | None: ...
    def stop(self, input: dict[str, Any], context: ToolContext) -> ToolOutput | None: ...
    def halt(self, name: str) -> bool: ...
    def let_go(self) -> bool: ...
