"""Every refusal of `checkrein compile` has its code in the envelope, and the page says the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from checkrein.cli import compile as command
from checkrein.cli.main import run
from checkrein.compile import package
from checkrein.compile.artifacts import LintFailure, LintResult
from checkrein.facts.compile import KINDS

PAGE = Path(__file__).parents[3] / "docs" / "compile.md"
Setting = Callable[[Path, pytest.MonkeyPatch], list[str]]


def _decisions(base: Path, text: str) -> list[str]:
    (base / "decisions.json").write_text(text)
    return [f"--dependencies=config:{base / 'decisions.json'}"]


def _override(base: Path, signal: str, disposition: str) -> list[str]:
    row = {"signal": signal, "disposition": disposition, "override_rationale": "x"}
    return _decisions(base, json.dumps({"overrides": [row]}))


def _halts(base: Path, patch: pytest.MonkeyPatch) -> list[str]:
    spec = base / "both" / "SKILL.md"
    spec.parent.mkdir()
    spec.write_text("---\nname: both\ndescription: d\nmodality: heartbeat\n---\n\nRun `claude -p` once.\n")
    return [f"SPEC={spec}"]


# No spec is known that gives a package which fails its lints: the step is replaced.
def _lints(base: Path, patch: pytest.MonkeyPatch) -> list[str]:
    failed = LintResult("parseable", 1, "error", "fail", [LintFailure("config.py", 3, "broken")])
    patch.setattr(package, "lint", lambda *given, **more: [failed])
    return []


def _conflict(base: Path, patch: pytest.MonkeyPatch) -> list[str]:
    (base / "out").mkdir()
    (base / "out" / "pyproject.toml").write_text("# mine\n")
    return []


def _fails(base: Path, patch: pytest.MonkeyPatch) -> list[str]:
    python = base / "python"
    python.write_text('#!/bin/sh\nif [ "$1" = -c ]; then echo without; else echo "1 failed"; exit 1; fi\n')
    python.chmod(0o755)
    return [f"--smoke={python}"]


CASES: dict[str, Setting] = {
    "spec_not_found": lambda base, patch: ["SPEC=nowhere.md"],
    "plugin_not_found": lambda base, patch: ["--plugin=nothing"],
    "classification_halt": _halts,
    "element_not_found": lambda base, patch: ["--explain=elem_999"],
    "usage": lambda base, patch: ["--dependencies=maybe"],
    "runtime_unknown": lambda base, patch: ["--source-runtime=nothing"],
    "terminal_missing": lambda base, patch: ["--dependencies=ask"],
    "override_unknown": lambda base, patch: _override(base, "C9:nowhere.py:x", "remove"),
    "override_invalid": lambda base, patch: _override(base, "C6:constrained_slots.py:run_bash", "bundle"),
    "overrides_unreadable": lambda base, patch: ["--dependencies=config:nowhere.json"],
    "overrides_invalid": lambda base, patch: _decisions(base, "[]"),
    "output_conflict": _conflict,
    "strict_halt": lambda base, patch: ["--dependencies=strict"],
    "lint_failed": _lints,
    "smoke_failed": _fails,
    "smoke_unavailable": lambda base, patch: ["--smoke=no-such-python"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_code_of_a_refusal(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "demo" / "SKILL.md"
    spec.parent.mkdir()
    spec.write_text("---\nname: demo\ndescription: d\n---\n\nYou are kind.\n\n```bash\nls\n```\n")
    monkeypatch.chdir(tmp_path)
    flags = CASES[kind](tmp_path, monkeypatch)
    named = next((flag[5:] for flag in flags if flag.startswith("SPEC=")), str(spec))
    flags = [flag for flag in flags if not flag.startswith("SPEC=")]
    status = run(["compile", named, "-o", str(tmp_path / "out"), "--json", *flags])
    answer = json.loads(capsys.readouterr().out)
    code, _ = KINDS[kind]
    assert (answer["error"]["kind"], answer["error"]["details"]) == (kind, {"code": code})
    assert status == answer["exit_code"] == (2 if code == 2 else 1)
    assert answer["error"]["message"]


def test_every_kind_is_declared_and_on_the_page() -> None:
    assert set(CASES) == set(KINDS) == set(command.COMMAND.errors)
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (.+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert {kind: (int(code), about) for kind, code, about in rows} == KINDS


def test_success_and_staleness_have_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "SKILL.md"
    spec.write_text("---\nname: demo\ndescription: d\n---\n\nYou are kind.\n")
    assert run(["compile", str(spec), "--check", "--json"]) == 1
    stale = json.loads(capsys.readouterr().out)
    assert ("error" in stale, stale["exit_code"], stale["data"]["stale"]) == (False, 1, True)
    assert run(["compile", str(spec), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data"]["written"] is True
