"""What a tool is.

A tool does not check permissions: the gate approves the exact input before `run` starts. A tool must start
processes only through `context.spawner`. It must open files through `checkrein.runtime.tools.files`, which
compares the opened file with the approved one.

`run` may raise `ToolFailure`; its text goes to the model as an error result. Any other exception is a bug. It
becomes an error result too, and never ends the session. `run` has its own thread and must return soon after
`context.cancel` fires. The session goes on without the work of a `Tool` that does not; nobody hears its later
events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from checkrein.llm.port import Cancel, Document, Hit, Image, Search, Text
from checkrein.policy.tools import Meaning, Tools, builtin_tools
from checkrein.policy.tools import effects as effects_of
from checkrein.runtime.secrets.cover import Cover, uncovered

if TYPE_CHECKING:
    from checkrein.runtime.process.command import Command
    from checkrein.runtime.process.sandbox.policy import SandboxPolicy
    from checkrein.runtime.process.spawner import Spawner
    from checkrein.runtime.session.events import Event
    from checkrein.runtime.tools.desk import ToolState
    from checkrein.runtime.worktrees.worktree import Kept, Worktree

_GRACE = 0.6
"""Seconds that a program's tool has to end after its cancel."""


class ToolDeclaration(Struct, frozen=True, kw_only=True):
    """What the model knows about a tool.

    `eager` tools are in every request; the search tool finds the others. `description` is our
    own wording, kept in a Markdown file beside the implementation; at most 450 bytes for an eager tool.
    `claims` is what a server says about its tool: a person who is asked sees it, the model does not, and it
    decides nothing.
    """

    name: str
    schema: dict[str, Any]
    description: str
    read_only: bool = False
    eager: bool = False
    claims: tuple[str, ...] = ()


class ToolOutput(Struct, frozen=True, kw_only=True):
    """`content` is what the model sees, `structured` the documented shape that hooks and clients see. `limit`
    is how many characters the model gets of it; None is the session's own limit."""

    content: str | tuple[Text | Image | Document, ...]
    structured: Any = None
    is_error: bool = False
    limit: int | None = None


class ToolFailure(Exception):  # noqa: N818  it is an answer to the model, not an error of ours
    """The call failed; the text tells the model why, and what to do instead."""

    def __init__(self, message: str, structured: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.structured = structured


class Found(Struct, frozen=True):
    """What a web search found: `count` searches gave `hits`, and `text` says what they hold."""

    text: str
    hits: tuple[Hit, ...]
    count: int


class Moves(Protocol):
    """Leads a session into a worktree and back. Raises CheckreinError where that is impossible."""

    def enter(
        self, name: str | None, path: str | None, cancel: Cancel, emit: Callable[[Event], object]
    ) -> Worktree: ...

    def leave(
        self, *, remove: bool, discard: bool, cancel: Cancel, emit: Callable[[Event], object]
    ) -> tuple[Worktree, Kept | None]: ...

    def restore(self, path: str, *, made: bool, cancel: Cancel) -> str: ...

    def close(self, cancel: Cancel) -> None: ...


class ToolContext(Struct, kw_only=True):
    """What one call may use.

    `cwd` is the session's working directory at the time of the call; `state.set_cwd` changes it for later
    calls. `results_dir` holds output that is too large for the context. `ask_model` answers a small question
    with a cheap model (None when the session has none). `ask_user` asks the user questions (None when no user
    can answer). `approved_paths` are the canonical paths that the gate approved for this call: a file tool
    opens nothing else. `may_read` tells a search which of its results a deny rule hides. `approved_hosts` are
    the hosts with a private address that WebFetch may reach. `sandbox` confines Bash, except for an input
    that `outside` names as approved without it. `bind` gives a command everything that holds it.
    `only_asks_git` is true for a command in which git may start nothing else.
    `cover` masks secrets: a tool uses it before it cuts a text.
    `search` lets the model's service search the web (None when it can't). `setting` gives a value of
    Checkrein's configuration. `moves` leads the session into a worktree and back (None in a subagent).
    `objection` runs the hooks of a task event (event, id, subject, description) and returns their reason
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
    emit: Callable[[Event], object]
    approved_paths: tuple[str, ...] = ()
    may_read: Callable[[str], bool] | None = None
    approved_hosts: tuple[str, ...] = ()
    sandbox: SandboxPolicy | None = None
    bind: Callable[[Command], Command] | None = None
    outside: Callable[[dict[str, Any]], bool] | None = None
    only_asks_git: Callable[[str], bool] | None = None
    objection: Callable[[str, str, str, str], str | None] | None = None
    ask_model: Callable[[str, str], str] | None = None
    ask_user: Callable[[dict[str, Any]], dict[str, Any] | None] | None = None
    set_mode: Callable[[str], None] | None = None
    mode_after_plan: str = "default"
    cover: Cover = field(default_factory=uncovered)
    search: Callable[[str, Search], Found] | None = None
    setting: Callable[[str], Any] | None = None
    moves: Callable[[], Moves] | None = None


def _ignored(event: object) -> None:
    pass


class Aside(Struct, frozen=True):
    """What work outside the conversation gives to its calls: their cancel, where their events go, and the
    call they belong to."""

    cancel: Cancel
    emit: Callable[[Event], object] = _ignored
    call_id: str | None = None


class AnyTool(Protocol):
    """What a session can call. One registration has the model's view of it (`declaration`), what it
    does to the world (`meaning`, which rules judge) and the work (`run`).

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
"""Wraps the work of a tool: it calls the third argument once, and may change the output."""


class Tool(Struct, frozen=True, kw_only=True):
    """A tool of a program; `work` does the work. `effects` names the input fields that say what the tool does
    to the world, so that rules for Bash, Read, Edit and WebFetch judge it too; `checkrein.effects` makes
    them, for the tool's own name. Without them only rules for its name do."""

    declaration: ToolDeclaration
    work: Callable[[dict[str, Any], ToolContext], ToolOutput]
    effects: Meaning | None = None
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.effects is not None and self.effects.name != self.name:
            raise ValueError(f"The effects of the tool {self.name!r} are those of {self.effects.name!r}.")

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
        """In the place of a built-in tool it counts as that one too, so that rules for it hold."""
        if self.effects is not None:
            return self.effects
        own, known = effects_of(self.name), builtin_tools()
        return known.joined(Tools((own,))).get(self.name) if self.name in known else own

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Do the work. After a cancel, wait a little for its end and then go on without it."""
        from checkrein.runtime.session.channel import Abandoned, drained, pumped

        def work(emit: Callable[[Event], None]) -> ToolOutput:
            return self.work(input, replace(context, emit=emit))

        try:
            with context.cancel.outlasted(_GRACE) as leave:
                return drained(pumped(work, self.name, leave), context.emit)
        except Abandoned:
            text = f"{self.name} did not stop within {_GRACE:g} seconds. Its effect is unknown."
            raise ToolFailure(text) from None
