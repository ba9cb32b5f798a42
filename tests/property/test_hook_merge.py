"""Hook answers: a refusal always wins, and the order of the hooks changes nothing that decides."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.base.origin import Origin
from checkrein.facts.claude_hooks import HOOK_EVENTS
from checkrein.runtime.hooks.outcome import HookRecord, merge
from checkrein.runtime.hooks.output import Answer, Raw, answer

RANK = {None: 0, "allow": 1, "ask": 2, "defer": 3, "deny": 4}
verdicts = st.lists(st.sampled_from([None, "allow", "ask", "defer", "deny"]), max_size=6)


def records(found: list[str | None]) -> list[HookRecord]:
    return [
        HookRecord(
            hook_id=str(index),
            name="PreToolUse:Bash",
            type="command",
            origin=Origin("/s", "user"),
            answer=Answer(verdict=verdict),  # type: ignore[arg-type]  # drawn from the literal's values
            order=index,
        )
        for index, verdict in enumerate(found)
    ]


@settings(derandomize=True, max_examples=150)
@given(verdicts, st.randoms(use_true_random=False))
def test_the_strictest_verdict_wins_in_any_order(found: list[str | None], shuffle: random.Random) -> None:
    made = records(found)
    expected = max(found, key=RANK.__getitem__, default=None)
    assert merge("PreToolUse", {}, made).verdict == expected
    shuffle.shuffle(made)
    assert merge("PreToolUse", {}, made).verdict == expected


@settings(derandomize=True, max_examples=200)
@given(
    st.sampled_from(sorted(HOOK_EVENTS)),
    st.text(max_size=80),
    st.one_of(st.none(), st.integers(-200, 255)),
    st.text(max_size=20),
    st.booleans(),
)
def test_no_output_breaks_the_protocol(
    event: str, stdout: str, code: int | None, stderr: str, closed: bool
) -> None:
    found = answer(event, Raw(stdout=stdout, stderr=stderr, exit_code=code), "x", fail_closed=closed)
    assert not (found.blocked and event in ("PreToolUse", "SessionStart", "SessionEnd", "Notification"))
    if code == 2 and event == "PreToolUse":
        assert found.verdict == "deny"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = ["continue", "decision", "reason", "hookSpecificOutput", "systemMessage", "stopReason", "async"]


@settings(derandomize=True, max_examples=200)
@given(st.sampled_from(sorted(HOOK_EVENTS)), st.dictionaries(st.sampled_from(KEYS), json_values, max_size=5))
def test_no_json_breaks_the_protocol(event: str, document: dict[str, object]) -> None:
    import json

    raw = Raw(stdout=json.dumps(document))
    found = answer(event, raw, "x")
    assert found.outcome in ("success", "error")
    if found.outcome == "error":
        assert (found.verdict, found.blocked, found.ends_turn) == (None, False, False)
        assert answer("PreToolUse", raw, "x", fail_closed=True).reason or event != "PreToolUse"
