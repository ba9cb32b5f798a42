"""Tags by structure: headings, lists, moods, tables, fences, leads."""

from __future__ import annotations

import pytest

from checkrein.compile.body import split_body
from checkrein.compile.headings import role_of, role_under
from checkrein.facts.compile_words import DELIVERS


def tags(text: str) -> list[tuple[str, str]]:
    return [(piece.judgment.tag, piece.judgment.category) for piece in split_body(text)]


@pytest.mark.parametrize(
    ("title", "role"),
    [
        ("Best Practices", "rule"),
        ("Output Format", "output"),
        ("Output Rules", "output"),
        ("Response Types", None),
        ("File format", None),
        ("Input Requirements", "input"),
        ("Rule-by-Rule Explanation", "example"),
        ("When to Use This Skill", "when"),
        ("Supported date formats", "concept"),
        ("Core principle", "identity"),
        ("Core principles", "rule"),
        ("Guidelines for the report", "rule"),
        ("Credits", "credits"),
        ("Frobnication", None),
    ],
)
def test_role_of_a_heading(title: str, role: str | None) -> None:
    assert role_of(title) == role


def test_the_nearest_heading_with_a_role_counts() -> None:
    assert role_under(("Rules", "Inputs")) == "input"
    assert role_under(("Rules", "Frobnication")) == "rule"
    assert role_under(("Rules", "Frobnication", "Twice")) is None


def test_a_member_of_a_counted_series_is_spoken_for_by_the_series() -> None:
    text = (
        "# T\n\nFor it.\n\n## Causes\n\n### 1. Logic\n\n- Off by one\n\n### 2. Environment\n\n- Wrong library"
    )
    assert tags(text)[1:] == [("CONFIG", "C3"), ("CONFIG", "C3")]


def test_numbered_headings_of_a_workflow_are_steps() -> None:
    text = "## Workflow\n\n### 1. Collect data\n\nLook around.\n\n### 2. Quality gate\n\nCheck the data."
    pieces = split_body(text)
    assert [piece.step for piece in pieces] == [True, True]
    assert [piece.judgment.tag for piece in pieces] == ["EXTRACT", "VALIDATE_DOMAIN"]


def test_numbered_headings_of_concepts_are_none() -> None:
    text = "## Core Concepts\n\n### 1. Shards\n\nA shard holds data.\n\n### 2. Nodes\n\nA node holds shards."
    assert not any(piece.step for piece in split_body(text))


def test_bold_numbers_are_headings() -> None:
    text = "## How to\n\n**1. Get the ids:**\n```bash\ngit log\n```\n\n**2. Write the note:**\n\nBe short."
    found = split_body(text)
    assert [(piece.judgment.tag, piece.step) for piece in found] == [
        ("EXTRACT", True),
        ("TOOL_TEMPLATE", False),
        ("GENERATE", True),
    ]


def test_numbered_best_practices_are_rules_not_steps() -> None:
    text = "## Best Practices\n\n1. **Use types**: they help\n2. **Write tests**: always"
    assert set(tags(text)) == {("CONFIG", "C2")}


def test_a_lead_gives_its_conditions_their_sense() -> None:
    text = "## Suppression\n\nSuppress only when all hold:\n\n- The rule is wrong here\n- One line will do"
    assert set(tags(text)) == {("CONFIG", "C2")}


def test_a_lead_that_reports_gives_checks() -> None:
    text = "## Closing\n\nAt the end, report:\n\n- Files touched\n- Open questions"
    assert tags(text) == [("VALIDATE_OUTPUT", "C2")] * 3


def test_a_lead_before_a_table_is_no_table() -> None:
    text = "## Built\n\nIt ships with these:\n\n| Name | Use |\n|---|---|\n| a | b |"
    assert tags(text) == [("CONFIG", "C3"), ("DETERMINISTIC", "C3")]


@pytest.mark.parametrize(
    ("head", "tag"),
    [
        ("Trigger | Action", ("CONFIG", "C2")),
        ("Symptom | Likely cause | Fix", ("CONFIG", "C2")),
        ("Name | Purpose", ("DETERMINISTIC", "C3")),
    ],
)
def test_tables_that_say_what_to_do_are_rules(head: str, tag: tuple[str, str]) -> None:
    columns = head.count("|") + 1
    rows = f"| {head} |\n|{'---|' * columns}\n|{' x |' * columns}"
    assert tags(f"## Things\n\n{rows}") == [tag]


@pytest.mark.parametrize(
    ("line", "tag"),
    [
        ("If several ways are right, always ask the user which to take.", ("CONVERSE", "C2")),
        ("Install `defusedxml` before you start.", ("CONFIG", "C8")),
        ("See the `other-thing` skill for more.", ("NO_DECOMPOSE", "—")),
        ("- `fast` → `--quick`", ("DETERMINISTIC", "C3")),
        ("Score = 1 − (lost / possible).", ("DETERMINISTIC", "C3")),
        ("Always cite the file and the line.", ("VALIDATE_OUTPUT", "C2")),
        ("A shard is a part of a collection.", ("CONFIG", "C3")),
        ("Prefer short names.", ("CONFIG", "C2")),
    ],
)
def test_lines_without_help_of_a_heading(line: str, tag: tuple[str, str]) -> None:
    assert tags(f"# T\n\nWhat it is.\n\n## Frobnication\n\n{line}")[-1] == tag


def test_inputs_are_parameters() -> None:
    assert (
        tags("## Inputs\n\n- `target` (optional): where\n- Title of the note") == [("TOOL_INPUT", "C3")] * 2
    )


def test_instructions_in_a_block() -> None:
    assert tags("## Doubt\n\n```\nIF anything is unclear:\n  STOP\n```") == [("CONFIG", "C2")]


def test_steps_say_which_work() -> None:
    text = (
        "## Workflow\n\n1. **Scan**: Extract the names\n2. Identify the severity of each\n"
        "3. If nothing is found, stop\n4. **Documentation:** Read what is there\n5. Compute the total"
    )
    assert [tag for tag, _ in tags(text)] == ["EXTRACT", "CLASSIFY", "DECIDE", "EXTRACT", "DETERMINISTIC"]


def test_a_phase_is_one_step_with_its_tables_and_lists() -> None:
    text = (
        "## Step 1: Look around\n\n1. Open the page\n2. Take a picture\n\n### Signs\n\n"
        "| Sign | Weight |\n|---|---|\n| torn | high |\n| faded | low |\n| bent | low |\n\n"
        "## Step 2: Write the report\n\nBe short."
    )
    steps = [piece for piece in split_body(text) if piece.step]
    assert [(piece.title, piece.judgment.tag) for piece in steps] == [
        ("Look around", "EXTRACT"),
        ("Write the report", "GENERATE"),
    ]


def test_a_list_that_goes_on_counting_after_a_fence_is_one_procedure() -> None:
    text = (
        "## By hand\n\n1. Create it:\n\n```json\n{}\n```\n\n2. Wire it in:\n\n```cmake\nx\n```\n\n3. Test it"
    )
    assert [piece.title for piece in split_body(text) if piece.step] == [
        "Create it:",
        "Wire it in:",
        "Test it",
    ]


def test_a_checklist_to_do_in_order_is_a_procedure() -> None:
    text = "## Checklist\n\nDo these in order:\n\n1. **Explore** — look around\n2. **Propose** — two ways"
    assert sum(piece.step for piece in split_body(text)) == 2
    assert not any(piece.step for piece in split_body(text.replace("Do these in order:", "Mind these.")))


def test_steps_may_have_letters() -> None:
    text = "## Step 1: Read it\n\nx\n\n## Step 2A: Write all\n\nx\n\n## Step 2B: Update some\n\nx"
    assert [piece.judgment.tag for piece in split_body(text)] == ["EXTRACT", "GENERATE", "TRANSFORM"]


def test_ways_out_of_trouble_are_no_steps() -> None:
    text = (
        "## Troubleshooting\n\n### Problem: It hangs\n\n1. Check the log\n2. Clear the cache\n3. Restart it"
    )
    assert set(tags(text)) == {("CONFIG", "C2")}
    assert not any(piece.step for piece in split_body(text))


@pytest.mark.parametrize(
    ("line", "tag"),
    [
        ("- **Cause:** the wheel is linked against an old library", ("CONFIG", "C3")),
        ("- **Fix:** `references/wheels.md` has the right one", ("CONFIG", "C2")),
        ("- `<query>`: the range the user gave", ("TOOL_INPUT", "C3")),
        ("- **Purpose**: [what it is for]", ("TOOL_INPUT", "C3")),
        ("pytest --cov=thing tests/", ("TOOL_TEMPLATE", "C6")),
        ("Keep it under 80 words. Say what users see.", ("VALIDATE_OUTPUT", "C2")),
        ("- Are errors swallowed, or logged and then ignored?", ("CONFIG", "C2")),
        ('If nothing was given, say "Please share your notes first."', ("CONVERSE", "C2")),
        ("- Junior: $90K-$120K", ("DETERMINISTIC", "C3")),
        ("They do not store data.", ("CONFIG", "C3")),
        ("You may not open other pages.", ("CONFIG", "C2")),
        ("See references/rollback.md for how to go back.", ("NO_DECOMPOSE", "—")),
        ("Check `package.json` for the version.", ("CONFIG", "C2")),
    ],
)
def test_a_line_by_its_form(line: str, tag: tuple[str, str]) -> None:
    assert tags(f"# T\n\nWhat it is.\n\n## Frobnication\n\n{line}")[-1] == tag


def test_rules_of_a_skill_that_writes_are_on_the_text() -> None:
    text = (
        "## Rules\n\n- Use precise language\n- Never promise a date\n"
        "- Read the old notes first\n- Run the linter"
    )
    found = [(piece.judgment.tag, piece.judgment.category) for piece in split_body(text, delivers=True)]
    assert found == [("VALIDATE_OUTPUT", "C2"), ("VALIDATE_OUTPUT", "C2"), ("CONFIG", "C2")]
    assert set(tags(text)) == {("CONFIG", "C2")}


def test_a_section_with_a_template_is_on_the_output() -> None:
    text = (
        "## The handover\n\n```text\n[SEV<n>] <service>: <what users see>\nStarted: <time>\n```\n\n"
        "- Every line names a service\n- State what is known"
    )
    assert tags(text) == [("DETERMINISTIC", "C3"), ("VALIDATE_OUTPUT", "C2"), ("VALIDATE_OUTPUT", "C2")]


def test_questions_below_such_a_heading_are_for_a_person() -> None:
    assert tags("## Questions to ask\n\n- Who needs it?\n- By when?") == [("CONVERSE", "C2")] * 2


def test_a_section_that_is_named_twice_is_named_with_its_parent() -> None:
    text = "## One\n\n### Notes\n\nA shard is small.\n\n## Two\n\n### Notes\n\nA node is large."
    assert [piece.heading for piece in split_body(text)] == ["One: Notes", "Two: Notes"]


def test_what_a_program_does_by_itself_is_no_procedure() -> None:
    text = "## How it works\n\n{}\n\n1. {} the lock file\n2. {} the install\n3. {} the binaries"
    told = text.format("", "Copy", "Run", "Verify")
    account = text.format("", "Copies", "Runs", "Verifies").replace("How it works", "Inside")
    assert sum(piece.step for piece in split_body(told)) == 3
    assert not any(piece.step for piece in split_body(account))


def test_counted_phases_are_steps_without_a_workflow_above() -> None:
    text = "## 1. Understanding Phase\n\nRead it all.\n\n## 2. Commit History Analysis Phase\n\nLook back."
    assert [piece.step for piece in split_body(text)] == [True, True]


def test_a_title_of_nouns_is_about_its_last() -> None:
    text = "### Phase 1: Commit History Analysis\n\nx\n\n### Phase 2: Commit the files\n\nx"
    assert [piece.judgment.tag for piece in split_body(text)] == ["EXTRACT", "ORCHESTRATE"]


def test_a_tag_ends_a_step() -> None:
    text = "### Step 1: Read\n\nx\n\n### Step 2: Plan\n\ny\n\n</workflow>\n\n<template>\n\nBe short."
    assert [(piece.step, piece.text.split("\n")[-1]) for piece in split_body(text)][:2] == [
        (True, "x"),
        (True, "y"),
    ]


def delivered(text: str) -> list[tuple[str, str]]:
    """Of a spec that is for writing a text."""
    return [(piece.judgment.tag, piece.judgment.category) for piece in split_body(text, delivers=True)]


@pytest.mark.parametrize(
    ("lead", "tag"),
    [
        ("Return an object of this shape:", ("CONFIG", "C2")),
        ("Return an object of this shape and nothing else:", ("VALIDATE_OUTPUT", "C2")),
    ],
)
def test_a_lead_before_a_template_only_leads(lead: str, tag: tuple[str, str]) -> None:
    text = f'## Output\n\n{lead}\n\n```json\n{{"a": 1}}\n```'
    assert tags(text) == [tag, ("SCHEMA", "—")]


def test_a_lead_to_inputs_is_one_of_them() -> None:
    text = "## Inputs\n\nCollect these before you run:\n\n- Name of the note\n- Day of the note"
    assert tags(text) == [("TOOL_INPUT", "C3")] * 3


def test_questions_below_a_report_are_no_parts_of_it() -> None:
    text = "## Cost\n\nFor each, answer:\n\n- Is it inside a loop?\n- Is it called twice?"
    assert tags(text) == [("CONFIG", "C2")]


@pytest.mark.parametrize("sign", ["├── src", "│ a │", "+--+"])
def test_a_drawing_is_no_table(sign: str) -> None:
    pairs = "one:  1\ntwo:  2\nthree:  3"
    assert tags(f"## Layout\n\n```\n{pairs}\n```") == [("DETERMINISTIC", "C3")]
    assert tags(f"## Layout\n\n```\n{pairs}\n{sign}\n```") == [("CONFIG", "C3")]


@pytest.mark.parametrize("heading", ["Pull request text", "Commit message", "Report", "Tone"])
def test_a_sentence_below_a_heading_on_the_output_is_on_the_output(heading: str) -> None:
    assert tags(f"# T\n\nWhat it is.\n\n## {heading}\n\nThe title has no dot.")[-1] == (
        "VALIDATE_OUTPUT",
        "C2",
    )


@pytest.mark.parametrize(
    ("line", "tag"),
    [
        ("- Clear titles", "VALIDATE_OUTPUT"),
        ("- Clear the cache", "CONFIG"),
        ("- Do not edit files while you plan", "CONFIG"),
        ("- Do not use the passive voice", "VALIDATE_OUTPUT"),
    ],
)
def test_rules_of_a_spec_for_writing(line: str, tag: str) -> None:
    assert delivered(f"# T\n\nWhat it is.\n\n## Rules\n\n{line}")[-1] == (tag, "C2")


@pytest.mark.parametrize(
    ("step", "tag"),
    [
        ("Check existing issues with the search", "EXTRACT"),
        ("Check the logs to find the first error", "EXTRACT"),
        ("Run `git status` to review what changed", "EXTRACT"),
        ("Check that the tests pass", "VALIDATE_DOMAIN"),
        ("Populate the template", "GENERATE"),
        ("Form hypotheses", "GENERATE"),
    ],
)
def test_the_work_of_a_step(step: str, tag: str) -> None:
    pieces = split_body(f"## Workflow\n\n1. {step}\n2. Commit the result")
    assert (pieces[0].step, pieces[0].judgment.tag) == (True, tag)


def test_rows_of_a_table_with_a_wrong_line_of_dashes_are_a_table() -> None:
    text = "## Metrics\n\n| Name | Range |\n| --- | --- | --- |\n| a | 0 to 1 |"
    assert tags(text) == [("DETERMINISTIC", "C3")]


@pytest.mark.parametrize(
    ("heading", "line", "tag"),
    [
        ("Related Skills", "- **other-one**: Export what was found", ("NO_DECOMPOSE", "—")),
        ("Validation of links", "- ✅ No broken links", ("CONFIG", "C2")),
        ("Status icons", "- ✅ Current", ("DETERMINISTIC", "C3")),
        (
            "Terms",
            '- **Branch** → "A copy to try things on, without touching the first one"',
            ("DETERMINISTIC", "C3"),
        ),
        ("Pages", "- Syntax → https://example.com/syntax", ("NO_DECOMPOSE", "—")),
        ("Discovery", "- `README.md`", ("CONFIG", "C3")),
        ("Talk", '**Reply:** "It is being looked at, and will be done by Thursday."', ("CONFIG", "C3")),
        ("Description Best Practices", "- Short and plain", ("VALIDATE_OUTPUT", "C2")),
    ],
)
def test_lines_below_a_heading(heading: str, line: str, tag: tuple[str, str]) -> None:
    assert tags(f"# T\n\nWhat it is.\n\n## {heading}\n\n{line}")[-1] == tag


def test_headings_that_only_qualify_leave_the_sense_to_the_one_above() -> None:
    text = "## Inputs\n\n### Required\n\n- Name of the note\n\n### Optional\n\n- Day of the note"
    assert tags(text) == [("TOOL_INPUT", "C3")] * 2


def test_paragraphs_with_a_bold_number_are_steps() -> None:
    text = (
        "## How to build it\n\n**1. Gather the tasks.** All of them.\n\n**2. Write the board.** In one file."
    )
    pieces = split_body(text)
    assert [(piece.step, piece.judgment.tag) for piece in pieces] == [(True, "EXTRACT"), (True, "GENERATE")]


def test_what_stands_below_the_name_of_a_file_goes_into_it() -> None:
    assert tags("## src/main.rs\n\n```rust\nfn main() {}\n```") == [("DETERMINISTIC", "C3")]


def test_steps_are_named_by_their_key_alone() -> None:
    text = (
        "## Workflow\n\n1. **Discover**: `tool` → see what there is\n2. **Inspect**: `tool x` → get all of it"
    )
    assert [piece.step for piece in split_body(text)] == [True, True]


def test_questions_below_a_line_that_asks_are_for_a_person() -> None:
    text = '## Style\n\nThen ask targeted questions:\n\n- "Long or short?"\n- "Plain or not?"'
    assert tags(text)[1:] == [("CONVERSE", "C2")] * 2


def test_values_far_below_the_output_are_no_parts_of_it() -> None:
    text = "## Output\n\n### Planning\n\n#### Sizes\n\n- **Small**: a day of work for one"
    assert tags(text) == [("CONFIG", "C3")]


def test_numbered_headings_before_the_start_are_steps() -> None:
    text = "## Before You Start\n\n### 1. Read the config\n\nAll.\n\n### 2. Choose the reader\n\nOne."
    assert [piece.step for piece in split_body(text)] == [True, True]


def test_a_body_in_one_fence_is_what_stands_in_it() -> None:
    text = "\n````prompt\n# T\n\nWhat it is.\n\n## Rules\n\n- Never guess\n````\n"
    pieces = split_body(text)
    assert [(piece.start, piece.judgment.tag) for piece in pieces] == [
        (2, "NO_DECOMPOSE"),
        (5, "CONFIG"),
        (9, "CONFIG"),
        (10, "NO_DECOMPOSE"),
    ]
    twice = "````md\n# T\n````\n\n````md\n# U\n````"
    assert tags(twice) == [("CONFIG", "C3")]


@pytest.mark.parametrize(
    ("heading", "line", "tag"),
    [
        ("Common matchers", "- Numbers: greater and less", ("CONFIG", "C3")),
        ("Tools", "- Returns all zeros when there is nothing", ("CONFIG", "C3")),
        ("Tools", "The field is small. Can be large.", ("CONFIG", "C3")),
        ("Tools", "The field is small. Keep it so.", ("CONFIG", "C2")),
        ("Assessment Questions", "1. **Is it logged?** (A-02)", ("CONFIG", "C2")),
        ("Required Questions", "1. Name of the part", ("CONVERSE", "C2")),
        ("Information Required", "1. **Language** of the text", ("TOOL_INPUT", "C3")),
        ("Parts", "<examples>", ("NO_DECOMPOSE", "—")),
        ("Error Handling", "- **No files**: List what is missing", ("CONFIG", "C2")),
        ("`agents/` Directory", "- `one.agent.md`", ("CONFIG", "C3")),
        ("Question", "{{question}}", ("TOOL_INPUT", "C3")),
        ("What This Skill Produces", "- **Plan**: every step with its owner", ("VALIDATE_OUTPUT", "C2")),
    ],
)
def test_more_lines_below_a_heading(heading: str, line: str, tag: tuple[str, str]) -> None:
    assert tags(f"# T\n\nWhat it is.\n\n## {heading}\n\n{line}")[-1] == tag


def test_an_item_with_a_place_to_fill_in_below_is_an_input() -> None:
    text = (
        "## Settings\n\n1. Ports that must be open:\n   - `[ports]`\n2. Base image:\n   - `[image or None]`"
    )
    assert tags(text) == [("TOOL_INPUT", "C3")] * 2


def test_words_to_say_are_a_constant() -> None:
    text = "## Start\n\nWhen it is turned on, respond with:\n\n> **It is on.** Ask me anything."
    assert tags(text) == [("CONFIG", "C2"), ("DETERMINISTIC", "C3")]


def test_a_list_of_instructions_in_a_block() -> None:
    told = "```\n1. Get the flow\n2. Check its state\n3. Write a note\n```"
    assert tags(f"## Recipe\n\n{told}") == [("CONFIG", "C2")]


def test_commands_of_a_quick_start_are_steps() -> None:
    text = "## Quick Start\n\n1. `tool init` - Required first\n2. `tool deploy` - Sends it"
    assert [piece.step for piece in split_body(text)] == [True, True]


def test_a_process_description_is_a_process() -> None:
    text = "## Complete Process Description\n\n1. **Get Data** - All of it\n2. **Drop Noise** - What is left"
    assert [piece.step for piece in split_body(text)] == [True, True]


@pytest.mark.parametrize(
    ("purpose", "delivers"),
    [
        ("Create an llms.txt file from the tree.", True),
        ("writing plans", True),
        ("Create endpoints with proper documentation.", False),
        ("Write the report with care.", True),
    ],
)
def test_what_a_spec_delivers(purpose: str, delivers: bool) -> None:
    assert (DELIVERS.search(purpose) is not None) is delivers
