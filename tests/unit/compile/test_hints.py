"""Argument hints are usage lines, or a sentence: what a caller gives, and nothing else, is a parameter."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.compile.hints import read_hint
from checkrein.compile.package import compile_spec

HINTS = {
    "[topic]": ["topic"],
    "topic": ["topic"],
    "<required-arg> [optional-arg]": ["required-arg", "optional-arg"],
    "<path> [--depth quick|standard]": ["path", "depth"],
    "[--output docs/a.md|B.md] [--areas | --area <name>] [--apply-to <glob>] [--dry-run]": [
        *("output", "areas", "area", "apply-to", "dry-run")
    ],
    "<dir> [--show-secrets] | --portfolio <parent-dir>": ["dir", "show-secrets", "portfolio"],
    "PROMPT [--max-iterations N]": ["PROMPT", "max-iterations"],
    "-v [name]": ["v", "name"],
    "[file-path|component-name|--level AA|AAA]": ["file-path or component-name", "level"],
    "[id | id:phase | id:task]": ["id"],
    "<feature|bug|chore> <name>": ["choice", "name"],
    "[show | new <name>] — e.g. /policy show": ["show or new <name>"],
    "[run directory, e.g. runs/first]": ["run directory"],
    "[target] (default: ./out)": ["target"],
    "[--message member 'content'] [--rebalance]": ["message", "rebalance"],
    "stories/a.md | status | resume": ["choice"],
    "Optional plugin description": ["Optional plugin description"],
    "Enter task_id, plan_id (optional), and error_context to diagnose.": [
        "task_id",
        "plan_id",
        "error_context",
    ],
    "Start a deep or quick triage: <owner> <quick|deep>": ["owner", "quick or deep"],
    "Describe what to do. A pre-flight check is run unless it is turned off.": ["argument"],
    "Just activate it to start the migration.": ["argument"],
    "[unclosed <deep": ["unclosed <deep"],
    "...": ["argument"],
    "": ["argument"],
    "[]": ["argument"],
}


@pytest.mark.parametrize("hint", HINTS)
def test_names(hint: str) -> None:
    assert [name for name, _ in read_hint(hint)] == HINTS[hint]


def test_each_is_explained_by_its_part_of_the_hint() -> None:
    assert read_hint("<path> [--depth quick|full]") == [("path", "<path>"), ("depth", "[--depth quick|full]")]
    assert read_hint("[path] — where to look") == [("path", "[path] — where to look")]


def test_they_are_the_parameters_of_the_pipeline(tmp_path: Path) -> None:
    spec = tmp_path / ".claude" / "skills" / "look" / "SKILL.md"
    spec.parent.mkdir(parents=True)
    hint = "<path> [--depth quick|full] [--dry-run]"
    spec.write_text(f"---\nname: look\ndescription: Looks.\nargument-hint: '{hint}'\n---\n\nLook at it.\n")
    made = compile_spec(spec, env={"HOME": str(tmp_path)})
    pipeline = made.files["look_mellea/pipeline.py"].decode()
    head = pipeline.split("def run_pipeline(")[1].split(")")[0]
    assert [line.strip() for line in head.split("\n") if line.strip()] == [
        "request: str,",
        'path: str = "",',
        'depth: Literal["quick", "full"] | None = None,',
        "dry_run: bool = False,",
    ]


@given(st.text(st.sampled_from("[]<>{}()|-— .,:_aN\n'\"e.g."), max_size=60))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_any_text_gives_a_name(hint: str) -> None:
    found = read_hint(hint)
    assert found
    assert all(name.strip() for name, _ in found)


@pytest.mark.parametrize("text", ["[", "<[", "(", " ", "a_", "--a ", "[a]", "|", "e.g. ", " — ", "{}"])
def test_long_hints_are_read_in_one_pass(text: str) -> None:
    def spent(size: int) -> float:
        hint = text * (size // len(text))
        began = time.process_time()
        read_hint(hint)
        return time.process_time() - began

    assert spent(200_000) < 1 or spent(200_000) < 9 * spent(50_000)
