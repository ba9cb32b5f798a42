"""A call of the past, and what became of it; calls as reports show them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.harmless import one_line
from checkrein.base.secrets import redact, redact_command
from checkrein.facts.tools import VALUE_FIELDS
from checkrein.policy.tools import Tools
from checkrein.policy.values import Call, Decision

Fate = Literal["ran", "refused", "denied", "open"]
"""`ran`, also with an error; `refused` by a person; `denied` by a rule, a mode or a hook; `open`: the
transcript does not say."""

_LONGEST = 200


class PastCall(Struct, frozen=True, kw_only=True):
    """`times` counts the same call with the same fate; `file` and `line` are the place of the first."""

    call: Call
    cwd: str = ""
    fate: Fate = "ran"
    times: int = 1
    file: str = ""
    line: int = 0


Judge = Callable[[PastCall], Decision]


def shown(call: Call, tools: Tools) -> str:
    """A call in one line, `Bash(git push)`, without its secrets."""
    known = tools.get(call.tool)
    fields = VALUE_FIELDS.get(known.name) or ((known.primary,) if known.primary else tuple(call.input))
    values = {str(name): call.input[name] for name in fields if name in call.input}
    clean = redact(values)
    texts = [value if isinstance(value, str) else repr(value) for value in clean.values()]
    said = " ".join(texts)
    name = one_line(call.tool)[:_LONGEST]
    if not texts:
        return name
    line = one_line(redact_command(said))
    return f"{name}({line if len(line) <= _LONGEST else f'{line[:_LONGEST]}…'})"


def shown_reason(reason: str) -> str:
    """The reason of a verdict; it may quote the call."""
    return one_line(redact_command(reason))


def moved(past: PastCall, old: str, new: str) -> PastCall:
    """The call as if the directory `old` were `new`: a checkout of somebody else, another revision."""
    if old == new or not old or old == "/":
        return past
    here = re.compile(rf"(?<![\w./-]){re.escape(old)}(?![\w.-])")

    def value(given: Any) -> Any:
        if isinstance(given, str):
            return here.sub(lambda _: new, given)
        if isinstance(given, dict):
            return {key: value(one) for key, one in given.items()}
        return [value(one) for one in given] if isinstance(given, list) else given

    below = os.path.relpath(past.cwd, old) if past.cwd else "."
    cwd = new if below == "." or below.startswith("..") else os.path.join(new, below)
    return replace(past, call=Call(past.call.tool, value(dict(past.call.input))), cwd=cwd)
