"""`--dependencies=ask` on a terminal and without one, and decisions that are used again."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checkrein.cli.main import run

BODY = "You are kind.\n\n## Facts\n\nTea is hot.\n\n```bash\nls\n```\n"
LIMIT = 30.0


pytestmark = pytest.mark.spec(f"---\nname: demo\ndescription: d\n---\n\n# Demo\n\n{BODY}")


def on_a_terminal(command: list[str], answers: list[str]) -> tuple[int, str]:
    """Run a command with a terminal of its own; one answer for each question, an empty line afterwards."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    shown = b""
    asked = 0
    deadline = time.monotonic() + LIMIT
    try:
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(ours, 4096)
            except OSError:
                break
            if not piece:
                break
            shown += piece
            while shown.count(b"]: ") > asked:
                os.write(ours, (answers[asked] if asked < len(answers) else "").encode() + b"\n")
                asked += 1
        return child.wait(LIMIT), shown.decode("utf-8", "replace")
    finally:
        child.kill()
        child.wait()
        os.close(ours)


def plan(out: Path) -> dict[str, tuple[str, str]]:
    made = json.loads((out / "demo_mellea" / "intermediate" / "dependency_plan.json").read_text())
    return {entry["target"]: (entry["disposition"], entry["source_of_decision"]) for entry in made["plan"]}


def test_questions_and_their_answers_again(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    argv = [sys.executable, "-m", "checkrein", "compile", str(spec), "-o", str(first), "--dependencies=ask"]
    status, shown = on_a_terminal(argv, ["nonsense", "remove"])
    assert status == 0, shown
    assert "what to do" in shown
    assert "demo/SKILL.md" in shown or "SKILL.md:" in shown
    decided = plan(first)
    chosen = [target for target, (_, who) in decided.items() if who == "user"]
    assert len(chosen) == 1
    assert decided[chosen[0]] == ("remove", "user")

    monkeypatch.setattr("checkrein.cli.compile_ask._ask", lambda question: pytest.fail("asked again"))
    saved = first / "demo_mellea" / "intermediate" / "dependency_plan.json"
    assert run(["compile", str(spec), "-o", str(second), f"--dependencies=config:{saved}"]) == 0
    again = plan(second)
    assert again[chosen[0]] == ("remove", "config")
    assert {target: one for target, (one, _) in again.items()} == {t: one for t, (one, _) in decided.items()}
    assert (second / "demo_mellea" / "config.py").read_bytes() == (
        first / "demo_mellea" / "config.py"
    ).read_bytes()
    capsys.readouterr()


def test_without_a_terminal_it_says_what_to_write(
    spec: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "checkrein",
            "compile",
            str(spec),
            "-o",
            str(tmp_path / "out"),
            "--dependencies=ask",
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 2
    assert "--dependencies=ask needs a terminal" in done.stderr
    assert "--dependencies=auto" in done.stderr
    assert "config:PATH" in done.stderr
    assert not (tmp_path / "out").exists()
