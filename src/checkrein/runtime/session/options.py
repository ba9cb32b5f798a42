"""How a session runs: everything a caller may choose, declared once."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.model.rule import Rule
from checkrein.runtime.session.budget import Budget
from checkrein.runtime.turn.retry import RetryPolicy

Thinking = Literal["adaptive", "disabled"] | int | None


class Options(Struct, frozen=True, kw_only=True):
    """`allowed` and `disallowed` are permission rules, `tools` the built-in tools to offer (None: all).

    `mode` None takes the project's default. `trust` lifts the trust check for this session. `persist` keeps
    the session in the store. `resume` names a session, `continue_` takes the newest of this directory, `fork`
    writes what follows into a new session. `schema` is the JSON Schema that the final output must fit.
    `partial` asks for the events of a reply while it arrives. `hooks` False runs no hooks.
    `setup` runs the Setup hooks first. `sandbox` confines shell commands by the kernel, whatever the
    settings say. `sessions` is the root of the session store (None: the user's own).
    `worktree` is the worktree that the session works in; it is made before.
    `agent` is the agent that the conversation is; None takes the setting. `tool_entries` are the tools of an
    agent's definition, names and patterns, those of servers too (None: all); `rules` are its rules, and
    `system_origin` says where `system_prompt` is.
    `thinking_display` says whether the model's thoughts come back as a summary or not at all; `betas` name
    features of the service. `task_budget` is a number of tokens that the model paces itself by.
    `commands` False takes a prompt that begins with a slash as text.
    `resume_at` is the last entry of a resumed session that counts, `drops_turn` the prompt whose turn alone
    may be lost by it. `mirror` gives everything that is written into the transcript to the program, too.
    `prompt_tool` is the MCP tool that answers for the user whether a call may run.
    `record` is a file that keeps the model's side as a cassette; `replay:FILE` plays it again.
    """

    mode: str | None = None
    allowed: tuple[str, ...] = ()
    disallowed: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    tool_entries: tuple[str, ...] | None = None
    rules: tuple[Rule, ...] = ()
    agent: str | None = None
    system_prompt: str | None = None
    system_origin: Origin | None = None
    append_system_prompt: str | None = None
    fallback_models: tuple[str, ...] = ()
    max_tokens: int | None = None
    thinking: Thinking = None
    thinking_display: Literal["summarized", "omitted"] | None = None
    betas: tuple[str, ...] = ()
    task_budget: int | None = None
    effort: str | None = None
    budget: Budget = Budget()
    schema: dict[str, Any] | None = None
    partial: bool = False
    persist: bool = True
    session_id: str | None = None
    resume: str | None = None
    continue_: bool = False
    fork: bool = False
    resume_at: str | None = None
    drops_turn: str | None = None
    mirror: bool = False
    prompt_tool: str | None = None
    title: str | None = None
    kind: Literal["interactive", "print", "sdk", "background", "recipe"] = "print"
    trust: bool = False
    allow_bypass: bool = False
    retry: RetryPolicy = RetryPolicy()
    idle_timeout: float | None = None
    bare: bool = False
    commands: bool = True
    hooks: bool = True
    setup: Literal["init", "maintenance"] | None = None
    sandbox: bool = False
    record: str | None = None
    sessions: str | None = None
    worktree: str | None = None
