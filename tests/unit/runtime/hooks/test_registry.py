"""Whose hook it is: a child's own only narrows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checkrein.runtime.hooks.output import Answer, Permission, Specific, without_approval
from checkrein.runtime.hooks.registry import HookRegistry
from support.agents import below, files, lived, order, orders
from support.calls import hook
from support.sessions import call, open_session


def test_only_the_hooks_at_the_root_approve() -> None:
    root = HookRegistry([hook("root")])
    child = HookRegistry([hook("child")], above=root)
    grandchild = HookRegistry([hook("grandchild")], above=child)
    narrows = {one.hook.command: grandchild.only_narrows(one) for one in grandchild.handlers}
    assert narrows == {"root": False, "child": True, "grandchild": True}
    assert not any(root.only_narrows(one) for one in root.handlers)


@pytest.mark.parametrize("verdict", ["ask", "defer", "deny", None])
def test_everything_but_an_approval_stays(verdict: Any) -> None:
    given = Answer(verdict=verdict, reason="r", context="c", specific=Specific(updated_input={"a": 1}))
    assert without_approval(given) == given


def test_an_approval_goes_and_the_rest_stays() -> None:
    given = Answer(verdict="allow", context="c", specific=Specific(updated_input={"a": 1}))
    left = without_approval(given)
    assert left.verdict is None
    assert left.context == "c"
    assert left.specific.updated_input == {"a": 1}


@pytest.mark.parametrize(("behavior", "left"), [("allow", False), ("deny", True)])
def test_a_permission_is_an_approval_too(behavior: Any, left: bool) -> None:
    given = Answer(specific=Specific(decision=Permission(behavior)))
    assert (without_approval(given).specific.decision is not None) is left


APPROVE = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}


@pytest.mark.project(files())
def test_a_hook_of_the_session_approves_for_a_child_too(project: Path) -> None:
    with open_session(
        project,
        *below(call("Bash", command="touch made"), {"text": "r"}),
        orders(order(run_in_background=False)),
        {"text": "end"},
    ) as session:
        session.control.add_hook("PreToolUse", "Bash", lambda payload, call: APPROVE)
        lived(session)
    assert (project / "made").exists()
