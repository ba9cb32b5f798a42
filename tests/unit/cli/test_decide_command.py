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
    assert b"a (line 2): wanted allow, got deny" in said.err
    assert len(said.out.splitlines()) == 2


def test_broken_records_are_answered_too(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["decide", written(tmp_path, "{", {"id": 3}, {**DENIED, "permision": 1})]) == 1
    said = capfdbinary.readouterr()
    lines = [json.loads(line) for line in said.out.splitlines()]
    assert "line 1" in lines[0]["error"]
    assert lines[1]["id"] == 3
    assert "line 3: `permision` is not a field of a record. Did you mean 'permissions'?" in lines[2]["error"]


def test_records_meet_the_project_they_name(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    (project / ".git").mkdir()
    rules = {"deny": ["Read(.env)"], "allow": ["Bash(make *)"]}
    (project / ".claude" / "settings.json").write_text(json.dumps({"permissions": rules}))
    monkeypatch.chdir(tmp_path)
    make = {"tool": "Bash", "input": {"command": "make x"}}
    records = written(
        tmp_path, {"tool": "Read", "input": {"file_path": ".env"}}, make, {**make, "trusted": True}
    )
    assert run(["decide", "--project", str(project), records]) == 0
    lines = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert [line["verdict"] for line in lines] == ["deny", "ask", "allow"]
    assert lines[0]["origin"].endswith("project/.claude/settings.json:1")
    assert "this project is not trusted" in lines[1]["notes"][0]
    assert run(["decide", records]) == 0
    first = json.loads(capfdbinary.readouterr().out.splitlines()[0])
    assert first["verdict"] == "allow", "the directory of the process holds no rules"
    assert run(["decide", "-C", str(tmp_path / "none"), records]) == 1


def test_the_project_is_read_once_and_only_when_needed(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    from checkrein.passes import load

    real, loads = load.load, []
    monkeypatch.setattr(load, "load", lambda *args, **more: loads.append(args) or real(*args, **more))
    assert run(["decide", written(tmp_path, DENIED, DENIED)]) == 0
    assert loads == []
    bare = {"tool": "Bash", "input": {"command": "ls"}}
    assert run(["decide", written(tmp_path, bare, DENIED, {**bare, "mode": "plan"}, bare)]) == 0
    assert len(loads) == 1


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
