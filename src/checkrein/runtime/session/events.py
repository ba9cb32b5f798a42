"""What happens in a session, as immutable values. Screens, transcripts and protocols only consume these.

Ordering, for one call of `Session.run`:

- `SessionStarted` first, `Finished` last; each exactly once, on every path.
- `PromptAccepted` before the first `Transition`.
- Each pass of the loop begins with `Transition`, which names why the loop goes on, then `RequestSent`.
- `Streamed` events of a reply come before its `AssistantBlock`s; blocks of one reply share `message_id` and
  come in order; the last one carries the reply's usage.
- `ToolStarted(id)` comes after the block that holds the call and before `ToolFinished(id)`. Each call has
  exactly one `ToolFinished`; a refused call has one too, with `refused` set and no `ToolStarted`.
  Results come in the order of the calls, whichever ends first.
- `Retrying`, `Notice`, hook and cache events may come anywhere between first and last.
- After `Finished` nothing follows. Its `result` is the session's terminal state, never an absence.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import RunError
from checkrein.base.origin import Origin
from checkrein.llm.port import Message, ModelEvent, Reply, Text, Thinking, ToolUse, Usage
from checkrein.llm.port import RedactedThinking as RedactedThinking
from checkrein.policy.updates import Update
from checkrein.runtime.process.layers import Layer

TransitionName = Literal[
    "start",
    "tool_use",
    "output_limit",
    "prompt_too_long",
    "window_exceeded",
    "compaction",
    "stop_hook",
    "structured_output",
    "fallback",
    "pause",
    "interrupted",
    "limit",
    "repeated",
    "hook_stopped",
    "deferred",
    "failed",
    "done",
]
TERMINAL: frozenset[TransitionName] = frozenset(
    {"interrupted", "limit", "repeated", "hook_stopped", "deferred", "failed", "done"}
)

Subtype = Literal[
    "success",
    "error_during_execution",
    "error_max_turns",
    "error_max_budget_usd",
    "error_max_structured_output_retries",
]


class Denial(Struct, frozen=True):
    """A refused call. `origin` is the rule's file and line when a rule refused it."""

    tool_name: str
    tool_use_id: str
    tool_input: dict[str, Any]
    reason: str
    rule: str | None = None
    origin: Origin | None = None


class ModelUsage(Struct, frozen=True):
    usage: Usage
    cost_usd: float | None
    requests: int = 1


class Result(Struct, frozen=True, kw_only=True):
    """The one terminal state of a run. `text` is what the model said, `errors` is why it failed; neither has
    anything of the other. `usage` and `cost_usd` count the whole tree; `by_agent` has what each agent spent
    by itself, `main` for the session's own conversation."""

    subtype: Subtype
    is_error: bool
    session_id: str
    text: str = ""
    stop_reason: str | None = None
    terminal_reason: str = "completed"
    requests: int = 0
    duration_ms: int = 0
    model_ms: int = 0
    first_request_ms: int = 0
    first_token_ms: int = 0
    usage: Usage = Usage()
    by_model: dict[str, ModelUsage] = {}
    by_agent: dict[str, ModelUsage] = {}
    cost_usd: float = 0.0
    denials: tuple[Denial, ...] = ()
    errors: tuple[str, ...] = ()
    structured_output: Any = None
    deferred: ToolUse | None = None
    status_code: int | None = None
    skipped: tuple[Diagnostic, ...] = ()

    @property
    def problem(self) -> str:
        """Why it failed, in one text."""
        return "; ".join(self.errors) or self.terminal_reason

    def raise_for_error(self) -> Result:
        """This result, or a RunError when the run failed or reached a limit."""
        if not self.is_error:
            return self
        raise RunError(self.problem, kind=self.terminal_reason).during("run", self.session_id, result=self)


class Happened(Struct, frozen=True, kw_only=True):
    """What every event holds: the child it happened in (None: the session's own conversation), and the call
    that it belongs to (the one that started the child, or the skill whose line it is)."""

    agent_id: str | None = None
    parent_call: str | None = None


class LoadedPlugin(Struct, frozen=True, omit_defaults=True):
    """A plugin that is on. `source` tells those of one name apart."""

    name: str
    path: str
    source: str
    version: str | None = None


class SessionStarted(Happened, frozen=True, tag="session_started", kw_only=True):
    """`layers` say where rules are enforced while calls run, and what that means. `trusted` says whether the
    project's hooks, servers and allow rules count, `skipped` what does not count and why."""

    session_id: str
    cwd: str
    model: str
    mode: str
    tools: tuple[str, ...]
    commands: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    servers: tuple[tuple[str, str], ...] = ()
    plugins: tuple[LoadedPlugin, ...] = ()
    layers: tuple[Layer, ...] = ()
    output_style: str = "default"
    betas: tuple[str, ...] = ()
    trusted: bool = True
    skipped: tuple[Diagnostic, ...] = ()
    source: Literal["startup", "resume", "fork", "clear", "compact"] = "startup"


class PromptAccepted(Happened, frozen=True, tag="prompt_accepted"):
    uuid: str
    message: Message
    replay: bool = False


class Transition(Happened, frozen=True, tag="transition"):
    """Why the loop takes its next pass, or why it ends."""

    name: TransitionName
    detail: str = ""


class RequestSent(Happened, frozen=True, tag="request_sent"):
    number: int
    model: str


class Streamed(Happened, frozen=True, tag="streamed"):
    """`uuid` is that of the `AssistantBlock` which a completed block becomes."""

    event: ModelEvent
    uuid: str | None = None


class AssistantBlock(Happened, frozen=True, tag="assistant_block"):
    uuid: str
    message_id: str
    model: str
    block: Text | Thinking | RedactedThinking | ToolUse
    usage: Usage
    last: bool
    stop_reason: str | None = None
    error: str | None = None


class ReplyCompleted(Happened, frozen=True, tag="reply_completed"):
    reply: Reply
    duration_ms: int
    cost_usd: float | None


Caller = Literal["model", "skill", "hook", "program", "asker"]


class ToolStarted(Happened, frozen=True, tag="tool_started"):
    """`caller` says who made the call. Only the model's own calls are part of the conversation."""

    id: str
    name: str
    input: dict[str, Any]
    caller: Caller = "model"


class ToolFinished(Happened, frozen=True, tag="tool_finished", kw_only=True):
    """`content` is for the model, `structured` for programs. `caller` as in `ToolStarted`. `by` says who gave
    the verdict; None for a call that was never judged."""

    id: str
    name: str
    input: dict[str, Any]
    uuid: str
    content: Any
    caller: Caller = "model"
    is_error: bool = False
    structured: Any = None
    duration_ms: int = 0
    verdict: str = "allow"
    reason: str = ""
    refused: bool = False
    by: Literal["rule", "mode", "classifier", "hook", "asker", "trust"] | None = None
    rule: str | None = None
    origin: Origin | None = None


class PermissionDenied(Happened, frozen=True, tag="permission_denied"):
    """`by` is `start` for a program that a running command tried to start, `effect` for a file that it tried
    to write or a host that it tried to reach. The command goes on."""

    denial: Denial
    by: Literal["rule", "mode", "classifier", "hook", "asker", "trust", "start", "effect"] = "rule"


class HookStarted(Happened, frozen=True, tag="hook_started"):
    hook_id: str
    hook_name: str
    event: str


class HookFinished(Happened, frozen=True, tag="hook_finished"):
    hook_id: str
    hook_name: str
    event: str
    stdout: str
    stderr: str
    exit_code: int | None
    outcome: Literal["success", "error", "cancelled"]
    output: str = ""


class Retrying(Happened, frozen=True, tag="retrying"):
    attempt: int
    max_attempts: int
    delay_ms: int
    error: str
    status: int | None = None


class CacheBreak(Happened, frozen=True, tag="cache_break"):
    """Why the next request does not extend the one before it.

    `layer` is what the cache no longer serves: the whole request, or the conversation after its first
    `kept` messages. `tokens` is about how many tokens go out again."""

    reason: str
    layer: Literal["request", "conversation"] = "request"
    kept: int = 0
    tokens: int = 0


class Compacted(Happened, frozen=True, tag="compacted"):
    trigger: Literal["manual", "auto", "reactive"]
    tokens_before: int
    tokens_after: int
    stage: str
    uuid: str = ""


class Cleared(Happened, frozen=True, tag="cleared"):
    """The session began another conversation: what follows belongs to the session `after`."""

    before: str
    after: str


class Compacting(Happened, frozen=True, tag="compacting"):
    """Compaction begins, or is over (`active` False), with or without success."""

    active: bool


TaskKind = Literal["local_bash", "local_agent"]


class BackgroundStarted(Happened, frozen=True, tag="background_started"):
    """A command or an agent works in the background. `call_id` is the call that started it. The rest is about
    an agent: its type, its prompt, and how deep it is."""

    id: str
    call_id: str
    description: str
    kind: TaskKind = "local_bash"
    agent_type: str | None = None
    prompt: str = ""
    depth: int = 0


class BackgroundEnded(Happened, frozen=True, tag="background_ended", kw_only=True):
    """A command or an agent in the background has ended. `path` is the file with its output."""

    id: str
    call_id: str
    status: Literal["completed", "failed", "killed"]
    summary: str
    path: str
    duration_ms: int
    kind: TaskKind = "local_bash"
    tokens: int = 0
    calls: int = 0


class Notice(Happened, frozen=True, tag="notice"):
    """A word for the person. `finding` says the same for programs, with its code, file and line."""

    level: Literal["info", "notice", "suggestion", "warning"]
    text: str
    finding: Diagnostic | None = None


class ModeChanged(Happened, frozen=True, tag="mode_changed"):
    mode: str


class PermissionsChanged(Happened, frozen=True, tag="permissions_changed"):
    """An answer changed the permissions of the conversation. `file` is the settings file that keeps the
    change; None when it ends with the session."""

    update: Update
    by: Literal["asker", "hook"]
    file: str | None = None


class ContextAdded(Happened, frozen=True, tag="context_added"):
    """Text that a hook, a skill or an instruction put into the conversation."""

    uuid: str
    text: str
    source: str
    origin: Origin | None = None


class Finished(Happened, frozen=True, tag="finished"):
    result: Result
    uuid: str


Event = (
    SessionStarted
    | PromptAccepted
    | Transition
    | RequestSent
    | Streamed
    | AssistantBlock
    | ReplyCompleted
    | ToolStarted
    | ToolFinished
    | PermissionDenied
    | HookStarted
    | HookFinished
    | Retrying
    | CacheBreak
    | Compacted
    | Compacting
    | Cleared
    | BackgroundStarted
    | BackgroundEnded
    | Notice
    | ModeChanged
    | PermissionsChanged
    | ContextAdded
    | Finished
)
