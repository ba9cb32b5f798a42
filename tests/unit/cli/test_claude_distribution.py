"""The second distribution: the command `claude`, answered by Checkrein."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from checkrein import __version__
from checkrein.facts.claude import COMPATIBLE_VERSION

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "packages" / "claude"


def test_versions_and_names_agree() -> None:
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    theirs = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    assert ours["optional-dependencies"]["claude"] == [theirs["name"]]
    assert theirs["version"] == __version__
    assert theirs["dependencies"] == [f"{ours['name']}=={__version__}"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["--version"], ["-v"]),
        (["-v"], ["-v"]),
        (["-p", "hi"], ["-p", "hi"]),
        (["check the tests", "-p"], ["run", "check the tests", "-p"]),
        (["check"], ["run", "check"]),
        (["mcp", "list"], ["mcp", "list"]),
        (["--help"], ["run", "--help"]),
        ([], []),
    ],
)
def test_words(given: list[str], meant: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PACKAGE / "src"))
    from checkrein_claude.command import words

    assert words(given) == meant


def test_both_wheels_give_a_claude_that_no_version_check_complains_about(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    wheels, place = tmp_path / "wheels", tmp_path / "place"
    for directory in (ROOT, PACKAGE):
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)]
        subprocess.run(build, cwd=directory, check=True, capture_output=True)
    for wheel in wheels.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(place)
    (script,) = PathDistribution(place / f"checkrein_claude-{__version__}.dist-info").entry_points
    assert (script.group, script.name) == ("console_scripts", "claude")
    start = f"import sys; from {script.module} import {script.attr}; sys.exit({script.attr}())"
    env = {**os.environ, "PYTHONPATH": f"{place}:{sysconfig.get_path('purelib')}", "HOME": str(tmp_path)}
    for flag in ("-v", "--version"):
        done = subprocess.run(
            [sys.executable, "-c", start, flag], env=env, check=True, capture_output=True, text=True
        )
        number = re.match(r"([0-9]+\.[0-9]+\.[0-9]+)", done.stdout)
        assert number is not None
        assert number[1] == COMPATIBLE_VERSION
        assert __version__ in done.stdout
        assert done.stderr == ""
