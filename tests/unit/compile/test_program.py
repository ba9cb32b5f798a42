"""Programs: where gates stand, what loops and routes, which types steps and parameters have, what is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checkrein.compile.fences import widened
from checkrein.compile.package import Compiled, Options, compile_spec
from checkrein.compile.program.choices import choices_in
from checkrein.compile.program.gates import read_gates
from checkrein.compile.program.outline import read_outline


def compiled(base: Path, body: str, fields: str = "", **options: Any) -> Compiled:
    path = base / "skills" / "demo" / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: demo\ndescription: Does a thing.\n{fields}---\n\n# Demo\n\n{body}", "utf-8")
    return compile_spec(path, Options(**options), env={"HOME": "/nonexistent"})


def program(made: Compiled) -> list[str]:
    text = made.files["demo_mellea/pipeline.py"].decode()
    body = text.split("def run_steps(run: Run) -> None:\n")[1].split("\n\n\n")[0]
    return [line.strip() for line in body.split("\n")[1:]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ask the user which branch it is.", True),
        ("Wait for approval before proceeding.", True),
        ("Do not proceed until the user confirms.", True),
        ("Never push without explicit approval.", True),
        ("**HARD-GATE**: no code before the design is approved", True),
        ("Use the AskUserQuestion tool for each choice.", True),
        ("Do not ask the user for confirmation; just go on.", False),
        ("If the user asks for a summary, write one.", False),
        ("Confirm that the tests pass.", False),
        ("Users can choose between two plans.", False),
    ],
)
def test_what_is_a_gate(text: str, found: bool) -> None:
    assert bool(read_gates(read_outline(text, 1))) == found


def test_a_gate_stands_before_what_can_not_be_undone(tmp_path: Path) -> None:
    body = (
        "## Steps\n\n1. List the branches\n2. Show the list\n3. Delete the branches\n\n"
        "## Rules\n\n- Always ask for confirmation before deleting anything.\n"
    )
    made = compiled(tmp_path, body)
    assert [(gate.before, gate.questions) for gate in made.blueprint.gates] == [
        ("step_03_delete_the_branches", False)
    ]
    lines = program(made)
    gate = lines.index("if not gate_03_delete_the_branches(run):")
    assert lines[gate + 1] == 'run.stop("gate_03_delete_the_branches")'
    assert any("step_03_delete_the_branches(run)" in line for line in lines[gate + 2 :])
    assert "review_gated" in made.classification.secondary_modalities


def test_a_step_that_asks_for_approval_is_the_gate(tmp_path: Path) -> None:
    made = compiled(tmp_path, "## Steps\n\n1. Write the plan\n2. Wait for approval of the plan\n3. Push it\n")
    assert made.blueprint.steps[1].result == "consent"
    assert "if not step_02_wait_for_approval_of_the_plan(run):" in program(made)


def test_a_question_on_a_condition_is_asked_only_then(tmp_path: Path) -> None:
    question = "If the audience is unclear, ask the user which one it is."
    body = f"## Steps\n\n1. Read the notes\n2. Write the report\n\n{question}\n"
    assert program(compiled(tmp_path, body))[:2] == [
        "for question in questions_01_read_the_notes(run):",
        'run.ask("questions_01_read_the_notes", question)',
    ]


def test_a_loop_goes_over_the_list_of_the_step_before(tmp_path: Path) -> None:
    lines = program(
        compiled(
            tmp_path,
            "## Steps\n\n1. Find all changed files\n2. For each file, write a note\n3. Write the report\n",
        )
    )
    assert "for item in found_01:" in lines
    assert "step_02_for_each_file_write_a_note(run, item)" in lines


def test_a_condition_on_a_label_is_a_comparison(tmp_path: Path) -> None:
    steps = "1. Classify the note as `bug` or `wish`\n2. If it is a bug, write a test\n3. Write the reply\n"
    body = f"## Steps\n\n{steps}"
    assert 'if found_01 == "bug":' in program(compiled(tmp_path, body))


def test_cases_are_a_route(tmp_path: Path) -> None:
    body = (
        "## Steps\n\n1. Choose the way by size:\n   - **Small**: write one commit\n"
        "   - **Large**: split the work first\n"
        "2. Write the report\n"
    )
    made = compiled(tmp_path, body)
    assert program(made)[:2] == ["way_01 = choose_01(run)", "step_01_choose_the_way_by_size(run, way_01)"]
    assert b'Way01 = Literal[\n    "Small",\n    "Large",\n]' in made.files["demo_mellea/schemas.py"]


def test_a_failed_check_repeats_the_step_it_names(tmp_path: Path) -> None:
    steps = "1. Write the text\n2. Check the links. If any fail, go back to step 1\n3. Write the summary\n"
    body = f"## Steps\n\n{steps}"
    lines = program(compiled(tmp_path, body))
    assert "for _ in range(config.MAX_REMEDIATION_ITERATIONS):" in lines
    assert "step_01_write_the_text(run, found_02.findings)" in lines


def test_a_template_is_a_typed_report(tmp_path: Path) -> None:
    template = "## Summary\n[text]\n## Findings\n| File | Severity |\n|---|---|\n| [x] | [High/Low] |\n"
    steps = "## Steps\n\n1. Read the code\n2. Write the report\n\n"
    body = f"{steps}## Output format\n\n```markdown\n# Review\n{template}```\n"
    made = compiled(tmp_path, body)
    schemas = made.files["demo_mellea/schemas.py"].decode()
    assert 'severity: Literal["High", "Low"]' in schemas
    assert "findings: list[Finding]" in schemas
    assert made.blueprint.steps[-1].result == "report"


def test_parameters_have_types_and_defaults(tmp_path: Path) -> None:
    body = (
        "## Inputs\n\n| Name | Type | Default |\n|---|---|---|\n| depth | `quick` or `full` | `quick` |\n"
        "| limit | integer | 10 |\n| verbose | boolean | false |\n\n## Steps\n\n1. Read it\n2. Write it\n"
    )
    found = {one.name: (one.annotation, one.default) for one in compiled(tmp_path, body).blueprint.parameters}
    assert found == {
        "depth": ('Literal["quick", "full"]', '"quick"'),
        "limit": ("int", "10"),
        "verbose": ("bool", "False"),
    }


def test_a_spec_without_steps_is_told_by_chapter(tmp_path: Path) -> None:
    body = (
        "## Pods\n\nPods hold containers.\n\n## Nodes\n\nNodes hold pods.\n\n## Rules\n\nNever run as root.\n"
    )
    made = compiled(tmp_path, body)
    assert made.blueprint.program.topics == ("Pods", "Nodes")
    assert made.blueprint.steps[0].sections == ("Rules",)


def test_a_skill_of_a_collection_stands_alone(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "CLAUDE.md").write_text("Contributors must sign their commits.\n")
    alone = compiled(tmp_path, "Tea is hot.\n")
    assert {one.source_file for one in alone.inventory.elements} == {"skills/demo/SKILL.md"}
    assert any("CLAUDE.md" in note for note in alone.inventory.notes.skipped_scopes)
    whole = compiled(tmp_path, "Tea is hot.\n", workspace_scope="repo")
    assert "CLAUDE.md" in {one.source_file for one in whole.inventory.elements}


def test_fences_inside_fences_are_matched() -> None:
    text = "```markdown\n# x\n```bash\nls\n```\n```\n\nText.\n"
    assert widened(text).startswith("````markdown\n")
    assert widened(text).count("````") == 2
    plain = "```bash\nls\n```\n\n```bash\npwd\n```\n"
    assert widened(plain) == plain


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("[High/Medium/Low]", ("High", "Medium", "Low")),
        ("`pass | fail`", ("pass", "fail")),
        ("[name]", ()),
        ("[a/b, etc.]", ()),
        ("src/main/java", ()),
    ],
)
def test_sets_of_values(text: str, values: tuple[str, ...]) -> None:
    assert choices_in(text) == values
