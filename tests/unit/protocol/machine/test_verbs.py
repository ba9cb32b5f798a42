"""Classes, kinds, documents and declarations agree."""

from __future__ import annotations

import ast
import importlib
import json
import re
from pathlib import Path

import pytest

from checkrein.base.errors import ERROR_CLASSES
from checkrein.cli import registry
from checkrein.cli.main import run
from checkrein.llm.failures import RETRYABLE
from checkrein.protocol.machine.kinds import COMMON, KINDS, PARSE, action_of
from checkrein.protocol.machine.reports import parity_audit
from checkrein.protocol.machine.stages import STAGES
from checkrein.protocol.machine.verbs import MACHINE, MODES, OPT_OUT

ROOT = Path(__file__).parents[4]
DECLARED = [name.removeprefix("machine ") for name in registry.names() if name.startswith("machine ")]
Captured = pytest.CaptureFixture[str]


def test_every_verb_is_in_exactly_one_class() -> None:
    assert len(MACHINE) == 14
    assert len(OPT_OUT) == 12
    assert not set(MACHINE) & set(OPT_OUT)
    assert sorted(DECLARED) == sorted([*MACHINE, *OPT_OUT])


def rows(page: str) -> list[list[str]]:
    text = (ROOT / "docs" / page).read_text("utf-8")
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line
    ]


def test_the_audit_lists_every_opt_out_verb_once() -> None:
    named = [found[1] for row in rows("opt-out.md") if (found := re.fullmatch(r"`([a-z-]+)`", row[0]))]
    assert sorted(named) == sorted(OPT_OUT)


def test_the_protocol_page_lists_every_verb_and_kind() -> None:
    text = (ROOT / "docs" / "protocol.md").read_text("utf-8")
    for word in (*MACHINE, *KINDS):
        assert f"`{word}`" in text, word


@pytest.mark.parametrize("verb", DECLARED)
def test_declared_kinds_are_in_the_table(verb: str) -> None:
    declared = registry.command(f"machine {verb}")
    assert set(declared.errors) <= set(KINDS)
    assert declared.exits[2][0] == 2


def test_kinds() -> None:
    assert set(PARSE) | set(COMMON) <= set(KINDS)
    assert set(RETRYABLE) - {"cancelled"} <= set(KINDS)
    for kind in KINDS.values():
        assert kind.error_class in ERROR_CLASSES
        assert kind.hint.endswith(".")
    assert action_of("something_new", "runtime", True) == "retry"
    assert action_of("something_new", "policy", False) == "escalate"


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.id)
def test_stages_are_real(stage: object) -> None:
    place = stage.place  # type: ignore[attr-defined]
    module, _, name = place.partition(":")
    assert hasattr(importlib.import_module(module), name)
    known = [one.id for one in STAGES]
    assert set(stage.depends_on) <= set(known[: known.index(stage.id)])  # type: ignore[attr-defined]


def test_the_audit_sees_what_is_missing() -> None:
    whole = dict.fromkeys((*MACHINE, *OPT_OUT), (True, True))
    assert parity_audit(whole).agrees
    assert not parity_audit({**whole, "new": (True, True)}).agrees
    found = parity_audit({verb: value for verb, value in whole.items() if verb != "route"})
    assert [row.problem for row in found.rows if row.problem] == ["no declaration, no JSON, no schema"]


@pytest.mark.parametrize("verb", ["manifest", "setup-report", "subsystems"])
def test_reports_in_both_forms(verb: str, capsys: Captured, tmp_path: Path) -> None:
    assert run(["machine", verb]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 5
    assert run(["machine", verb, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]


def test_the_manifest_is_what_is_declared(capsys: Captured) -> None:
    run(["machine", "manifest", "--json"])
    data = json.loads(capsys.readouterr().out)["data"]
    assert [row["verb"] for row in data["verbs"]] == [*MACHINE, *OPT_OUT]
    assert {row["kind"] for row in data["error_kinds"]} == set(KINDS)


@pytest.mark.parametrize("mode", MODES)
def test_modes_say_that_they_are_not_there(mode: str, capsys: Captured) -> None:
    assert run(["machine", mode, "host", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["kind"], error["retryable"], error["details"]["connected"]) == (
        "not_implemented",
        False,
        False,
    )


FIELDS = {"model_requested"}
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_requirement_has_its_test_or_its_reason() -> None:
    found = [row for row in rows("protocol-requirements.md") if row[0].isdigit()]
    assert [int(row[0]) for row in found] == list(range(1, 83))
    for row in found:
        named = _TEST.findall(row[2])
        assert named or row[2].startswith("not ours:"), row[0]
        for file, function in named:
            assert function in collected(ROOT / file), f"{row[0]}: {file}::{function}"


def collected(file: Path) -> set[str]:
    """The tests that pytest collects from a file: its functions, not what a comment or a string says."""
    body = ast.parse(file.read_text("utf-8")).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_every_case_that_a_requirement_names_exists() -> None:
    golden = {file.stem for file in (ROOT / "tests" / "conformance" / "data" / "machine").glob("*.json")}
    outcomes = {name.partition(".")[2] for name in golden}
    cited = 0
    for row in rows("protocol-requirements.md"):
        for words in re.findall(r"test_outcome` \(([^)]*)\)", row[-1]):
            for case in re.findall(r"`([a-z-]+\.[a-z_]+)`", words):
                assert case in golden, case
                cited += 1
            for outcome in re.findall(r"`([a-z]+_[a-z_]+)`", words):
                if outcome not in FIELDS:
                    assert outcome in outcomes, outcome
    assert cited > 10
