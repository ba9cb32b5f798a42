"""Variables and callbacks by which a harmless name runs something else."""

from __future__ import annotations

import pytest

from checkrein.policy.lines import answer


def verdict(command: str, deny: list[str]) -> str:
    record = {"permissions": {"allow": ["Bash"], "deny": deny}, "tool": "Bash", "input": {"command": command}}
    return answer(record, cwd="/p", home="/h").line.verdict


@pytest.mark.parametrize(
    "command",
    [
        "PATH=/evil:$PATH ls",
        "LD_PRELOAD=./x.so ls",
        "export PATH=/evil; ls",
        "env NODE_OPTIONS='-r ./x' node a.js",
    ],
)
def test_a_name_that_may_be_another_program_is_asked_for(command: str) -> None:
    assert verdict(command, ["Bash(rm *)"]) == "ask"


@pytest.mark.parametrize("command", ["mapfile -C 'rm x' -c 1 a < f", "readarray -C'rm x' a < f"])
def test_callbacks_are_read(command: str) -> None:
    assert verdict(command, ["Bash(rm *)"]) == "deny"


def test_without_a_rule_that_could_be_meant_nothing_is_asked() -> None:
    assert verdict("LD_LIBRARY_PATH=lib ./run", []) == "allow"
