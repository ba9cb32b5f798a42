"""Which hooks a call concerns. No hook runs to find out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin
from checkrein.facts.claude_hooks import HOOK_EVENTS, REQUIRED_KEYS
from checkrein.facts.tools import SHELL_TOOLS
from checkrein.model.items import Hook
from checkrein.model.rule import parse_rule, split_rule
from checkrein.policy import matchers
from checkrein.policy.decide import decide
from checkrein.policy.policy import compile_policy
from checkrein.policy.values import Call, Context, HookVerdict

_JUDGE = "PreToolUse"
"""The event whose hooks judge a call before it runs."""

_ORIGIN = Origin("<hook condition>", "cli")
_HOLES = ("$(", "`", "<(", ">(")


def judges(hooks: Sequence[Hook], call: Call, context: Context) -> Iterator[Hook]:
    """The hooks that judge a call: their event, their matcher and their `if` select it."""
    for hook in hooks:
        if (
            hook.name == _JUDGE
            and matchers.matches(hook.matcher, _JUDGE, call.tool)
            and problem(hook) is None
            and (not hook.condition or concerns(hook.condition, call, context))
        ):
            yield hook


def unheard(hooks: Sequence[Hook], call: Call, context: Context) -> tuple[HookVerdict, ...]:
    """An `ask` for each hook that would judge the call, but is skipped because the project is not trusted."""
    return tuple(
        HookVerdict(
            "ask",
            f"The hook at {hook.origin} did not judge this call: "
            "the project is not trusted (`checkrein trust`).",
            hook.origin,
        )
        for hook in judges(hooks, call, context)
    )


def concerns(text: str, call: Call, context: Context) -> bool:
    """Whether a permission rule concerns a call: the `if` of a hook.

    It is false only when the rule certainly does not concern the call. Text that can't be read, and a command
    in a substitution that a longer pattern might match, count as true.
    """
    rule = parse_rule(text, "deny", _ORIGIN, anchor=context.start)
    if rule.problem is not None:
        return True
    decision = decide(compile_policy([rule]), call, context)
    if decision.verdict == "deny":
        return True
    command = call.input.get("command")
    if call.tool not in SHELL_TOOLS or not isinstance(command, str) or split_rule(text)[0] != "Bash":
        return False
    names_more = " " in (rule.specifier or "").removesuffix("*").strip()
    unread = any(piece.unread for piece in decision.trace)
    return unread or (names_more and any(hole in command for hole in _HOLES))


def problem(hook: Hook) -> Diagnostic | None:
    """Why a hook can never run."""

    def found(code: str, message: str, hint: str, field: str = "type") -> Diagnostic:
        return Diagnostic(code, "error", message, hook.where(field), hint=hint)

    event = HOOK_EVENTS.get(hook.name)
    if event is None:
        return found(
            "RUNHOOK001",
            f"The event `{hook.name}` does not exist; this hook never runs.",
            "Use a documented event.",
        )
    if hook.type not in event.handlers:
        allowed = ", ".join(event.handlers)
        message = f"`{hook.type}` hooks don't run on {hook.name}."
        return found("RUNHOOK002", message, f"Use one of: {allowed}.")
    missing = [key for key in REQUIRED_KEYS[hook.type] if not getattr(hook, key)]
    if missing:
        return found("RUNHOOK003", f"This {hook.type} hook has no `{missing[0]}`.", f"Add `{missing[0]}`.")
    broken = matchers.problem(hook.matcher, hook.name)
    if broken is not None:
        message = f"The matcher `{hook.matcher}` is not a regular expression: {broken}. It matches nothing."
        return found("RUNHOOK004", message, "Correct the pattern.", "matcher")
    if hook.condition and not event.tool_event:
        message = f"`if` works on tool events only; on {hook.name} this hook never runs."
        return found("RUNHOOK005", message, "Remove `if`.", "if")
    return None
