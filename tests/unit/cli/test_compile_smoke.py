"""`checkrein compile --smoke`: a real interpreter and real processes; the library itself is a stand-in."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from checkrein.base.errors import CheckreinError
from checkrein.cli.compile_smoke import smoke
from checkrein.cli.main import run

SPEC = "---\nname: demo\ndescription: d\n---\n\n# Demo\n\nYou are kind.\n"
# A stand-in for pytest that says where it runs and with what, and ends as it is told to.
PYTEST = """\
import os, sys
print(os.path.basename(os.getcwd()), *sys.argv[1:])
print({said!r})
sys.exit({status})
"""


pytestmark = pytest.mark.spec(SPEC)


def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, status: int) -> None:
    """`mellea`, `pydantic` and `pytest` for the interpreter that is started, and nobody else."""
    for name in ("mellea", "pydantic", "pytest"):
        folder = tmp_path / "modules" / name
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
    (tmp_path / "modules" / "pytest" / "__main__.py").write_text(PYTEST.format(said=said, status=status))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))


def bare_interpreter(tmp_path: Path) -> Path:
    """This Python without any installed package."""
    path = tmp_path / "bare-python"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    path.chmod(0o755)
    return path


def test_it_passes(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    modules(tmp_path, monkeypatch, "3 passed in 0.01s", 0)
    assert run(["compile", str(spec), "-o", str(tmp_path / "out"), "--smoke", sys.executable]) == 0
    assert "smoke test: 3 passed in 0.01s" in capsys.readouterr().out
    assert not list((tmp_path / "out").rglob("__pycache__"))


def test_the_tests_of_the_package_are_run_in_it(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    modules(tmp_path, monkeypatch, "1 failed, 2 passed in 0.01s", 1)
    assert run(["compile", str(spec), "-o", str(tmp_path / "out"), "--smoke", sys.executable]) == 1
    error = capsys.readouterr().err
    assert "The package's tests fail: out -q -p no:cacheprovider tests" in error
    assert "1 failed, 2 passed" in error
    assert (tmp_path / "out" / "demo_mellea" / "pipeline.py").exists()


def test_a_missing_library_is_named_with_what_installs_it(tmp_path: Path) -> None:
    python = bare_interpreter(tmp_path)
    with pytest.raises(CheckreinError) as caught:
        smoke(str(tmp_path), str(python), {"mellea": "mellea>=0.8,<0.9", "json": "never"})
    assert caught.value.kind == "smoke_unavailable"
    assert caught.value.message == f"{python} has no mellea, pytest; the tests did not run."
    assert caught.value.hint is not None
    assert f"{python} -m pip install 'mellea>=0.8,<0.9' 'pytest>=8'" in caught.value.hint


@pytest.mark.parametrize("python", ["no-such-python", "./no-such-python", "true"])
def test_what_is_no_python_proves_nothing(tmp_path: Path, python: str) -> None:
    with pytest.raises(CheckreinError) as caught:
        smoke(str(tmp_path), python, {"mellea": "mellea"})
    assert caught.value.kind == "smoke_unavailable"


def test_an_interpreter_is_named_from_where_the_user_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare_interpreter(tmp_path)
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckreinError) as caught:
        smoke(str(tmp_path / "out"), os.path.join(".", "bare-python"), {"mellea": "mellea"})
    assert "has no mellea" in caught.value.message
