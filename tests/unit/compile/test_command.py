"""`checkrein compile`: what the command answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import NotFoundError, PolicyError, UsageError
from checkrein.cli import compile as command
from checkrein.cli.registry import Outcome

DEFAULTS: dict[str, Any] = {
    argument.name: (() if argument.multiple else False if argument.type == "bool" else argument.default)
    for argument in command.COMMAND.args
}


def call(**given: Any) -> Outcome:
    return command.run(command.Given(**{**DEFAULTS, **given}))


pytestmark = pytest.mark.spec(
    "---\nname: demo\ndescription: d\n---\n\n# Demo\n\nYou are kind.\n\n```bash\nls\n```\n"
)


def test_write_check_edit_force(spec: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    stale = call(spec=str(spec), out=out, check=True)
    assert (stale.status, stale.data.stale, stale.data.written) == (1, True, False)
    assert not (tmp_path / "out").exists()
    made = call(spec=str(spec), out=out)
    assert made.data.written
    assert made.data.package == "demo_mellea"
    assert made.text is not None
    assert "left to a host" in made.text()
    fresh = call(spec=str(spec), out=out, check=True)
    assert (fresh.status, fresh.data.stale) == (0, False)
    spec.write_text(spec.read_text() + "\nNever shout.\n")
    assert call(spec=str(spec), out=out, check=True).status == 1
    (tmp_path / "out" / "demo_mellea" / "config.py").write_text("# mine\n")
    with pytest.raises(PolicyError):
        call(spec=str(spec), out=out)
    assert call(spec=str(spec), out=out, force=True).data.written


def test_without_out_it_is_written_beside_the_spec(spec: Path) -> None:
    call(spec=str(spec))
    assert (spec.parent / "demo_mellea" / "pipeline.py").exists()
    assert call(spec=str(spec), check=True).status == 0


def test_explain(spec: Path) -> None:
    found = call(spec=str(spec), explain="SKILL.md:8")
    assert found.data.explained.element["tag"] == "CONFIG"
    assert found.data.explained.mappings[0]["target_symbol"] == "PREFIX_TEXT"
    assert found.text is not None
    assert "PREFIX_TEXT" in found.text()
    with pytest.raises(NotFoundError):
        call(spec=str(spec), explain="elem_999")


def test_dialects_and_usage(spec: Path) -> None:
    assert {row.name for row in call(list_dialects=True).data.dialects} >= {"claude_code", "letta", "hybrid"}
    for wrong in (
        {"spec": None},
        {"dependencies": "maybe"},
        {"dependencies": "config"},
        {"source_runtime": "nothing"},
        {"source_runtime": "hybrid"},
        {"scope": ("world",)},
    ):
        with pytest.raises(UsageError):
            call(**{"spec": str(spec), **wrong})


def test_strict(spec: Path) -> None:
    with pytest.raises(PolicyError) as caught:
        call(spec=str(spec), dependencies="strict")
    assert caught.value.kind == "strict_halt"


def test_procedures_are_counted_and_explained(tmp_path: Path) -> None:
    spec = tmp_path / "tidy" / "SKILL.md"
    spec.parent.mkdir()
    steps = "1. Read the file\n2. Write the file\n\n"
    spec.write_text(f"---\nname: tidy\ndescription: Tidies.\n---\n## Add\n\n{steps}## Drop\n\n{steps}")
    found = call(spec=str(spec), out=str(tmp_path / "out"))
    assert (found.data.steps, found.data.procedures) == (4, 2)
    assert found.text().startswith("tidy_mellea: 4 steps in 2 procedures, ")
    explained = call(spec=str(spec), explain="SKILL.md:12").text()
    assert "\n  step 3, of the procedure 'Drop'\n" in explained


def test_explain_takes_the_end_of_a_path(tmp_path: Path) -> None:
    spec = tmp_path / ".claude" / "skills" / "tidy" / "SKILL.md"
    spec.parent.mkdir(parents=True)
    spec.write_text("---\nname: tidy\ndescription: Tidies.\n---\n\n1. Read it\n2. Write it\n")
    found = call(spec=str(spec), explain="SKILL.md:7")
    assert found.data.explained.element["source_file"] == ".claude/skills/tidy/SKILL.md"
    assert found.data.explained.element["tag"] == "GENERATE"
