"""The allow rule that comes closest to a call without covering it, and why it does not.

Somebody who wrote `Bash(npm test *)` wonders why `npm run test` needs approval.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.model.rule import Rule
from checkrein.policy.patterns import compile_command
from checkrein.policy.policy import NEEDS_TRUST, Policy
from checkrein.policy.remote import PREFIX
from checkrein.policy.values import Call, Context, Decision

_FILES = ("Read", "Edit", "Write")
_UNTRUSTED = "the project is not trusted, so its allow rules do not count"


class NearMiss(Struct, frozen=True):
    rule: str
    origin: Origin
    because: str


def near_miss(policy: Policy, call: Call, context: Context, decision: Decision) -> NearMiss | None:
    """For a call that needs approval."""
    rules = [rule for layer in policy.layers for rule in layer.rules if rule.verdict == "allow"]
    found = sorted(_candidates(rules, call, context, decision), key=lambda one: one[0], reverse=True)
    return found[0][1] if found else None


def _candidates(
    rules: Sequence[Rule], call: Call, context: Context, decision: Decision
) -> Iterator[tuple[float, NearMiss]]:
    asked = [piece.text for piece in decision.trace if piece.verdict == "ask" and piece.text]
    for rule in rules:
        if rule.problem is not None or rule.origin.scope == "bundled":
            continue
        dropped = not context.trusted and rule.origin.scope in NEEDS_TRUST
        for closeness, because in _compared(rule, call, asked, dropped):
            yield closeness, NearMiss(rule.text, rule.origin, because)


def _compared(rule: Rule, call: Call, asked: Iterable[str], dropped: bool) -> Iterator[tuple[float, str]]:
    """How close a rule is to a part of the call, and why it does not cover it."""
    if rule.tool == call.tool == "Bash" and rule.specifier is not None:
        for text in asked:
            yield from _command(rule.specifier, text, dropped)
    elif rule.tool == call.tool == "WebFetch" and rule.specifier is not None:
        yield from _host(rule.specifier, str(call.input.get("url", "")))
    elif rule.tool in _FILES and rule.specifier is not None:
        path = call.input.get("file_path") or call.input.get("path")
        if isinstance(path, str) and (call.tool in _FILES or rule.tool == call.tool):
            yield from _path(rule, call.tool, path, dropped)
    elif call.tool.startswith(PREFIX) and rule.tool.startswith(PREFIX):
        server = call.tool.split("__")[1]
        if rule.tool.split("__")[1] == server and rule.tool != call.tool:
            yield 1.0, f"it names another tool of the server {server}"
    if dropped and rule.tool == call.tool and rule.specifier is None:
        yield 9.0, _UNTRUSTED


def _command(specifier: str, text: str, dropped: bool) -> Iterator[tuple[float, str]]:
    pattern = compile_command(specifier)
    if pattern.matches(text):
        if dropped:
            yield 100.0, _UNTRUSTED
        return
    wanted, words = specifier.replace(":*", " *").split(), text.split()
    same = 0
    while same < min(len(wanted), len(words)) and wanted[same] == words[same]:
        same += 1
    if not same or not words:
        return
    if same == len(wanted):
        because = f"it has no `*` at its end, and the command goes on with `{words[same]}`"
    elif same == len(words):
        because = f"it wants `{wanted[same]}` after `{' '.join(words)}`"
    else:
        because = f"`{words[same]}` stands where it has `{wanted[same]}`"
    yield same + same / len(wanted), because


def _host(specifier: str, url: str) -> Iterator[tuple[float, str]]:
    from checkrein.policy.hosts import host_of

    wanted, host = specifier.removeprefix("domain:"), host_of(url)
    shared = 0
    for one, other in zip(reversed(wanted.split(".")), reversed(host.split(".")), strict=False):
        if one != other:
            break
        shared += 1
    if shared >= 2:
        yield float(shared), f"the host is {host}"


def _path(rule: Rule, tool: str, path: str, dropped: bool) -> Iterator[tuple[float, str]]:
    assert rule.specifier is not None
    base = rule.anchor or "/"
    wanted = os.path.normpath(os.path.join(base, rule.specifier.lstrip("/"))).split("/")
    parts = os.path.normpath(path).split("/")
    shared = 0
    while shared < min(len(wanted), len(parts)) and wanted[shared] == parts[shared]:
        shared += 1
    below = len(os.path.normpath(base).split("/"))
    if shared <= below and rule.tool != tool:
        return
    if rule.tool == "Read" and tool != "Read":
        yield shared / 2, "it is about reading, and the call writes"
    elif shared >= below:
        where = "/".join(parts[shared:]) or path
        yield shared / 2, f"`{where}` does not fit `{rule.specifier}`"
    if dropped:
        yield 0.5, _UNTRUSTED
