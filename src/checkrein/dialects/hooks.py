"""Hooks objects from any place: settings, a plugin's hooks.json, frontmatter."""

from __future__ import annotations

from typing import Any, NamedTuple

from checkrein.base.frontmatter import Frontmatter
from checkrein.base.jsonpos import join
from checkrein.base.origin import Origin, Span
from checkrein.dialects.codes import Log, diagnose
from checkrein.dialects.coerce import (
    WRONG,
    Coercion,
    as_flag,
    as_map,
    as_number,
    as_scalar,
    as_text_map,
    as_texts,
)
from checkrein.facts.claude_hooks import HANDLER_KEYS
from checkrein.model.items import Hook

_COERCIONS: dict[str, Coercion] = {
    "args": as_texts,
    "headers": as_text_map,
    "allowed_env": as_texts,
    "input": as_map,
    "timeout": as_number,
    "once": as_flag,
    "run_async": as_flag,
    "async_rewake": as_flag,
    "continue_on_block": as_flag,
    "fail_closed": as_flag,
}


def read(
    value: Any,
    origin: Origin,
    log: Log,
    *,
    path: str = "$.hooks",
    spans: dict[str, Span] | None = None,
    plugin: str | None = None,
) -> tuple[Hook, ...]:
    """The handlers of a map of events. `spans` gives places by path; the default is `origin`."""
    places = spans or {}

    def place(at: str) -> Origin:
        return origin.at(places.get(at, origin.span), at)

    def malformed(at: str, what: str) -> None:
        log.append(diagnose("HANDLER001", f"{what}; it never runs", place(at)))

    if not isinstance(value, dict):
        malformed(path, "`hooks` must be a map of events")
        return ()
    found: list[Hook] = []
    for event, groups in value.items():
        event_path = join(path, str(event))
        if not isinstance(groups, list):
            malformed(event_path, f"`{event}` must be a list of matcher groups")
            continue
        for index, group in enumerate(groups):
            group_path = join(event_path, index)
            if not isinstance(group, dict):
                malformed(group_path, f"An entry of `{event}` must be an object")
                continue
            handlers = group.get("hooks")
            # A handler without its group: some files leave the outer level out.
            bare = handlers is None and "type" in group
            if bare:
                handlers = [group]
            if not isinstance(handlers, list):
                malformed(group_path, f"A group of `{event}` needs a list `hooks`")
                continue
            matcher = group.get("matcher")
            if matcher is not None and not isinstance(matcher, str):
                malformed(group_path + ".matcher", f"The matcher of `{event}` must be text")
                continue
            for number, handler in enumerate(handlers):
                at = group_path if bare else join(group_path + ".hooks", number)
                if not isinstance(handler, dict):
                    malformed(at, f"A handler of `{event}` must be an object")
                    continue
                held = _Handler(str(event), matcher, handler, at, group_path)
                found.append(_hook(held, place(at), places, plugin, log))
    return tuple(found)


def in_frontmatter(
    value: Any, front: Frontmatter, origin: Origin, log: Log, *, plugin: str | None = None
) -> tuple[Hook, ...]:
    """The hooks of a skill or an agent, each with its place."""
    spans = {f"frontmatter.{name}": span for name, span in front.spans.items() if name.startswith("hooks")}
    place = origin.at(front.spans.get("hooks"), "frontmatter.hooks")
    return read(value, place, log, path="frontmatter.hooks", spans=spans, plugin=plugin)


class _Handler(NamedTuple):
    """A handler as written, with the path to it and to its group."""

    event: str
    matcher: str | None
    keys: dict[Any, Any]
    path: str
    group_path: str


def _hook(handler: _Handler, origin: Origin, places: dict[str, Span], plugin: str | None, log: Log) -> Hook:
    event, matcher, keys, path, group_path = handler
    taken: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    spans: dict[str, Span] = {}
    for key, value in keys.items():
        attribute = HANDLER_KEYS.get(key)
        span = places.get(join(path, str(key)))
        if span is not None:
            spans[str(key)] = span
        if attribute is None:
            if not (key == "matcher" and path == group_path):
                unknown[str(key)] = value
            continue
        if value is None:
            continue
        coercion: Coercion = _COERCIONS.get(attribute, as_scalar)
        read_value = coercion(value)
        if read_value is WRONG:
            unknown[str(key)] = value
            message = f"`{key}` of a `{event}` hook has the wrong kind of value; it is ignored"
            log.append(diagnose("HANDLER001", message, origin.at(span, join(path, str(key)))))
        else:
            taken[attribute] = read_value
    matcher_span = places.get(group_path + ".matcher")
    if matcher_span is not None:
        spans["matcher"] = matcher_span
    taken.setdefault("type", "command" if "command" in taken else "")
    return Hook(
        name=event, origin=origin, spans=spans, unknown=unknown, matcher=matcher, plugin=plugin, **taken
    )
