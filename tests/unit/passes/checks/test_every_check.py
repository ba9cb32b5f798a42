"""Every check fires on its bad example and on nothing of its good one, and its fix mends what it found."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from checkrein.base.diagnostic import Diagnostic
from checkrein.model.project import Project
from checkrein.passes.checks.check import Check, Files
from checkrein.passes.checks.table import checks
from checkrein.passes.findings import check
from checkrein.passes.fix import apply_fixes
from checkrein.passes.load import load

CHECKS = list(checks().values())
FIXABLE = [one for one in CHECKS if one.fixable]


def materialise(files: Files, directory: Path) -> tuple[Path, Path]:
    """Write an example; gives the project and the home it is loaded with."""
    project, home = directory / "project", directory / "home"
    for root in (project, home):
        root.mkdir(parents=True)
    (project / ".git").mkdir()
    for name, content in files.items():
        path = home / name[2:] if name.startswith("~/") else project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        executable = path.name.endswith("*")
        path = path.with_name(path.name.removesuffix("*"))
        path.write_bytes(content.encode("utf-8"))
        path.chmod(0o755 if executable else 0o644)
    return project, home


def open_example(project: Path, home: Path) -> Project:
    return load(project, env={"HOME": str(home)}, home=str(home), managed_dir=str(home / "managed"))


def findings(one: Check, files: Files, directory: Path) -> tuple[list[Diagnostic], Project]:
    loaded = open_example(*materialise(files, directory))
    return check(loaded, [one.code] if one.profile == "strict" else ()), loaded


def kinds(project: Project) -> Counter[str]:
    """How many things of each kind the sources hold, frontmatter hooks and instruction files included."""
    counted: Counter[str] = Counter()
    for sources in (project.sources, *(other.sources for other in project.others.values())):
        counted.update({name: len(getattr(sources, name)) for name in sources.__struct_fields__})
        for item in (*sources.skills, *sources.commands, *sources.agents):
            counted["hooks"] += len(item.hooks)
    del counted["diagnostics"], counted["credentials"]
    return counted


@pytest.mark.parametrize("one", CHECKS, ids=lambda one: one.code)
def test_fires_on_bad_and_on_nothing_else(one: Check, tmp_path: Path) -> None:
    found, _ = findings(one, one.bad, tmp_path)
    assert {diagnostic.code for diagnostic in found} == {one.code}, [f"{d.code} {d.message}" for d in found]
    for diagnostic in found:
        assert diagnostic.origin.line is not None, diagnostic
        assert diagnostic.message[:1].strip()
        assert not diagnostic.message.endswith("."), diagnostic.message
        assert Path(diagnostic.origin.file).is_file(), diagnostic.origin.file
        assert diagnostic.hint


@pytest.mark.parametrize("one", CHECKS, ids=lambda one: one.code)
def test_is_silent_on_good(one: Check, tmp_path: Path) -> None:
    found, good = findings(one, one.good, tmp_path / "good")
    assert not found, [f"{d.code} {d.message}" for d in found]
    _, bad = findings(one, one.bad, tmp_path / "bad")
    shared = kinds(good) & kinds(bad)
    assert shared.total(), "the good example holds nothing of what the bad one is about"


@pytest.mark.parametrize("one", FIXABLE, ids=lambda one: one.code)
def test_fix_mends_and_is_stable(one: Check, tmp_path: Path) -> None:
    project, home = materialise(one.bad, tmp_path)
    select = [one.code]
    found = check(open_example(project, home), select)
    assert all(diagnostic.fix for diagnostic in found)
    assert apply_fixes(found, unsafe=True).made
    after = {path: path.read_bytes() for path in sorted(project.rglob("*")) if path.is_file()}
    again = check(open_example(project, home), select)
    assert not again, [d.message for d in again]
    assert not apply_fixes(again, unsafe=True).made
    assert after == {path: path.read_bytes() for path in sorted(project.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("one", [one for one in CHECKS if not one.fixable], ids=lambda one: one.code)
def test_only_fixable_checks_offer_a_fix(one: Check, tmp_path: Path) -> None:
    found, _ = findings(one, one.bad, tmp_path)
    assert not any(diagnostic.fix for diagnostic in found)


def test_codes_names_and_modules_agree() -> None:
    assert len(CHECKS) >= 60
    assert len({one.name for one in CHECKS}) == len(CHECKS)
    for one in CHECKS:
        module = one.run.__module__.rsplit(".", 1)[-1]
        assert module.startswith(one.code.lower() + "_"), module
        assert one.summary.endswith(".")
        assert one.why.endswith(".")
        assert one.hint.endswith(".")
