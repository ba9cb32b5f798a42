"""The pages say what is true: links lead somewhere, commands exist, CI runs the README's test command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checkrein.cli import registry

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_LINK = re.compile(r"\[[^\]]*\]\((?!https?:|#)([^)#\s]+)")
_COMMAND = re.compile(r"^(?:\$ )?checkrein ([a-z][a-z-]*)", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken = [link for link in _LINK.findall(page.read_text("utf-8")) if not (page.parent / link).exists()]
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_examples_exist(page: Path) -> None:
    heads = {name.split(" ")[0] for name in registry.names()}
    blocks = re.findall(r"```(?:console|sh|bash)\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    unknown = {name for block in blocks for name in _COMMAND.findall(block)} - heads
    assert unknown == set()


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert "./dev test" in (ROOT / "README.md").read_text("utf-8")
    assert "\n./dev test\n" in (ROOT / ".ci" / "run").read_text("utf-8")


def test_every_page_is_reachable_from_the_readme() -> None:
    reached = {ROOT / "README.md"}
    pending = [ROOT / "README.md"]
    while pending:
        page = pending.pop()
        for link in _LINK.findall(page.read_text("utf-8")):
            target = (page.parent / link).resolve()
            if target.suffix == ".md" and target.exists() and target not in reached:
                reached.add(target)
                pending.append(target)
    decisions = set((ROOT / "docs" / "decisions").glob("*.md"))
    assert set(PAGES) - reached - decisions == set()


def test_modules_on_the_page_of_the_architecture_exist() -> None:
    source = ROOT / "src" / "checkrein"
    known = {str(path.relative_to(source)) for path in source.rglob("*.py")}
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = re.findall(r"`([a-z_/]+\.py)`", text)
    assert [name for name in named if not any(f"/{one}".endswith(f"/{name}") for one in known)] == []


def test_no_page_names_this_machine() -> None:
    for page in PAGES:
        text = page.read_text("utf-8")
        assert f"{ROOT}/" not in text
        assert "/root/" not in text


def test_the_modules_of_the_architecture_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", page))
    assert len(named) > 25
    assert {name for name in named if not (ROOT / "src" / "checkrein" / name).is_file()} == set()
    table = re.findall(r"^\| (\d+) \| `", page, re.MULTILINE)
    assert [int(number) for number in table] == list(range(1, len(table) + 1))
    assert len(table) <= 12


@pytest.mark.parametrize("page", ["agents", "mcp", "plugins"])
def test_tests_and_topics_of_facts_exist(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8").partition("## Facts and tests")[2]
    rows = [line.split("|")[2].strip() for line in text.splitlines() if line.startswith("|")][2:]
    tests = [(path.name, path.read_text("utf-8")) for path in (ROOT / "tests").rglob("test_*.py")]
    topics = (ROOT / "docs" / "divergences.md").read_text("utf-8")
    assert len(rows) > 40
    for row in rows:
        named, told = re.findall(r"`(test_\w+\.py)::(test_\w+)`", row), re.findall(r'"([^"]+)"', row)
        assert named or told, row
        for file, name in named:
            assert any(file == one and f"def {name}(" in source for one, source in tests), f"{file}::{name}"
        assert [topic for topic in told if f"| {topic} |" not in topics] == []
