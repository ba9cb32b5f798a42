"""The bundled recipes on a repository of the examples, offline: green tests and a diff, or a report."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checkrein.passes.load import load
from checkrein.passes.recipes.library import bundled_recipes, library_of
from checkrein.passes.recipes.validity import problems
from checkrein.runtime.session.options import Options
from checkrein.serve.recipes.house import Ask, open_house
from checkrein.serve.recipes.project_recipes import plan_of
from support.repositories import make_repository

EXAMPLE = Path(__file__).parents[2] / "examples" / "recipes"
TASK = "Add label(cents): 1205 reads 12.05 EUR"
NAMES = ["audit", "fix-test", "implement", "overhaul"]


class _Silent:
    def saw(self, path: str, entry: Any) -> None:
        pass


@pytest.fixture
def example_shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "shop"
    shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    make_repository(copy)
    monkeypatch.setenv("CHECKREIN_MODEL__DEFAULT", f"scripted:{EXAMPLE / 'session.jsonl'}")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return copy


def cook(shop: Path, name: str, **inputs: str) -> Any:
    options = Options(kind="sdk", trust=True)
    with open_house(str(shop)) as house:
        view = house.run_here(plan_of(name, str(shop), inputs), str(shop), Ask(), options, _Silent())
    assert not view.is_failure, msgspec.json.encode(view)
    return view


def is_green(shop: Path) -> bool:
    done = subprocess.run((sys.executable, "-m", "unittest"), cwd=shop, capture_output=True)
    return done.returncode == 0


def diff(shop: Path) -> str:
    return subprocess.run(("git", "diff"), cwd=shop, capture_output=True, text=True, check=True).stdout


def mend(shop: Path) -> None:
    file = shop / "shop" / "price.py"
    file.write_text(file.read_text().replace("// 10\n", "// 100\n"))


def test_10_12_every_bundled_recipe_has_no_finding(tmp_path: Path) -> None:
    library = library_of(load(str(tmp_path)))
    assert sorted(library.recipes) == NAMES
    assert bundled_recipes().diagnostics == ()
    for one in library.recipes.values():
        assert problems(one.item, library) == []


def test_fix_test_mends_the_code_and_shows_the_difference(example_shop: Path) -> None:
    assert not is_green(example_shop)
    view = cook(example_shop, "fix-test")
    assert view.step == "fixed"
    assert "shop/price.py" in view.message
    assert is_green(example_shop)
    assert "+    return full - full * percent_off // 100" in diff(example_shop)


def test_fix_test_leaves_a_green_project_alone(example_shop: Path) -> None:
    mend(example_shop)
    before = diff(example_shop)
    assert cook(example_shop, "fix-test").step == "nothing_to_fix"
    assert diff(example_shop) == before


def test_implement_adds_code_and_test_and_is_reviewed(example_shop: Path) -> None:
    mend(example_shop)
    view = cook(example_shop, "implement", task=TASK)
    assert view.step == "finished"
    ways = [one.entry.path for one in view.steps if one.entry.state == "success"]
    assert ways == ["before", "build", "test", "review", "difference", "finished"]
    assert "def label" in diff(example_shop)
    assert "tests/test_label.py" in view.message
    assert is_green(example_shop)


def test_implement_does_not_begin_on_red_tests(example_shop: Path) -> None:
    options = Options(kind="sdk", trust=True)
    with open_house(str(example_shop)) as house:
        plan = plan_of("implement", str(example_shop), {"task": TASK})
        view = house.run_here(plan, str(example_shop), Ask(), options, _Silent())
    assert (view.step, view.is_failure) == ("escalate_red_before", True)
    assert diff(example_shop) == ""


def test_audit_writes_a_report(example_shop: Path) -> None:
    view = cook(example_shop, "audit", report="found.md")
    assert view.message == "The report is in found.md."
    report = (example_shop / "found.md").read_text()
    assert "Gap: no test has an empty list." in report
    assert "flowchart TD" in report


def test_overhaul_runs_all_three(example_shop: Path) -> None:
    view = cook(example_shop, "overhaul", task=TASK)
    assert view.state == "done"
    assert is_green(example_shop)
    assert "def label" in diff(example_shop)
    assert (example_shop / "audit-report.md").is_file()
