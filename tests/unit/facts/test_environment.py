"""The variables that a project may not set: one list, for the runtime and for checks."""

from __future__ import annotations

import pytest

from checkrein.facts import shell_env
from checkrein.facts.environment import GUARDED, GUARDED_PREFIXES, needs_approval
from checkrein.runtime.process import environment


@pytest.mark.parametrize("table", ["COMMANDS", "PROMPTS", "SOURCED", "REPLACING", "SPLITTING", "LOOKUP"])
def test_what_changes_commands_is_guarded(table: str) -> None:
    names = getattr(shell_env, table)
    assert names
    assert all(needs_approval(name) and needs_approval(name.lower()) for name in names)


@pytest.mark.parametrize("prefix", GUARDED_PREFIXES)
def test_a_prefix_stands_for_every_name_with_it(prefix: str) -> None:
    assert needs_approval(f"{prefix}ANYTHING")
    assert not needs_approval(f"MY_{prefix}"[:-1] + "X")


@pytest.mark.parametrize("name", ["NODE_ENV", "TZ", "CI", "DEBUG", "LANG", "RUST_LOG", "PATHS", "MY_FLAG"])
def test_plain_names_are_not_guarded(name: str) -> None:
    assert not needs_approval(name)


def test_names_are_written_as_they_are_compared() -> None:
    assert {name for name in GUARDED if name != name.upper()} == set()


def test_the_runtime_asks_the_same_list() -> None:
    assert environment.needs_approval is needs_approval
