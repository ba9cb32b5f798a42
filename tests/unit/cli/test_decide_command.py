"""`checkrein decide`: records on a file or the input, answers on the output, differences on stderr."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from checkrein.cli.main import run

DENIED = {
    "id": "a",
    "permissions": {"deny": ["Bash(rm *)"]},
    "tool": "Bash",
    "input": {"command": "ls; rm x"},
}


def written(path: Path, *records: object) -> str:
    file = path / "calls.jsonl"
    file.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in records))
    return str(file)


def test_answers(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert (
        run(["decide", written(tmp_path, DENIED, "", {**DENIED, "id": None, "mode": "bypassPermissions"})])
        == 0
    )
    first, second = (json.loads(line) for line in capfdbinary.readouterr().out.splitlines())
    assert list(first) == ["id", "verdict", "offered", "rule", "origin", "reason"]
    assert (first["id"], first["verdict"], first["rule"]) == ("a", "deny", "Bash(rm *)")
    assert second["id"] is None


def test_expectations(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    good, bad = {**DENIED, "want": ["ask", "deny"]}, {**DENIED, "want": "allow"}
    assert run(["decide", "--expect", written(tmp_path, good)]) == 0
    assert run(["decide", written(tmp_path, bad)]) == 0
    capfdbinary.readouterr()
    assert run(["decide", "--expect", written(tmp_path, good, bad)]) == 1
    said = capfdbinary.readouterr()
    assert b"a (line 2): wanted allow, is deny" in said.err
    assert len(said.out.splitlines()) == 2


def test_broken_records_are_answered_too(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["decide", written(tmp_path, "{", {"id": 3}, {**DENIED, "permision": 1})]) == 1
    said = capfdbinary.readouterr()
    lines = [json.loads(line) for line in said.out.splitlines()]
    assert "line 1" in lines[0]["error"]
    assert lines[1]["id"] == 3
    assert "line 3: `permision` is not a field of a record. Did you mean 'permissions'?" in lines[2]["error"]


def test_a_missing_file(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["decide", str(tmp_path / "none")]) == 1
    assert b"can't be read" in capfdbinary.readouterr().err


def test_the_standard_input(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "checkrein", "decide", "--expect"],
        input=json.dumps({**DENIED, "want": "deny"}).encode(),
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "deny"
