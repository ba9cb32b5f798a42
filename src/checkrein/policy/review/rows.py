"""Tests of a team's rules: one JSON object per line of a `*.policy.jsonl` file.

    {"call": "Bash(git push --force)", "want": "deny", "rule": "Bash(git push --force*)"}
    {"tool": "Read", "input": {"file_path": ".env"}, "want": ["ask", "deny"], "note": "no secrets"}

A row names a call, as text or with `tool` and `input`, and the verdict or verdicts that it must get. `rule`
is the rule that must decide. The other fields are those of `checkrein decide`, apart from `permissions`: the
rules are the project's. A line that begins with `//` or `#` is a comment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from checkrein.base.errors import CheckreinError
from checkrein.policy.lines import InProject, RecordError, answer
from checkrein.policy.review.past import shown, shown_reason
from checkrein.policy.tools import Tools
from checkrein.policy.values import Call

PATTERN = "*.policy.jsonl"
_OWN = ("call", "rule", "note")


class Checked(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row and what it got. `problem` is set when the row itself is broken."""

    file: str
    line: int
    passed: bool
    call: str = ""
    want: tuple[str, ...] = ()
    verdict: str = ""
    rule: str | None = None
    origin: str | None = None
    reason: str = ""
    wanted_rule: str | None = None
    note: str = ""
    problem: str = ""


class Terms(Struct, frozen=True, kw_only=True):
    """`parse` reads a call as people write it; `project` gives the situation that rows are judged in."""

    project: InProject
    parse: Callable[[str], Call]
    tools: Tools


def is_row(line: bytes) -> bool:
    text = line.strip()
    return bool(text) and not text.startswith((b"//", b"#"))


def checked(data: bytes, file: str, line: int, terms: Terms) -> Checked:
    """Judge one row."""
    try:
        record = msgspec.json.decode(data)
        return _checked(record, file, line, terms)
    except RecursionError:
        return Checked(file=file, line=line, passed=False, problem="JSON is malformed: it is too deep")
    except (msgspec.DecodeError, UnicodeDecodeError, RecordError) as error:
        return Checked(file=file, line=line, passed=False, problem=str(error))
    except CheckreinError as error:
        return Checked(file=file, line=line, passed=False, problem=error.message)


def _checked(record: Any, file: str, line: int, terms: Terms) -> Checked:
    if not isinstance(record, dict):
        raise RecordError("a row is a JSON object")
    if "permissions" in record:
        raise RecordError("a row is judged by the project's rules; it can't bring `permissions`")
    if record.get("want") is None:
        raise RecordError("a row needs `want`: allow, ask, deny, or a list of them")
    own = {name: _text(record, name) for name in _OWN}
    plain = {name: value for name, value in record.items() if name not in _OWN}
    if own["call"]:
        if "tool" in plain or "input" in plain:
            raise RecordError("a row has `call`, or `tool` and `input`, not both")
        call = terms.parse(own["call"])
        plain |= {"tool": call.tool, "input": dict(call.input)}
    found = answer(plain, project=terms.project, tools=terms.tools)
    said, wanted_rule = found.line, own["rule"] or None
    want = record["want"]
    return Checked(
        file=file,
        line=line,
        passed=found.matched is True and wanted_rule in (None, said.rule),
        call=shown(Call(plain["tool"], plain.get("input") or {}), terms.tools),
        want=tuple(want) if isinstance(want, list) else (str(want),),
        verdict=said.verdict,
        rule=said.rule,
        origin=said.origin,
        reason=shown_reason(said.reason),
        wanted_rule=wanted_rule,
        note=own["note"],
    )


def _text(record: dict[str, Any], name: str) -> str:
    value = record.get(name, "")
    if not isinstance(value, str):
        raise RecordError(f"`{name}` must be text")
    return value
