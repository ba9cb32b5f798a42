"""What steps are called, what closes a run, and the commands beside the steps."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.compile.package import Compiled, compile_spec

HEAD = "---\nname: demo\ndescription: Does a thing.\n---\n\n# Demo\n\n"


def compiled(tmp_path: Path, body: str) -> Compiled:
    path = tmp_path / "demo" / "SKILL.md"
    path.parent.mkdir()
    path.write_text(HEAD + body, "utf-8")
    return compile_spec(path, env={"HOME": "/nonexistent"})


def text_of(made: Compiled, name: str) -> str:
    return made.files[f"demo_mellea/{name}"].decode()


@pytest.mark.parametrize(
    ("step", "title", "function"),
    [
        ("**Frame one decision.** Write one question.", "Frame one decision", "frame_one_decision"),
        ("**Collect the notes**: all of them", "Collect the notes", "collect_the_notes"),
        ("**Confirm**: ask for the number", "Confirm: ask for the number", "confirm_ask_for_the_number"),
        (
            "Read the whole of\n   the diff. Then stop.",
            "Read the whole of the diff",
            "read_the_whole_of_the_diff",
        ),
        ("Run `a.b` and `c.d`. Look.", "Run a.b and c.d", "run_a_b_and_c_d"),
        ("Read these:\n   - one\n   - two", "Read these:", "read_these"),
    ],
)
def test_a_step_is_called_by_its_bold_head_or_its_first_sentence(
    tmp_path: Path, step: str, title: str, function: str
) -> None:
    made = compiled(tmp_path, f"## Process\n\n1. {step}\n2. Write the report\n")
    assert made.blueprint.steps[0].title == title
    assert made.blueprint.steps[0].function == f"step_01_{function}"


@pytest.mark.parametrize(
    ("last", "closes"),
    [
        ("Verify every claim", True),
        ("If it is bad, choose another one", True),
        ("Extract the names", True),
        ("Classify the note as `bug` or `wish`", False),
        ("Write the report", False),
        ("Fix the text and repeat until the check passes", False),
    ],
)
def test_a_last_step_that_is_no_answer_is_followed_by_one(tmp_path: Path, last: str, closes: bool) -> None:
    made = compiled(tmp_path, f"## Process\n\n1. Write the draft\n2. {last}\n")
    assert len(made.blueprint.steps) == 2
    assert (made.blueprint.closing is not None) == closes
    pipeline = text_of(made, "pipeline.py")
    assert ("def answer(run: Run) -> str:" in pipeline) == closes
    assert ("    answer(run)\n" in pipeline) == closes
    assert ("ANSWER:" in text_of(made, "config.py")) == closes
    assert ("answer follows it" in text_of(made, "mapping_report.md")) == closes
    assert ("`answer` then writes one" in text_of(made, "README.md")) == closes


def test_rules_on_the_answer_wait_for_what_closes_the_run(tmp_path: Path) -> None:
    body = (
        "1. Write the draft\n2. Verify every claim\n\n## Output\n\n- The answer must start with `Draft:`.\n"
    )
    made = compiled(tmp_path, f"## Process\n\n{body}")
    assert made.blueprint.answer_step == "answer"
    assert 'ANSWER_STEP: Final[str] = "answer"' in text_of(made, "config.py")


def test_a_stream_gives_its_last_step_in_pieces(tmp_path: Path) -> None:
    body = "Use --output-format stream-json.\n\n## Process\n\n1. Write the draft\n2. Verify every claim\n"
    made = compiled(tmp_path, body)
    assert made.blueprint.closing is None, "a stream gives text: its last step is the answer"
    assert "yield from step_02_verify_every_claim(run)" in text_of(made, "pipeline.py")


def test_an_input_called_answer_does_not_hide_the_function(tmp_path: Path) -> None:
    path = tmp_path / "SKILL.md"
    head = HEAD.replace("description:", "arguments: [answer]\ndescription:")
    path.write_text(f"{head}## Process\n\n1. Write it\n2. Verify it\n", "utf-8")
    made = compile_spec(path, env={"HOME": "/nonexistent"})
    assert [one.name for one in made.blueprint.parameters] == ["answer_value"]


def test_what_is_to_know_above_the_first_heading_has_a_title(tmp_path: Path) -> None:
    made = compiled(
        tmp_path, "You brew tea.\n\nTea is made of leaves.\n\n## Kinds\n\nThere are many kinds of tea.\n"
    )
    constants = {one.name: one.value for one in made.blueprint.constants}
    assert constants["KNOWLEDGE"] == {
        "General": "Tea is made of leaves.",
        "Kinds": "There are many kinds of tea.",
    }


def test_headings_of_commands_are_comments_of_the_shell(tmp_path: Path) -> None:
    made = compiled(tmp_path, "## Build\n\n```bash\nmake all\n```\n\n## Rules\n\nNever run it twice.\n")
    constants = {one.name: one.value for one in made.blueprint.constants}
    assert constants["COMMAND_TEMPLATES"] == {"Build": "# Build\nmake all"}
    assert constants["OPERATING_RULES"] == {"Rules": "Never run it twice."}


@pytest.mark.parametrize(
    ("step", "labels"),
    [
        ("Classify the note as `bug`, `wish` or `question`.", ("bug", "wish", "question")),
        ("Determine the server type (stdio, SSE, HTTP)", ("stdio", "SSE", "HTTP")),
        ("Classify the request as new, open, or closed.", ("new", "open", "closed")),
        ("Sort the request into one of three groups: logic, tests, noise.", ("logic", "tests", "noise")),
        ("Classify the issue:\n   - **High**: bad\n   - **Low** (fine)", ("High", "Low")),
        (
            "Classify the issue:\n   - **High**: bad\n   - **Low**\n\n   Cause:\n   - **Us**\n",
            ("High", "Low"),
        ),
        ("Determine the event type (bash, file, stop, etc.)", ()),
        ("Classify each finding as `high` or `low`.", ("high", "low")),
        ("Classify the findings:\n   - **High**: bad\n   - **Low**: fine", ()),
        ("Classify the file:\n   - `<name>.json`\n   - `a/b.yaml`", ()),
        ("Classify the trigger:\n   - `push`, `pull` → fine\n   - `tag` → bad", ()),
    ],
)
def test_one_label_for_one_thing(tmp_path: Path, step: str, labels: tuple[str, ...]) -> None:
    made = compiled(tmp_path, f"## Process\n\n1. {step}\n2. Write the report\n")
    first = made.blueprint.steps[0]
    assert (first.tag, first.labels) == ("CLASSIFY", labels)
    assert ("Label01 = Literal[" in text_of(made, "schemas.py")) == bool(labels)


LED = """## Safety

You must never do this:

- Commit secrets
- Push to `main`

| Folder | Why |
|---|---|
| out | generated |

Files that nobody may touch:

| File | Owner |
|---|---|
| a.lock | the tool |

## Reply

Answer with this, and nothing else:

> All is well.

## Checks

Look at the state first:

```bash
git status
```
"""


def test_what_a_line_leads_to_keeps_it_wherever_it_goes(tmp_path: Path) -> None:
    made = compiled(tmp_path, LED)
    constants = {one.name: one.value for one in made.blueprint.constants}
    rules = "\n".join(constants["OPERATING_RULES"].values())
    assert "You must never do this:\n- Commit secrets\n- Push to `main`" in rules
    assert any("Files that nobody may touch:\n\n| File" in one for one in constants["LOOKUP_TABLES"].values())
    assert not any("never do this" in one for one in constants["LOOKUP_TABLES"].values()), (
        "it leads to the list alone"
    )
    assert "Files that nobody may touch" not in rules, "it is told with the table"
    told = [one.text for one in made.blueprint.requirements] + list(constants["OUTPUT_TEMPLATES"].values())
    assert any("Answer with this, and nothing else:\n" in one and "> All is well." in one for one in told)
    assert constants["COMMAND_TEMPLATES"] == {"Checks": "# Look at the state first\ngit status"}


@pytest.mark.parametrize(
    ("steps", "judged"),
    [
        (("Read the notes", "Write the report", "Save it as `report.md`"), 2),
        (("Write the outline", "Write the report"), 2),
        (("Write the report", "Rewrite it in plain words"), 2),
        (("Open the page", "Send the page to the team"), 2),
        (("Write the report", "Fix the report and repeat until the check passes"), 2),
    ],
)
def test_the_step_that_writes_the_answer_is_judged(
    tmp_path: Path, steps: tuple[str, ...], judged: int
) -> None:
    listed = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    made = compiled(tmp_path, f"## Process\n\n{listed}\n\n## Output\n\nKeep the report under 20 words.\n")
    assert [one.check is not None for one in made.blueprint.requirements] == [True]
    assert made.blueprint.answer_step == made.blueprint.steps[judged - 1].function


@pytest.mark.parametrize("stream", ["", "Use --output-format stream-json.\n\n"])
def test_a_loop_that_fixes_is_checked_too(tmp_path: Path, stream: str) -> None:
    steps = "## Process\n\n1. Extract the claims\n2. Fix the text and repeat until the check passes\n"
    made = compiled(tmp_path, f"{stream}{steps}\n## Output\n\nKeep the answer under 20 words.\n")
    assert made.blueprint.answer_step == made.blueprint.steps[-1].function
    judged = "text" if stream else "found.result"
    assert f"requirements.unmet({judged}, name)" in text_of(made, "session.py")


def test_a_loop_over_a_choice_has_the_text_that_its_list_is_made_from(tmp_path: Path) -> None:
    body = (
        "## Process\n\n1. For each ticket, decide what to do:\n"
        "   - If it is a bug: open an issue\n   - If it is a question: answer it\n2. Write the report\n"
    )
    made = compiled(tmp_path, body)
    first = made.blueprint.steps[0]
    assert first.ways
    assert first.over.startswith("items_")
    assert f"config.{first.constant}," in text_of(made, "pipeline.py")
    assert f"{first.constant}: Final[str]" in text_of(made, "config.py")
