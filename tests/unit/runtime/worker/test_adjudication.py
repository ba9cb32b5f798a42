"""The outcome of a session: every cell of the table, and what is around it."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest
from msgspec.structs import replace

from checkrein.model.skill_contract import NO_CONTRACT, Contract, Output
from checkrein.runtime.worker.adjudication import (
    ContentState,
    Outcome,
    RetryReason,
    adjudicated,
    content_state,
)
from checkrein.runtime.worker.session_report import Channel, Report, SessionSubtype, Termination, has_marker

MARKER = "%%DONE::0a1b2c3d%%"
CONTRACT = Contract(outputs=(Output(name="plan_path", type="file_path"),))
TEXT = "All is done."
GOOD = f"plan_path = plan.md\n{MARKER}"

SESSIONS: dict[str, tuple[Report, ContentState]] = {
    "text + marker + pattern": (Report(text=GOOD), "complete"),
    "text + marker, no pattern": (Report(text=f"{TEXT}\n{MARKER}"), "contract_violation"),
    "text, no marker": (Report(text=TEXT), "absent"),
    "empty success": (Report(), "absent"),
    "CLI error": (Report(subtype="error_during_execution", is_error=True, text="boom"), "session_error"),
    "max turns": (Report(subtype="error_max_turns", is_error=True), "session_error"),
    "context full": (Report(subtype="context_exhaustion", is_error=True), "session_error"),
    "unparseable": (Report(subtype="unparseable", is_error=True), "session_error"),
}
CHANNELS: tuple[Channel, ...] = ("channel_a", "channel_b", "unmonitored")
TERMINATIONS: tuple[Termination, ...] = ("natural_exit", "completed", "timed_out")
TABLE = {
    "text + marker + pattern": ("S S S", "S S S", "F S F"),
    "text + marker, no pattern": ("F F F", "F F F", "F F F"),
    "text, no marker": (
        "R:drain_race R:drain_race R:early_stop",
        "R:drain_race R:drain_race F",
        "R:drain_race R:drain_race F",
    ),
    "empty success": (
        "R:drain_race R:drain_race R:empty_output",
        "R:resume R:drain_race R:resume",
        "R:drain_race R:drain_race F",
    ),
    "CLI error": ("F F F", "F F F", "F F F"),
    "max turns": ("R:resume R:resume R:resume",) * 3,
    "context full": ("R:resume R:resume R:resume",) * 3,
    "unparseable": ("F F R:empty_output", "R:resume F R:resume", "F F F"),
}
"""Facts 5.5, as measured: natural exit, killed after completion, timed out; each by channel A, B, none."""
NAMES: dict[str, Outcome] = {"S": "succeeded", "F": "failed", "R": "retriable"}


def cells() -> list[tuple[str, Termination, Channel, str]]:
    return [
        (session, termination, channel, cell)
        for session, columns in TABLE.items()
        for termination, column in zip(TERMINATIONS, columns, strict=True)
        for channel, cell in zip(CHANNELS, column.split(), strict=True)
    ]


def test_the_table_is_whole() -> None:
    assert TABLE.keys() == SESSIONS.keys()
    assert len(cells()) == len(SESSIONS) * len(TERMINATIONS) * len(CHANNELS)


@pytest.mark.parametrize(("session", "termination", "channel", "cell"), cells())
def test_every_cell(session: str, termination: Termination, channel: Channel, cell: str) -> None:
    report, state = SESSIONS[session]
    found = adjudicated(replace(report, termination=termination, channel=channel), CONTRACT, MARKER)
    letter, _, reason = cell.partition(":")
    assert (found.outcome, found.reason, found.state) == (NAMES[letter], reason or "none", state)


@pytest.mark.parametrize("termination", TERMINATIONS)
def test_a_missing_log_counts_as_no_channel(termination: Termination) -> None:
    for report, _ in SESSIONS.values():
        none = adjudicated(replace(report, termination=termination, channel="unmonitored"), CONTRACT, MARKER)
        missing = adjudicated(
            replace(report, termination=termination, channel="dir_missing"), CONTRACT, MARKER
        )
        assert none == missing


@pytest.mark.parametrize("termination", ["natural_exit", "completed", "stale", "idle_stall"])
def test_a_typed_submission_is_channel_a(termination: Termination) -> None:
    report = Report(submission={"plan_path": "p"}, channel="channel_a", termination=termination, exit_code=7)
    assert adjudicated(report, CONTRACT, MARKER).outcome == "succeeded"
    late = replace(report, termination="timed_out")
    assert adjudicated(late, CONTRACT, MARKER).outcome == "failed"


@pytest.mark.parametrize("termination", ["stale", "idle_stall"])
@pytest.mark.parametrize("channel", CHANNELS)
def test_a_stalled_session(termination: Termination, channel: Channel) -> None:
    wanted: dict[str, tuple[Outcome, RetryReason]] = {
        "text + marker + pattern": ("succeeded", "none"),
        "text + marker, no pattern": ("failed", "none"),
        "max turns": ("retriable", "resume"),
        "context full": ("retriable", "resume"),
    }
    for name, (report, _) in SESSIONS.items():
        found = adjudicated(replace(report, termination=termination, channel=channel), CONTRACT, MARKER)
        assert (found.outcome, found.reason) == wanted.get(name, ("retriable", "stale")), name


def test_exit_codes() -> None:
    done = Report(text=GOOD, exit_code=1)
    assert adjudicated(done, CONTRACT, MARKER).outcome == "succeeded"
    assert adjudicated(replace(done, text="plan_path = x"), CONTRACT, "").outcome == "failed"
    killed = replace(done, termination="completed")
    assert adjudicated(killed, CONTRACT, MARKER).outcome == "succeeded"
    odd = replace(killed, subtype="unknown")
    assert adjudicated(odd, CONTRACT, MARKER).outcome == "failed"
    assert adjudicated(Report(exit_code=1), CONTRACT, MARKER).outcome == "failed"


def test_cs_1_a_contract_violation_is_never_retriable() -> None:
    """CS-1, in every way that a session can end."""
    kinds: tuple[SessionSubtype, ...] = ("success", "unknown")
    for termination, channel, subtype, code in product(
        get_args(Termination), get_args(Channel), kinds, (0, 1)
    ):
        report = Report(
            text=f"{TEXT}\n{MARKER}",
            subtype=subtype,
            termination=termination,
            channel=channel,
            exit_code=code,
        )
        found = adjudicated(report, CONTRACT, MARKER)
        assert (found.state, found.outcome, found.reason) == ("contract_violation", "failed", "none")


def test_an_outcome_is_one_thing() -> None:
    """Nothing is both: a reason exists exactly where an outcome is retriable."""
    for report, _ in SESSIONS.values():
        for termination, channel, code in product(get_args(Termination), get_args(Channel), (0, 1, 137)):
            made = replace(report, termination=termination, channel=channel, exit_code=code)
            for contract in (CONTRACT, NO_CONTRACT):
                found = adjudicated(made, contract, MARKER)
                assert (found.reason != "none") == (found.outcome == "retriable")


@pytest.mark.parametrize(
    ("text", "there"),
    [
        (MARKER, True),
        (f"x\n  {MARKER}  \ny", True),
        (f"end with {MARKER}", False),
        (f"`{MARKER}`", False),
        (f"{MARKER}x", False),
        ("", False),
    ],
)
def test_a_marker_stands_alone(text: str, there: bool) -> None:
    assert has_marker(text, MARKER) is there
    assert has_marker(text, "") is False


@pytest.mark.parametrize(
    ("line", "met"),
    [
        ("plan_path = a.md", True),
        ("**plan_path** = a.md", True),
        ("`plan_path` = a.md", True),
        ("  plan_path=a.md", True),
        ("plan_path =", False),
        ("my_plan_path = a.md", False),
        ("plan_path: a.md", False),
    ],
)
def test_a_promised_line(line: str, met: bool) -> None:
    assert CONTRACT.is_met(line) is met
    assert (content_state(Report(text=f"{line}\n{MARKER}"), CONTRACT, MARKER) == "complete") is met


def test_a_pattern_that_is_no_pattern_is_never_met() -> None:
    assert not Contract(expected_output_patterns=("(", "x")).is_met("( x")
