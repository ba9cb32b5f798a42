"""Each lint notices its defect in a package that is sound otherwise; the table below names all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.compile.lint import LINTS, lint
from checkrein.compile.package import Compiled, Options, compile_spec
from checkrein.compile.plan import Override

SPEC = """---
name: demo
description: d
allowed-tools: Bash(git log:*) Read
---

## Process

1. Extract the names
2. Write the report

Set SERVICE_API_KEY first.

## Prerequisites

- `SERVICE_API_KEY` is set
"""
KEY = "aZ3kQ9xW7mP2vL8nR4tY6uJ1cB5dF0gH" + "sEoIiXpT"


def compiled(base: Path, text: str = SPEC, **options: object) -> Compiled:
    path = base / "SKILL.md"
    path.write_text(text, encoding="utf-8")
    return compile_spec(path, Options(**options), env={"HOME": str(base / "home")})  # type: ignore[arg-type]  # passed on


# The file below the package, what stands there, what is put in its place.
DEFECTS = {
    "parseable": ("config.py", "MODEL_ID: Final", "MODEL_ID: Final["),
    "cross-reference": ("pipeline.py", "def step_02_", "def other_"),
    "import-side-effects": ("main.py", "def about", "os.Remove('x')\n\n\ndef about"),
    "import-soundness": ("session.py", "import start_session", "import react"),
    "generative-forbidden-params": ("slots.py", "so_far: str", "context: str"),
    "pipeline-entry-canonical": ("pipeline.py", "request: str", "request"),
    "fixture-signature-bound": ("fixtures/minimal.py", '"request"', '"other"'),
    "fixtures-loader-contract": ("fixtures/__init__.py", "ALL_FIXTURES", "SOME"),
    "guard-before-host": ("constrained_slots.py", "    GUARD.check(", "    print("),
    "report-headings": ("mapping_report.md", "## 4.", "## 44."),
    "category-specific": (
        "config.py",
        "BACKEND: Final[str]",
        f'KEY: Final[str] = "{KEY}"\nBACKEND: Final[str]',
    ),
    "melleafy-json-consistency": ("melleafy.json", '"count": 1', '"count": 7'),
}


def findings(made: Compiled, files: dict[str, bytes]) -> dict[str, str]:
    results = lint(made.package, files, made.inventory.elements, made.mappings)
    return {one.lint_id: one.verdict for one in results if one.verdict in ("fail", "warning")}


@pytest.mark.parametrize("name", DEFECTS)
def test_the_lint_notices(name: str, tmp_path: Path) -> None:
    made = compiled(tmp_path)
    assert findings(made, made.files) == {}
    path, old, new = DEFECTS[name]
    where = f"{made.package}/{path}"
    text = made.files[where].decode()
    assert old in text
    files = {**made.files, where: text.replace(old, new).encode()}
    severity = "error" if name == "parseable" else LINTS[name][1]
    found = findings(made, files)
    assert found[name] == ("fail" if severity == "error" else "warning")
    assert set(found) == {name}


def test_a_server_that_nothing_uses(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {"db": {"command": "x"}}}')
    made = compiled(tmp_path, workspace_scope="repo")
    assert findings(made, made.files) == {"unused-mcp-server": "warning"}


def test_the_table_is_whole() -> None:
    assert {*DEFECTS, "unused-mcp-server"} == {"parseable", *LINTS}


def test_code_beside_the_spec_is_carried_and_not_judged(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "broken.py").write_text("def broken(:\n")
    made = compiled(tmp_path)
    assert f"{made.package}/scripts/broken.py" in made.files
    assert findings(made, made.files) == {}


@pytest.mark.parametrize("mode", ["remove", "mock"])
def test_a_decision_against_a_tool_gives_a_sound_package(tmp_path: Path, mode: str) -> None:
    made = compiled(tmp_path, overrides=(Override("C6:constrained_slots.py:run_bash", mode, "x"),))  # type: ignore[arg-type]  # a disposition
    assert [one.lint_id for one in made.lints if one.verdict == "fail"] == []
    slots = made.files.get(f"{made.package}/constrained_slots.py", b"")
    assert (b"def run_bash" in slots) is (mode == "mock")


def test_a_local_host_without_work(tmp_path: Path) -> None:
    made = compiled(tmp_path, "---\nname: demo\ndescription: d\n---\n\nTea is hot.\n", host="local")
    assert [one.lint_id for one in made.lints if one.verdict == "fail"] == []
    assert f"{made.package}/host_local.py" not in made.files
    assert "checkrein" not in made.files["pyproject.toml"].decode().split("dependencies")[1].split("]")[0]
    assert any("--host local has nothing to do" in warning for warning in made.warnings)
