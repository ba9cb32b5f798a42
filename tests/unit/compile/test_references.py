"""Files beside a spec: roles, elements, what a package reads when it runs."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from checkrein.compile.details import ScriptDetails
from checkrein.compile.package import Compiled, compile_spec
from checkrein.compile.write import write
from checkrein.facts import compile as facts

SKILL = """---
name: demo
description: Check changes. Use when a change is ready.
---

# Demo

Checks a change and writes a note.

## Workflow

1. Read the change and sort it with `references/levels.json`
2. Check it against `references/rules.md`
3. Write the note from [the template](examples/note.md)

## More

Read `references/deep.md` when the change touches the kernel.

## Gone

See `references/gone.md` for the rest. The script `fix.py` helps.
"""
FILES = {
    "references/rules.md": "# Rules\n\n- Never merge red\n",
    "references/deep.md": "# Deep things\n",
    "references/levels.json": '{"a": 1}\n',
    "references/unnamed.md": "# Nobody asks\n",
    "references/picture.png": "png",
    "scripts/check.py": '"""Checks a file."""\n',
    "scripts/data.bin": "x",
    "assets/logo.svg": "<svg/>",
    "examples/note.md": "# Note\n",
    "examples/other.md": "# Not named\n",
    "fix.py": "print(2)\n",
    "evals/one.json": "{}",
    ".env": "A=b",
}


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    for name, text in {**FILES, "SKILL.md": SKILL}.items():
        path = tmp_path / "demo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "demo"


def compiled(skill: Path) -> Compiled:
    return compile_spec(skill / "SKILL.md", env={"HOME": "/nonexistent"})


def loader_of(made: Compiled, out: Path) -> ModuleType:
    write(str(out), made.package, made.files)
    spec = importlib.util.spec_from_file_location("loader", out / made.package / "loader.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_file_has_its_role(skill: Path) -> None:
    roles = {file.path: file.role for file in compiled(skill).inventory.files}
    assert roles["references/rules.md"] == "C3 reference"
    assert roles["references/levels.json"] == "C5 structured data"
    assert roles["references/picture.png"] == "carried with the references"
    assert roles["scripts/check.py"] == "C6 script"
    assert roles["scripts/data.bin"] == "carried with the scripts"
    assert roles["assets/logo.svg"] == "asset, carried"
    assert roles["examples/note.md"] == "C3 reference"
    assert roles["fix.py"] == "C6 script"
    assert roles["evals/"] == "existence only"
    assert "examples/other.md" not in roles


def test_what_is_named_travels_and_the_rest_does_not(skill: Path) -> None:
    files = compiled(skill).files
    carried = {path.split("/", 1)[1] for path in files if path.startswith("demo_mellea/")}
    assert {"references/examples/note.md", "scripts/fix.py", "assets/logo.svg", "scripts/data.bin"} <= carried
    assert not any("other.md" in path or "evals" in path or ".env" in path for path in carried)


def test_a_line_that_points_to_a_file_loads_it(skill: Path) -> None:
    made = compiled(skill)
    by_text = {
        element.content_full.split(" ")[1]: element
        for element in made.inventory.elements
        if "`" in element.content_full
    }
    there, gone = by_text["`references/deep.md`"], by_text["`references/gone.md`"]
    assert (there.tag, there.category) == ("TOOL_INPUT", "C3")
    assert (gone.tag, gone.category) == ("NO_DECOMPOSE", "—")
    mapping = next(one for one in made.mappings if one.element_id == there.element_id)
    assert (mapping.final_target_file, mapping.target_symbol, mapping.primitive) == (
        "loader.py",
        "read",
        "loader_call",
    )
    entry = next(one for one in made.plan if there.element_id in one.source_elements)
    assert entry.disposition == "load_from_disk"


def test_steps_are_given_what_they_name(skill: Path, tmp_path: Path) -> None:
    made = compiled(skill)
    loader = loader_of(made, tmp_path / "out")
    assert loader.named_in("See references/deep.md") == {"references/deep.md": "# Deep things\n"}
    check = next(step for step in made.blueprint.steps if "rules.md" in step.text)
    assert loader.named_in(check.text) == {"references/rules.md": FILES["references/rules.md"]}
    note = next(step for step in made.blueprint.steps if "note.md" in step.text)
    assert loader.named_in(note.text) == {"examples/note.md": "# Note\n"}
    session = made.files["demo_mellea/session.py"].decode()
    assert "loader.named_in(" in session


def test_scripts_are_commands_for_a_host(skill: Path) -> None:
    made = compiled(skill)
    scripts = [element for element in made.inventory.elements if isinstance(element.details, ScriptDetails)]
    assert [(one.tag, one.category, one.content_full) for one in scripts] == [
        ("TOOL_TEMPLATE", "C6", "python scripts/check.py  # Checks a file."),
        ("TOOL_TEMPLATE", "C6", "python scripts/fix.py"),
    ]
    config = made.files["demo_mellea/config.py"].decode()
    assert "python scripts/check.py" in config
    assert "constrained_slots.py:run_bash" in {entry.target for entry in made.plan}


def test_long_references_are_carried_with_a_warning(skill: Path) -> None:
    (skill / "references/deep.md").write_text("x" * (facts.REFERENCE_CHARS + 1), "utf-8")
    made = compiled(skill)
    assert any("references/deep.md is carried" in warning for warning in made.warnings)
    assert '"references/deep.md"' not in made.files["demo_mellea/loader.py"].decode()
    assert "demo_mellea/references/deep.md" in made.files


def test_nothing_outside_the_directory_is_taken(skill: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n", "utf-8")
    (skill / "inside.md").symlink_to(tmp_path / "secret.md")
    text = SKILL + "\nSee `../secret.md` and [inside](inside.md) and `.env`.\n"
    (skill / "SKILL.md").write_text(text, "utf-8")
    made = compiled(skill)
    assert not any("secret" in path or "inside" in path for path in made.files)
    assert b"# Secret" not in b"".join(made.files.values())


def test_a_skill_without_companions_has_no_loader(skill: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone" / "SKILL.md"
    alone.parent.mkdir()
    alone.write_text(SKILL, "utf-8")
    made = compile_spec(alone, env={"HOME": "/nonexistent"})
    assert "demo_mellea/loader.py" not in made.files
    assert "loader" not in made.files["demo_mellea/session.py"].decode()


def test_a_reference_may_be_left_out(skill: Path, tmp_path: Path) -> None:
    made = compiled(skill)
    plan = json.loads(made.files["demo_mellea/intermediate/dependency_plan.json"])
    entries = [one for one in plan["plan"] if one["target"] == "loader.py:read"]
    assert {one["category"] for one in entries} == {"c3_user_facts", "c5_long_term_memory"}
    assert {one["disposition"] for one in entries} == {"load_from_disk"}
