"""Real skills, labelled by reading them: tag, category and target agree; the packages are sound.

Three sets: `labels` and `labels_development` are what the rules were made with; no rule was made from a
disagreement of `labels_held_out`. Only the labels are ours to keep; the skills are read from the directory
that BRIDLE_CORPUS names.
"""

from __future__ import annotations

import ast
import json
import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bridle.compile.coverage import lines_of
from bridle.compile.package import Compiled, compile_spec

DATA = Path(__file__).parent / "data" / "compile"
SETS: dict[str, list[dict[str, Any]]] = {
    path.stem: [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for path in sorted(DATA.glob("labels*.jsonl"))
}
ROWS = [row for rows in SETS.values() for row in rows]
NAMES = [row["skill"] for row in ROWS]
# How much must agree, and of how many lines: tag, category, target.
LEAST = {
    "labels": (300, (0.9, 0.9, 0.9)),
    "labels_development": (350, (0.9, 0.9, 0.9)),
    "labels_held_out": (190, (0.82, 0.88, 0.88)),
}


FROM = {row["skill"]: row["from"] for row in ROWS}
CORPUS = os.environ.get("BRIDLE_CORPUS", "")
pytestmark = pytest.mark.skipif(not CORPUS, reason="set BRIDLE_CORPUS to a directory of real projects")


@cache
def compiled(name: str) -> Compiled:
    return fresh(name)


def fresh(name: str) -> Compiled:
    owner, repository, path = FROM[name].split("/", 2)
    with TemporaryDirectory() as directory:
        spec = Path(directory) / name / "SKILL.md"
        spec.parent.mkdir()
        spec.write_bytes(Path(CORPUS, f"{owner}__{repository}", path).read_bytes())
        return compile_spec(spec, env={"HOME": "/nonexistent"})


def judged(row: dict[str, Any]) -> list[tuple[bool, bool, bool]]:
    """For every label: does the narrowest element on that line agree in tag, category and target?"""
    made = compiled(row["skill"])
    spec = made.inventory.spec.file
    found = []
    for label in row["labels"]:
        holding = [
            e
            for e in made.inventory.elements
            if e.source_file == spec and label["line"] in lines_of(e.source_lines)
        ]
        element = min(holding, key=lambda e: len(lines_of(e.source_lines)))
        mapping = next(m for m in made.mappings if m.element_id.split("-")[0] == element.element_id)
        found.append(
            (
                element.tag == label["tag"],
                element.category == label["category"],
                mapping.final_target_file == label["target"],
            )
        )
    return found


@pytest.mark.parametrize(("axis", "name"), [(0, "tag"), (1, "category"), (2, "target")])
@pytest.mark.parametrize("labels", sorted(LEAST))
def test_labels_agree(labels: str, axis: int, name: str) -> None:
    verdicts = [one[axis] for row in SETS[labels] for one in judged(row)]
    count, least = LEAST[labels]
    assert len(verdicts) > count
    assert sum(verdicts) / len(verdicts) >= least[axis], name


def test_no_skill_is_in_two_sets() -> None:
    assert len({row["from"] for row in ROWS}) == len(ROWS) == len(set(NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_skill_compiles(name: str) -> None:
    made = compiled(name)
    assert made.inventory.coverage.passed
    assert made.inventory.coverage.coverage_ratio >= 0.95
    assert [one.lint_id for one in made.lints if one.verdict == "fail"] == []
    for path, data in made.files.items():
        if path.endswith(".py"):
            ast.parse(data.decode())
    assert fresh(name).files == made.files


def test_a_numbered_procedure_gives_as_many_steps() -> None:
    assert len(compiled("02-centos-linux-triage").blueprint.steps) == 6
    assert len(compiled("04-create-github-issues-for-unmet-specification-requirements").blueprint.steps) == 5
    assert len(compiled("13-scaffolding-oracle-to-postgres-migration-test-project").blueprint.steps) == 5
