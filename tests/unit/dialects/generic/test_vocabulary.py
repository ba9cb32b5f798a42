"""Wrong values are errors with the nearest name, never silent."""

from __future__ import annotations

from typing import Any

import pytest

from checkrein.base.origin import Origin
from checkrein.dialects.codes import Log
from checkrein.dialects.generic.readers import parse_command
from checkrein.dialects.generic.vocabulary import findings
from checkrein.model.items import Agent, Command

HERE = Origin("/p/c.md", "project")


def found(**fields: Any) -> list[tuple[str, str]]:
    return [(one.code, one.severity) for one in findings(Command(name="c", origin=HERE, **fields))]


@pytest.mark.parametrize(
    ("behavior", "code", "severity"),
    [
        ({"execution": "teleport"}, "BEH001", "error"),
        ({"capability": "huge"}, "BEH002", "error"),
        ({"capability": 3}, "BEH002", "error"),
        ({"effort": "extreme"}, "BEH003", "error"),
        ({"invocation": "maybe"}, "BEH004", "error"),
        ({"visibility": "nobody"}, "BEH005", "error"),
        ({"color": "mauve"}, "BEH006", "error"),
        ({"tools": False}, "BEH007", "error"),
        ({"tools": ["Read", 3]}, "BEH007", "error"),
        ({"tools": []}, "BEH008", "info"),
        ({"tools": "Read Grepp"}, "BEH009", "warning"),
        ({"efort": "low"}, "BEH010", "warning"),
        ({"tools": "read-only"}, "BEH018", "warning"),
        ({"invocation": "explicit", "visibility": "model"}, "BEH019", "error"),
        ({"execution": "agent", "visibility": "user"}, "BEH017", "warning"),
    ],
)
def test_values(behavior: dict[str, Any], code: str, severity: str) -> None:
    assert found(behavior=behavior) == [(code, severity)]


@pytest.mark.parametrize(
    "behavior",
    [
        {"execution": "isolated"},
        {"tools": "full"},
        {"tools": "Read Bash(git log:*) mcp__gh__list"},
        {"tools": ["Read", "Bash"]},
        {"execution": "agent", "tools": "read-only"},
        {"capability": "fast", "effort": "max", "color": "cyan", "visibility": "both"},
    ],
)
def test_what_is_right_is_quiet(behavior: dict[str, Any]) -> None:
    assert found(behavior=behavior) == []


def test_sections() -> None:
    assert found(agents={"claude": "x"}) == [("BEH012", "error")]
    assert found(agents={"cloude": {}}) == [("BEH013", "warning")]
    assert found(agents={"cursor": {"a": 1}}) == []
    assert found(behavior={"effort": "low"}, agents={"claude": {"effort": "max"}}) == [("BEH014", "info")]
    assert found(unknown={"behavior": "fast"}) == [("BEH011", "error")]
    assert found(unknown={"agents": ["claude"]}) == [("BEH012", "error")]


def test_arguments_in_an_agent() -> None:
    assert found(behavior={"execution": "agent"}, body="see $ARGUMENTS") == [("BEH016", "warning")]
    agent = Agent(name="a", origin=HERE, behavior={"effort": "low"}, body="x\n$ARGUMENTS\n", body_line=5)
    assert [(one.code, one.origin.line) for one in findings(agent)] == [("BEH016", 6)]
    assert not list(findings(Agent(name="a", origin=HERE, body="$ARGUMENTS")))


def test_the_nearest_name_and_the_exact_line() -> None:
    text = "---\ndescription: d\nbehavior:\n  effort: hgih\n  color: red\nagents:\n  claude:\n    x: 1\n---\n"
    command = parse_command(text, "c.md", "c", "", Log())
    (finding,) = findings(command)
    assert "Did you mean 'high'?" in finding.message
    assert finding.origin.span is not None
    assert finding.origin.span.line == 4
    assert command.spans["agents.claude"].line == 7
