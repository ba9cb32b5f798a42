"""What is wrong with an item's `behavior:` and `agents:`. Deploy and the checks report the same findings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from checkrein.base.diagnostic import Diagnostic, Severity
from checkrein.base.nearest import did_you_mean
from checkrein.base.origin import Origin
from checkrein.dialects.generic.behavior import hatch_of, is_valid
from checkrein.facts.agents import find_target, target_names, targets
from checkrein.facts.behavior import VOCABULARY, profile
from checkrein.facts.tools import TOOLS
from checkrein.model.items import Agent, Invocable
from checkrein.model.rule import split_rule, split_rule_list

_ARGUMENTS = re.compile(r"(?<!\\)\$ARGUMENTS")
_PRESETS_THAT_LIMIT = ("none", "read-only", "write")


def findings(item: Invocable | Agent) -> Iterator[Diagnostic]:
    """Every BEH finding about one item that does not depend on where it is deployed."""
    if not (item.behavior or item.agents or "behavior" in item.unknown or "agents" in item.unknown):
        return
    for field in ("behavior", "agents"):
        if field in item.unknown:
            code = "BEH011" if field == "behavior" else "BEH012"
            yield _found(code, "error", f"`{field}` must be a list of `field: value`", item.where(field))
    is_agent = isinstance(item, Agent) or item.behavior.get("execution") == "agent"
    if item.behavior:
        yield from _values(item)
        yield from _combinations(item, is_agent)
    yield from _sections(item)
    if is_agent and (item.behavior or item.agents) and (found := _ARGUMENTS.search(item.body)):
        line = item.body_line + item.body[: found.start()].count("\n")
        message = "`$ARGUMENTS` in the text of an agent definition is never replaced"
        yield _found("BEH016", "warning", message, _line(item.origin, line), "describe the input in words")


def _values(item: Invocable | Agent) -> Iterator[Diagnostic]:
    for field, value in item.behavior.items():
        place = _place(item, "behavior", field)
        known = VOCABULARY.get(field)
        if known is None:
            yield _found(
                "BEH010",
                "warning",
                _suggest(f"`behavior.{field}` does not exist", str(field), VOCABULARY),
                place,
                "the fields are " + ", ".join(VOCABULARY),
            )
        elif not is_valid(field, value):
            accepted = ", ".join(known.values)
            yield _found(
                known.code,
                "error",
                _suggest(f"`behavior.{field}` can't be `{_shown(value)}`", str(value), known.values),
                place,
                f"use one of {accepted}" + (" or a list of tool names" if known.open else ""),
            )
        elif field == "tools":
            yield from _tools(value, place)


def _tools(value: Any, place: Origin) -> Iterator[Diagnostic]:
    if value == []:
        yield _found("BEH008", "info", "an empty list of tools means `none`", place, "write `tools: none`")
        return
    if isinstance(value, str) and value in VOCABULARY["tools"].values:
        return
    names = value if isinstance(value, list) else split_rule_list(value)
    known = {name for tool in TOOLS for name in (tool.name, *tool.aliases)}
    for text in names:
        tool = split_rule(text)[0]
        if tool not in known and not tool.startswith("mcp__"):
            message = _suggest(f"`{tool}` is not a tool of Claude Code", tool, known)
            yield _found("BEH009", "warning", message, place, "deploy writes tool names unchanged")


def _combinations(item: Invocable | Agent, is_agent: bool) -> Iterator[Diagnostic]:
    behavior = item.behavior
    for field in ("invocation", "visibility"):
        if is_agent and is_valid(field, behavior.get(field)):
            message = f"`behavior.{field}` has no effect on an agent definition"
            yield _found("BEH017", "warning", message, _place(item, "behavior", field), "remove it")
    tools = behavior.get("tools")
    if not is_agent and isinstance(tools, str) and tools in _PRESETS_THAT_LIMIT:
        yield _found(
            "BEH018",
            "warning",
            f"`behavior.tools: {tools}` on a skill or command approves tools; it removes none",
            _place(item, "behavior", "tools"),
            "use `execution: agent`, or a permission rule that denies the other tools",
        )
    if not is_agent and behavior.get("invocation") == "explicit" and behavior.get("visibility") == "model":
        message = "nobody can start this: the model may not, and the user does not see it"
        yield _found(
            "BEH019", "error", message, _place(item, "behavior", "visibility"), "change one of the two"
        )


def _sections(item: Invocable | Agent) -> Iterator[Diagnostic]:
    for name, section in item.agents.items():
        place = _place(item, "agents", name)
        target = find_target(str(name))
        if target is None:
            message = _suggest(f"`agents.{name}` does not name an agent", str(name), target_names())
            yield _found("BEH013", "warning", message, place, "`checkrein deploy --list` prints the agents")
        if not isinstance(section, dict):
            yield _found("BEH012", "error", f"`agents.{name}` must be a list of `field: value`", place)
    table = profile()
    for key, target in targets().items():
        hatch = hatch_of(item, target)
        for field, value in item.behavior.items() if hatch else ():
            emitted = table.emitted(key, field, value) if is_valid(field, value) else None
            for name in emitted or ():
                if name in hatch:
                    yield Diagnostic(
                        "BEH014",
                        "info",
                        f"`agents.{key}.{name}` overrides `behavior.{field}`",
                        _place(item, "agents", key),
                        related=(_place(item, "behavior", field),),
                    )


def _suggest(message: str, name: str, known: Iterable[str]) -> str:
    suggestion = did_you_mean(name, known)
    return f"{message}.{suggestion}" if suggestion else message


def _place(item: Invocable | Agent, section: str, field: str) -> Origin:
    span = item.spans.get(f"{section}.{field}") or item.spans.get(section)
    return item.origin.at(span, f"frontmatter.{section}.{field}")


def _line(origin: Origin, line: int) -> Origin:
    from checkrein.base.origin import Span

    return origin.at(Span(line))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _found(
    code: str, severity: Severity, message: str, origin: Origin, hint: str | None = None
) -> Diagnostic:
    return Diagnostic(code, severity, message, origin, hint=hint)
