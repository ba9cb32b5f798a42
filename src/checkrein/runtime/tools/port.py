"""What a tool is.

A tool validates nothing about permission: by the time `run` is called, the gate has approved this very
input. It must not start a process except through `context.spawner`, and must open files through
`checkrein.runtime.tools.files`, which compares what it opened with what was approved.

`run` may raise `ToolFailure`; its text goes to the model as an error result. Any other exception is a bug
and becomes an error result too, never the end of the session. `run` is called in a thread of its own and
must return soon after `context.cancel` fires.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from checkrein.llm.port import Cancel, Document, Image, Text
from checkrein.policy.tools import Tool as Meaning
from checkrein.policy.tools import declare

if TYPE_CHECKING:
    from checkrein.runtime.process.sandbox.policy import SandboxPolicy
    from checkrein.runtime.process.spawner import Spawner
    from checkrein.runtime.session.events import Event
    from checkrein.runtime.tools.desk import ToolState


class ToolDeclaration(Struct, frozen=True, kw_only=True):
    """What the model knows of a tool.

    `eager` tools are in every request; the others are found through the search tool. `description` is our
    own wording, kept in a Markdown file beside the implementation; at most 450 bytes for an eager tool.
    """

    name: str
    schema: dict[str, Any]
    description: str
    read_only: bool = False
    eager: bool = False


class ToolOutput(Struct, frozen=True, kw_only=True):
    """`content` is what the model sees, `structured` the documented shape that hooks and clients see."""

    content: str | tuple[Text | Image | Document, ...]
    structured: Any = None
    is_error: bool = False


class ToolFailure(Exception):  # noqa: N818  it is an answer to the model, not an error of ours
    """The call could not do what it was asked; the text tells the model why and what to do instead."""

    def __init__(self, message: str, structured: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.structured = structured


class ToolContext(Struct, kw_only=True):
    """What one call may use.

    `cwd` is the session's working directory at the time of the call; `state.set_cwd` changes it for later
    calls. `results_dir` is where output that is too large for the context goes. `ask_model` answers a small
    question with a cheap model (None when the session has none). `ask_user` puts questions to the person
    (None when nobody is there). `approved_paths` are the canonical paths that the gate approved for this
    call: a file tool opens nothing else. `may_read` tells a search which of its finds a deny rule hides.
    `approved_hosts` are the hosts with a private address that WebFetch may reach. `sandbox` is what Bash
    is confined to, but for an input that `outside` says was approved without; `only_asks_git` says of a
    command that git may start nothing in it.
    `objection` asks the hooks of a task event (event, id, subject, description) and gives their reason
    against it.
    """

    call_id: str
    cwd: str
    root: str
    home: str
    add_dirs: tuple[str, ...]
    results_dir: str
    session_id: str
    env: dict[str, str]
    spawner: Spawner
    state: ToolState
    cancel: Cancel
    emit: Callable[[Event], None]
    approved_paths: tuple[str, ...] = ()
    may_read: Callable[[str], bool] | None = None
    approved_hosts: tuple[str, ...] = ()
    sandbox: SandboxPolicy | None = None
    outside: Callable[[dict[str, Any]], bool] | None = None
    only_asks_git: Callable[[str], bool] | None = None
    objection: Callable[[str, str, str, str], str | None] | None = None
    ask_model: Callable[[str, str], str] | None = None
    ask_user: Callable[[dict[str, Any]], dict[str, Any] | None] | None = None
    set_mode: Callable[[str], None] | None = None


class AnyTool(Protocol):
    """What a session can call. A tool is registered once, with how the model sees it (`declaration`), what it
    does to the world (`meaning`, which rules bind) and the work (`run`).

    `name`, `eager`, `read_only` and `aliases` are known without making the declaration.
    """

    @property
    def name(self) -> str: ...
    @property
    def eager(self) -> bool: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...
    @property
    def declaration(self) -> ToolDeclaration: ...
    @property
    def meaning(self) -> Meaning: ...

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput: ...


Around = Callable[[AnyTool, ToolContext, Callable[[], ToolOutput]], ToolOutput]
"""What goes around the work of a tool: it calls the third argument once, and may change what comes back."""


class Tool(Struct, frozen=True, kw_only=True):
    """A tool of a program: `work` does it. `effects` names the input fields that hold what the tool does to
    the world, so that rules on Bash, Read, Edit and WebFetch bind it too (`checkrein.effects`); without them
    only rules on its own name do."""

    declaration: ToolDeclaration
    work: Callable[[dict[str, Any], ToolContext], ToolOutput]
    effects: Meaning | None = None
    aliases: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def eager(self) -> bool:
        return self.declaration.eager

    @property
    def read_only(self) -> bool:
        return self.declaration.read_only

    @property
    def meaning(self) -> Meaning:
        return self.effects if self.effects is not None else declare(self.name)

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        return self.work(input, context)
