from __future__ import annotations

import pytest

from checkrein.base.origin import BUNDLED, Origin
from checkrein.passes.agents import AgentType, child_mode, child_model
from checkrein.policy.modes import NARROWER
from checkrein.policy.values import MODES, Mode


def kind(mode: Mode | None = None, model: str | None = None) -> AgentType:
    origin = Origin(BUNDLED, "bundled")
    return AgentType(name="a", description="d", body="b", permission_mode=mode, model=model, origin=origin)


@pytest.mark.parametrize(
    ("parent", "own", "asked", "mode"),
    [
        ("default", None, None, "default"),
        ("default", "plan", None, "plan"),
        ("default", "dontAsk", None, "dontAsk"),
        ("default", "acceptEdits", None, "default"),
        ("default", "bypassPermissions", None, "default"),
        ("plan", "default", None, "plan"),
        ("plan", "dontAsk", None, "plan"),
        ("dontAsk", "plan", None, "plan"),
        ("dontAsk", "default", None, "dontAsk"),
        ("acceptEdits", "plan", None, "acceptEdits"),
        ("auto", "dontAsk", None, "auto"),
        ("bypassPermissions", "plan", None, "bypassPermissions"),
        ("bypassPermissions", None, "plan", "plan"),
        ("acceptEdits", None, "plan", "plan"),
        ("acceptEdits", None, "auto", "acceptEdits"),
        ("default", "plan", "bypassPermissions", "default"),
        ("acceptEdits", None, "manual", "default"),
        ("default", "plan", "nonsense", "plan"),
    ],
)
def test_a_mode_only_narrows(parent: Mode, own: Mode | None, asked: str | None, mode: str) -> None:
    assert child_mode(parent, kind(own), asked) == mode


def test_no_mode_is_wider_than_the_parents() -> None:
    for parent in MODES:
        for own in (None, *MODES):
            for asked in (None, *MODES):
                found = child_mode(parent, kind(own), asked)
                assert found == parent or found in NARROWER[parent]


def test_the_order_of_modes_is_an_order() -> None:
    for mode, below in NARROWER.items():
        assert mode not in below
        assert all(set(NARROWER[one]) <= set(below) for one in below)


@pytest.mark.parametrize(
    ("env", "call", "own", "model"),
    [
        ("e", "c", "d", "e"),
        (None, "c", "d", "c"),
        (None, None, "d", "d"),
        (None, None, None, "p"),
        ("inherit", "c", "d", "p"),
        (None, "inherit", "d", "p"),
        (" ", None, None, "p"),
    ],
)
def test_who_chooses_the_model(env: str | None, call: str | None, own: str | None, model: str) -> None:
    variables = {} if env is None else {"CLAUDE_CODE_SUBAGENT_MODEL": env}
    assert child_model(variables, call, kind(model=own), "p") == model
