"""Skills labelled by reading them: tag, category and target agree; the packages are sound.

`data/compile/README.md` says how labels are made and what each code stands for. The skills in `own` are ours
and always compared. The others are real ones: only their labels are ours to keep, so they are read from the
directory that CHECKREIN_CORPUS names. README.md says which of them the rules were made with.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from checkrein.compile import grammar
from checkrein.compile.blocks import plain
from checkrein.compile.coverage import lines_of
from checkrein.compile.package import Compiled, compile_spec
from checkrein.facts import compile_words as words
from checkrein.facts.compile import CATEGORIES, ONLY

DATA = Path(__file__).parent / "data" / "compile"
CORPUS = os.environ.get("CHECKREIN_CORPUS", "")
needs_corpus = pytest.mark.skipif(not CORPUS, reason="set CHECKREIN_CORPUS to a directory of real projects")

Labels = dict[int, str]
Said = tuple[str, str, str]


def guide() -> dict[str, Said]:
    """The codes of the guide's two tables: (tag, category, target)."""
    found: dict[str, Said] = {}
    for line in (DATA / "README.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| ") or len(cells[0]) != 1:
            continue
        found[cells[0]] = (cells[1], "C2", cells[2]) if len(cells) == 4 else (cells[1], cells[2], cells[3])
    return found


CODES = guide()
OWN = {
    path.parent.name: {
        int(number): codes
        for number, codes in (line.split("\t") for line in path.read_text("utf-8").splitlines())
    }
    for path in sorted((DATA / "own").glob("*/labels.tsv"))
}
SETS: dict[str, dict[str, Labels]] = {
    path.stem: {
        row["from"]: {int(number): codes for number, codes in row["lines"].items()}
        for row in map(json.loads, path.read_text("utf-8").splitlines())
    }
    for path in sorted(DATA.glob("labels_*.jsonl"))
}
FOREIGN = [source for rows in SETS.values() for source in rows]
# How much must agree: tag, category, target. Where a reader found two codes even, the first counts.
LEAST = {
    "labels_development": (0.9, 0.9, 0.9),
    "labels_held_out": (0.81, 0.84, 0.83),
    "labels_later": (0.83, 0.84, 0.87),
    "labels_last": (0.76, 0.8, 0.8),
    "labels_fresh": (0.85, 0.85, 0.85),
}


def file_of(source: str) -> Path:
    if source in OWN:
        return DATA / "own" / source / "SKILL.md"
    owner, repository, path = source.split("/", 2)
    return Path(CORPUS, f"{owner}__{repository}", path)


@cache
def compiled(source: str) -> Compiled:
    return fresh(source)


def fresh(source: str) -> Compiled:
    """Compiled alone, without what lies beside it."""
    with TemporaryDirectory() as directory:
        spec = Path(directory) / "skill" / "SKILL.md"
        spec.parent.mkdir()
        spec.write_bytes(file_of(source).read_bytes())
        return compile_spec(spec, env={"HOME": "/nonexistent"})


def judged(source: str, labels: Labels) -> Iterable[tuple[bool, bool, bool]]:
    """For every label: does the narrowest element on that line agree with its first code?"""
    made = compiled(source)
    spec = made.inventory.spec.file
    for number, codes in labels.items():
        wanted = CODES[codes.split("/")[0]]
        holding = [
            e for e in made.inventory.elements if e.source_file == spec and number in lines_of(e.source_lines)
        ]
        if not holding:
            yield False, False, False
            continue
        element = min(holding, key=lambda e: len(lines_of(e.source_lines)))
        mapping = next(m for m in made.mappings if m.element_id.split("-")[0] == element.element_id)
        got = (element.tag, element.category, mapping.final_target_file)
        yield got[0] == wanted[0], got[1] == wanted[1], got[2] == wanted[2]


def shares(sources: dict[str, Labels]) -> tuple[int, list[float]]:
    verdicts = [one for source, labels in sources.items() for one in judged(source, labels)]
    return len(verdicts), [sum(one[axis] for one in verdicts) / len(verdicts) for axis in range(3)]


def test_the_guide_has_every_code() -> None:
    assert len(CODES) == 20
    used = {code for rows in (OWN, *SETS.values()) for one in rows.values() for code in one.values()}
    assert {one for code in used for one in code.split("/")} <= set(CODES)


def test_own_skills_agree() -> None:
    count, (tag, category, target) = shares(OWN)
    assert len(OWN) >= 30
    assert count > 800
    assert min(tag, category, target) >= 0.9, (tag, category, target)


@pytest.mark.untraced
@needs_corpus
@pytest.mark.parametrize("name", sorted(LEAST))
def test_real_skills_agree(name: str) -> None:
    _, found = shares(SETS[name])
    assert all(share >= least for share, least in zip(found, LEAST[name], strict=True)), found


def test_no_skill_is_in_two_sets() -> None:
    assert len(set(FOREIGN)) == len(FOREIGN)


def sound(source: str) -> None:
    made = compiled(source)
    assert made.inventory.coverage.passed
    assert made.inventory.coverage.coverage_ratio >= 0.95
    for element in made.inventory.elements:
        assert element.category in ONLY.get(element.tag, CATEGORIES), element
    assert [one.lint_id for one in made.lints if one.verdict == "fail"] == []
    for path, data in made.files.items():
        if path.endswith(".py"):
            ast.parse(data.decode())
    assert fresh(source).files == made.files


@pytest.mark.parametrize("source", sorted(OWN))
def test_own_skill_compiles(source: str) -> None:
    sound(source)


def test_own_packages_are_formatted(tmp_path: Path) -> None:
    ruff = shutil.which("ruff", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if ruff is None:
        pytest.skip("ruff is not installed")
    for source in OWN:
        for path, data in compiled(source).files.items():
            if path.endswith(".py") or path == "pyproject.toml":
                file = tmp_path / source / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
    for command in (["format", "--check"], ["check", "--select", "E9,F,I"]):
        done = subprocess.run(
            [ruff, *command, "--no-cache", str(tmp_path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.parametrize("source", sorted(OWN))
def test_own_package_holds_nothing_unused(source: str) -> None:
    """Every constant, and every function and class but those of the guard, which is one module for all."""
    made = compiled(source)
    modules = {path: data.decode() for path, data in made.files.items() if path.endswith(".py")}
    inside = {path: text for path, text in modules.items() if path.startswith(made.package)}
    used = re.findall(r"\w+", "\n".join(inside.values()))
    counts = Counter(used)
    for path, text in inside.items():
        if "/fixtures/" in path or "/handlers/" in path or path.endswith("guards.py"):
            continue
        for node in ast.walk(ast.parse(text)):
            named = None
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                named = node.name
            elif (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and node.target.id.isupper()
            ):
                named = node.target.id
            if named is not None and not named.startswith("__"):
                assert counts[named] > 1, (path, named)


@pytest.mark.untraced
@needs_corpus
@pytest.mark.parametrize("source", sorted(FOREIGN))
def test_real_skill_compiles(source: str) -> None:
    sound(source)


@needs_corpus
@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("centos-linux-triage", 6),
        ("create-github-issues-for-unmet-specification-requirements", 5),
        ("scaffolding-oracle-to-postgres-migration-test-project", 5),
    ],
)
def test_a_numbered_procedure_gives_as_many_steps(name: str, steps: int) -> None:
    source = next(one for one in FOREIGN if one.split("/")[-2] == name)
    assert len(compiled(source).blueprint.steps) == steps


def test_what_is_asked_first_leaves_nothing_out() -> None:
    """Words that are looked for before a pattern stand in everything that the pattern finds."""
    texts = [plain(line) for source in OWN for line in file_of(source).read_text("utf-8").splitlines()]
    found = 0
    for text in texts:
        if words.ASK_USER.search(text):
            found += 1
            assert grammar.asks_someone(text), text
        if words.RULE.search(text) or words.STRONG_RULE.search(text):
            found += 1
            assert grammar.is_modal(text), text
        verb = grammar.leading_verb(text)
        if words.ASKS.match(text) or (verb is not None and verb[1] == "CONVERSE"):
            found += 1
            assert grammar.may_ask(text), text
    assert found > 100
