"""Procedures that stand apart: a run takes those that the request calls for, never all in a row."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.compile.body import split_body
from checkrein.compile.package import Compiled, compile_spec

LIST = "1. Read the file\n2. Write the file\n\n"
BODIES = {
    "one list": (f"## Steps\n\n{LIST}", []),
    "two headings": (f"## Pair\n\n{LIST}## Deny\n\n{LIST}", [("Pair", 2), ("Deny", 2)]),
    "code in a heading": (
        f"## `pair <code>`\n\n{LIST}## `deny`\n\n{LIST}",
        [("pair <code>", 2), ("deny", 2)],
    ),
    "phases": (f"## Phase 1: Plan\n\n{LIST}## Phase 2: Build\n\n{LIST}", []),
    "lists in phases": (f"## Phase 1\n\n### Plan\n\n{LIST}## Phase 2\n\n### Build\n\n{LIST}", []),
    "counted headings": (f"## Process\n\n### 1. Read it\n\n{LIST}### 2. Write it\n\n{LIST}", []),
    "bold numbers": ("**1. Get the list:**\n\nx\n\n**2. Write the list:**\n\ny\n", []),
    "phases that start again": (
        "## New\n\n### Step 1: Plan\n\nx\n\n### Step 2: Build\n\nx\n\n"
        "## Old\n\n### Step 1: Read\n\nx\n\n### Step 2: Change\n\nx\n",
        [("New", 2), ("Old", 2)],
    ),
    "a list that goes on": (
        f"## Steps\n\n{LIST}### Defaults\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "3. Check the file\n4. Send the file\n",
        [],
    ),
    "two lists with a lead": (
        f"## Process\n\nFor new files:\n\n{LIST}For old files:\n\n{LIST}",
        [("Process", 2), ("For old files", 2)],
    ),
    "two lists without one": (f"## Process\n\n{LIST}Then go on.\n\n{LIST}", []),
    "no heading": (f"To pair:\n\n{LIST}To deny:\n\n{LIST}", [("To pair", 2), ("To deny", 2)]),
    "between phases": (
        f"## Phase 1: Plan\n\nx\n\n## Asides\n\n{LIST}## Phase 2: Build\n\nx\n\n## Else\n\n{LIST}",
        [("Plan", 4), ("Else", 2)],
    ),
    "the same heading": (
        f"## Users\n\n### Add\n\n{LIST}## Groups\n\n### Add\n\n{LIST}",
        [("Users: Add", 2), ("Groups: Add", 2)],
    ),
    "an example": (f"## Steps\n\n{LIST}## Examples\n\n### Rename a file\n\n{LIST}", []),
    "a heading without words": (f"##\n\n{LIST}## :\n\n{LIST}", [("Steps", 2), ("Steps (2)", 2)]),
    "the same path": (f"## Add\n\n{LIST}## Else\n\nx\n\n## Add\n\n{LIST}", [("Add", 2), ("Add (2)", 2)]),
}


def titles(body: str) -> list[tuple[str, int]]:
    steps = [piece for piece in split_body(body) if piece.step]
    found = [(title, len(list(members))) for title, members in groupby(steps, lambda one: one.procedure)]
    return [] if found == [("", len(steps))] else found


def test_what_stands_under_examples_is_no_step() -> None:
    pieces = split_body(BODIES["an example"][0])
    assert [piece.start for piece in pieces if piece.step] == [3, 4]


@pytest.mark.parametrize("case", BODIES)
def test_which_steps_belong_together(case: str) -> None:
    body, expected = BODIES[case]
    assert titles(body) == expected


SECTION = st.tuples(
    st.sampled_from(["#", "##", "###"]),
    st.sampled_from(["Add", "Phase 1", "Phase 2: Go", "3. Do it", "Step 1", "Setup", "Process", "Example"]),
    st.sampled_from(["", "Text.\n\n", "For this:\n\n"]),
    st.sampled_from(["", LIST, "3. Read more\n4. Write more\n\n", LIST + "Then:\n\n" + LIST]),
)


@given(st.lists(SECTION, max_size=8))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_every_step_is_in_one_and_each_stands_in_one_place(sections: list[tuple[str, str, str, str]]) -> None:
    body = "".join(f"{marks} {title}\n\n{lead}{steps}" for marks, title, lead, steps in sections)
    found = titles(body)
    assert len(found) != 1
    assert len({title for title, _ in found}) == len(found)
    assert all(title for title, _ in found)


def build(base: Path, body: str, head: str = "") -> Compiled:
    spec = base / ".claude" / "skills" / "access" / "SKILL.md"
    spec.parent.mkdir(parents=True)
    spec.write_text(f"---\nname: access\ndescription: Lets people in.\n{head}---\n\n{body}")
    return compile_spec(spec, env={"HOME": str(base)})


TWO = (
    f'## Pair\n\nWhen someone is new:\n\n{LIST}## `deny "x"`\n\n1. Read the list\n2. Check the list\n\n'
    "## Output\n\nThe answer must start with `Done:`.\n"
)


def test_a_run_asks_which_it_takes_and_answers_at_the_end(tmp_path: Path) -> None:
    files = {path: data.decode() for path, data in build(tmp_path, TWO).files.items()}
    pipeline = files["access_mellea/pipeline.py"]
    assert '    "Pair": procedure_pair,\n    \'deny "x"\': procedure_deny_x,\n' in pipeline
    assert (
        "for title in choose_procedures(run):\n        PROCEDURES[title](run)\n    answer(run)\n" in pipeline
    )
    assert "def procedures(self) -> list[ProcedureName]:" in files["access_mellea/session.py"]
    assert "When someone is new: Read the file; Write the file" in files["access_mellea/config.py"]
    assert 'ANSWER_STEP: Final[str] = "answer"' in files["access_mellea/config.py"]
    assert "### Pair\n\n1. Read the file (`step_01_read_the_file`" in files["access_mellea/README.md"]
    assert "procedure Pair | it stands alone" in files["access_mellea/mapping_report.md"]


def test_one_procedure_asks_nothing(tmp_path: Path) -> None:
    files = build(tmp_path, f"## Steps\n\n{LIST}").files
    for name in ("pipeline", "session", "schemas", "config"):
        assert b"rocedure" not in files[f"access_mellea/{name}.py"]


def test_a_stream_ends_in_the_answer(tmp_path: Path) -> None:
    compiled = build(tmp_path, f"Use --output-format stream-json.\n\n{TWO}")
    pipeline = compiled.files["access_mellea/pipeline.py"].decode()
    assert "        yield from answer(run)\n" in pipeline
    assert pipeline.count("Iterator[str]:") == 2
    assert "    for title in choose_procedures(run):" in pipeline


def test_a_conversation_keeps_to_its_steps(tmp_path: Path) -> None:
    compiled = build(tmp_path, f"A conversational assistant. Go on with `claude --resume`.\n\n{TWO}")
    assert compiled.classification.modality == "conversational_session"
    assert b"PROCEDURES" not in compiled.files["access_mellea/pipeline.py"]


def test_secrets_in_headings_stay_out(tmp_path: Path) -> None:
    key = "ghp_" + "a1B2" * 9
    other = "ghp_" + "c3D4" * 9
    body = f"## Pair {key}\n\n{LIST}## Deny\n\n{LIST}## Pair {other}\n\n{LIST}"
    compiled = build(tmp_path, body)
    for secret in (key, other):
        assert all(secret.encode() not in data for data in compiled.files.values())
    found = {one.title: [step.number for step in one.steps] for one in compiled.blueprint.procedures}
    assert list(found.values()) == [[1, 2], [3, 4], [5, 6]]
