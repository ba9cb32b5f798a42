"""Matchers that no call can match."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.base.origin import Origin
from checkrein.facts import claude_hooks
from checkrein.passes.checks import edits, toolnames
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks
from checkrein.policy import matchers


def run(subject: Subject) -> Iterator[Finding]:
    seen: set[object] = set()
    for hooked in hooks(subject.project):
        hook = hooked.hook
        event = claude_hooks.HOOK_EVENTS.get(hook.name)
        matcher = hook.matcher
        origin = field(hook, "matcher")
        if event is None or not matcher or matcher == "*" or origin in seen:
            continue
        seen.add(origin)
        listed = matchers.names(matcher, hook.name)
        if listed is not None:
            for part in listed:
                yield from _exact(subject, origin, event, part, single=part == matcher)
            continue
        expression = matchers.expression(matcher)
        names = event.values or (toolnames.known_tools(subject) if event.tool_event else ())
        matches_servers = event.tool_event and "mcp" in matcher.lower()
        if not names or isinstance(expression, str) or matches_servers:
            continue
        if not any(expression.search(name) for name in names):
            message = f"The matcher `{matcher}` matches no {_what(event)}"
            yield Finding(origin=subject.find(origin, matcher), message=message)


def _exact(
    subject: Subject, origin: Origin, event: claude_hooks.HookEvent, part: str, *, single: bool
) -> Iterator[Finding]:
    if event.tool_event:
        server = part.startswith(toolnames.MCP_PREFIX) and "__" not in part.removeprefix(toolnames.MCP_PREFIX)
        if server:
            message = f"`{part}` must equal a whole name and matches no tool of the server"
            fix = edits.swap(subject, origin, part, f"{part}__.*", f"Write `{part}__.*`") if single else None
            hint = f"Write `{part}__.*`."
            yield Finding(origin=subject.find(origin, part), message=message, hint=hint, fix=fix)
            return
        if toolnames.is_known(part, subject):
            return
        names = toolnames.known_tools(subject)
    elif event.values and part not in event.values:
        names = frozenset(event.values)
    else:
        return
    meant = nearest(part, names, 0.75)
    fix = edits.respell(subject, origin, part, meant) if meant else None
    message = f"`{part}` is not a {_what(event)}, so it never matches" + (
        f"; did you mean `{meant}`" if meant else ""
    )
    yield Finding(origin=subject.find(origin, part), message=message, fix=fix)


def _what(event: claude_hooks.HookEvent) -> str:
    return "tool" if event.tool_event else f"`{event.matcher}` of {event.name}"


CHECK = Check(
    code="HOOK006",
    name="matcher-never-matches",
    severity="error",
    summary="A hook's matcher can match nothing.",
    why="A name must match as a whole, with case: `bash` is not `Bash`, and `mcp__tracker` is not a tool of "
    "the server `tracker`. The hook never runs, so it guards nothing.",
    hint="Correct the name. For all tools of a server write `mcp__server__.*`.",
    bad={SETTINGS: hook_file("PreToolUse", {"type": "command", "command": "date"}, "bash")},
    good={SETTINGS: hook_file("PreToolUse", {"type": "command", "command": "date"}, "mcp__tracker__.*|Bash")},
    run=run,
    fixable=True,
)
