"""Calls that a rule is about, made from its text: a change of the rule changes the verdict on one of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.model.rule import Rule
from checkrein.policy.examples import example_call
from checkrein.policy.tools import Tools
from checkrein.policy.values import Call

_ANY = "some-name"
_STARS = re.compile(r"\*+")
_PATHS = ("Read", "Edit")


def witnesses(rule: Rule, root: str, home: str, tools: Tools) -> Iterator[Call]:
    """Some calls for each rule that has a meaning. Its own examples are among them."""
    if rule.problem is not None:
        return
    for text in (*rule.match, *rule.not_match):
        yield example_call(rule, text, tools)
    specifier = rule.specifier
    if rule.tool.startswith("mcp__"):
        name = _STARS.sub(_ANY, rule.tool)
        yield Call(name if name.count("__") > 1 else f"{name}__{_ANY}", {})
    elif specifier is None:
        yield from _bare(rule, root, tools)
    elif rule.tool in _PATHS:
        yield Call(rule.tool, {"file_path": _path(specifier, rule.anchor or root, root, home)})
    elif rule.tool == "WebFetch":
        host = _STARS.sub(_ANY, specifier.removeprefix("domain:"))
        yield Call("WebFetch", {"url": f"https://{host}/", "prompt": ""})
    else:
        yield from (example_call(rule, text, tools) for text in _texts(specifier))


def _bare(rule: Rule, root: str, tools: Tools) -> Iterator[Call]:
    fields = {
        "Bash": {"command": f"{_ANY} --flag"},
        "WebFetch": {"url": f"https://{_ANY}.example/", "prompt": ""},
    }
    meaning = tools.get(rule.tool)
    if meaning.family in _PATHS:
        yield Call(meaning.name, {meaning.primary or "file_path": os.path.join(root, _ANY)})
    else:
        yield Call(rule.tool, fields.get(rule.tool, {}))


def _texts(specifier: str) -> Iterator[str]:
    """`npm run:*` and `npm run *` as `npm run` and `npm run some-name`."""
    beginning = specifier.removesuffix(":*").removesuffix("*")
    if beginning == specifier or "*" in beginning:
        yield _STARS.sub(_ANY, specifier)
        return
    apart = beginning.endswith(" ") or specifier.endswith(":*")
    yield beginning.rstrip() or _ANY
    yield f"{beginning.rstrip()} {_ANY}" if apart else f"{beginning}x"


def _path(specifier: str, anchor: str, root: str, home: str) -> str:
    text = _STARS.sub(_ANY, specifier)
    if text.startswith("//"):
        return text[1:]
    if text.startswith("~/"):
        return home + text[1:]
    if text.startswith("/"):
        return anchor + text
    return os.path.normpath(os.path.join(root, text))
