"""The examples pass our own checks: `./dev demo` ends at the first finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.cli.main import run

EXAMPLES = sorted(path.parent for path in (Path(__file__).parents[2] / "examples").glob("*/.claude"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_nothing_to_report(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", str(example)]) == 0, capsys.readouterr().out
