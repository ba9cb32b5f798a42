"""Invoking a skill or a command: its text for the model, and what it changes for the turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from bridle.base.errors import PolicyError
from bridle.model.items import Command, Hook, Invocable, Skill
from bridle.model.rule import Rule, parse_rule
from bridle.runtime.skills.template import Piece, arguments, fill, render

DISABLED_SHELL = "[shell command execution disabled by policy]"


class Invocation(Struct, frozen=True, kw_only=True):
    """`text` is what the model gets. `allow` holds until the turn ends, `hooks` for the session."""

    name: str
    text: str
    args: str
    item: Invocable
    allow: tuple[Rule, ...] = ()
    disallow: tuple[str, ...] = ()
    hooks: tuple[Hook, ...] = ()
    model: str | None = None
    effort: str | None = None


class InvocationRefusedError(PolicyError):
    default_kind = "skill_refused"


RunShell = Callable[[str, Invocable], str]
"""Runs a `!` command through the gate and gives its output; raises InvocationRefusedError when it may not run
or fails."""


def invoke(
    item: Invocable,
    raw: str,
    variables: Mapping[str, str],
    run_shell: RunShell,
    *,
    shell_enabled: bool = True,
) -> Invocation:
    """Raises InvocationRefusedError when a command of the body may not run or fails."""
    if item.context == "fork":
        raise InvocationRefusedError(
            f"`{item.name}` runs in a subagent (context: fork), and this session has none.",
            kind="needs_subagents",
            hint="Remove `context: fork`, or run it where subagents are available.",
            origin=item.where("context"),
        )
    known = {**variables, **_own_variables(item)}

    def run(piece: Piece, command: str) -> str:
        return run_shell(command, item) if shell_enabled else DISABLED_SHELL

    given = arguments(raw, item.arguments)
    text = render(item.body, given, known, run)
    return Invocation(
        name=item.name,
        text=text.strip("\n"),
        args=raw,
        item=item,
        allow=pre_approvals(item, known),
        disallow=item.disallowed_tools,
        hooks=item.hooks,
        model=None if item.model in (None, "inherit") else item.model,
        effort=item.effort,
    )


def _own_variables(item: Invocable) -> dict[str, str]:
    if isinstance(item, Skill):
        return {"CLAUDE_SKILL_DIR": item.directory}
    import os

    return {"CLAUDE_SKILL_DIR": os.path.dirname(item.origin.file)} if isinstance(item, Command) else {}


def pre_approvals(item: Invocable, variables: Mapping[str, str]) -> tuple[Rule, ...]:
    """The allow rules of `allowed-tools`; variables stand for their values in Bash rules."""
    origin = item.where("allowed-tools")
    known = {**variables, **_own_variables(item)}
    filled = (
        fill(text, arguments(""), known) if text.startswith("Bash(") else text for text in item.allowed_tools
    )
    return tuple(parse_rule(text, "allow", origin) for text in filled)


def command_blocks(invocation: Invocation) -> tuple[str, str]:
    """The two texts that stand for a typed `/name args`: the header, and the body."""
    header = (
        f"<command-message>{invocation.name}</command-message>\n"
        f"<command-name>/{invocation.name}</command-name>\n"
        f"<command-args>{invocation.args}</command-args>"
    )
    return header, invocation.text
