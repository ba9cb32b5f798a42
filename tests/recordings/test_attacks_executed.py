"""Attack rows, executed through the whole command line: no denied effect happens.

CI runs a seeded part of the table, with the exec guard and without it. CHECKREIN_CAMPAIGN=1 runs all of it;
CHECKREIN_USER, a number, runs it as that user.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from support.scenes import Scene, listener, placed, rows, template

WHOLE = os.environ.get("CHECKREIN_CAMPAIGN") == "1"
USER = int(os.environ["CHECKREIN_USER"]) if os.environ.get("CHECKREIN_USER") else None


def chosen(most: int) -> list[dict[str, Any]]:
    """At most so many of each kind of row, the same ones in every run."""
    given = rows()
    if WHOLE:
        return given
    kinds: dict[str, list[dict[str, Any]]] = {}
    for row in given:
        kinds.setdefault(row["id"].split("-")[0], []).append(row)
    seeded = random.Random(15)
    return [row for found in kinds.values() for row in seeded.sample(found, min(len(found), most))]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    return template(tmp_path_factory.mktemp("model"))


@pytest.fixture
def scene(model: Path, tmp_path: Path) -> Iterator[Scene]:
    place = tmp_path
    if USER is not None:  # nobody else may enter the directories of pytest
        place = Path(tempfile.mkdtemp())
        place.chmod(0o755)
    made = Scene(model, place / "scene", USER)
    yield made
    shutil.rmtree(made.base, ignore_errors=True)
    if place is not tmp_path:
        place.rmdir()


def nothing_happens(row: dict[str, Any], scene: Scene, env: Mapping[str, str]) -> None:
    with listener() as (port, heard):
        told = scene.run(placed(row, scene.base, port), env=env)
        assert scene.happened(row["id"].split("-")[0], heard) is None, row["input"]
    assert told[-1]["type"] == "result"


@pytest.mark.untraced
@pytest.mark.parametrize("row", chosen(5), ids=lambda row: row["id"])
def test_nothing_denied_happens(row: dict[str, Any], scene: Scene) -> None:
    nothing_happens(row, scene, {})


@pytest.mark.untraced
@pytest.mark.parametrize("row", chosen(2), ids=lambda row: row["id"])
def test_nothing_denied_happens_without_the_guard(row: dict[str, Any], scene: Scene) -> None:
    nothing_happens(row, scene, {"CHECKREIN_GUARD__ENABLED": "false"})


@pytest.mark.parametrize("tool", ["mcp__github__x", "mcp__x____do", "ReadMcpResourceTool"])
def test_a_server_is_reached_where_no_rule_denies_it(tool: str, scene: Scene) -> None:
    input = {"server": "GitHub", "uri": "repo://x"} if tool.startswith("Read") else {}
    row = {"id": "mcp-0", "permissions": {"allow": [tool]}, "mode": "default", "tool": tool, "input": input}
    scene.run(row)
    assert scene.happened("mcp", []) is not None
