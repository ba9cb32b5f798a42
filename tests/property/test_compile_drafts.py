"""Whatever a model answers, the package lints and parses, and a second compile gives the same bytes."""

from __future__ import annotations

import ast
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.compile.advisor import Advisor, Memory
from checkrein.compile.artifacts import AdviceFile, Draft
from checkrein.compile.drafts import UnfitError, settle
from checkrein.compile.package import Compiled, compile_spec
from checkrein.facts.compile_checks import CHECKS
from checkrein.llm.scripted import ScriptedModel

SKILL = """---
name: triage
description: Triage the findings of a scan.
---

# Triage

## Workflow

1. Extract the findings from the log
2. Classify the scan by its worst finding, from minor over major to critical
3. Write the report

## Output Format

- Close the report with the word DONE, never with "bye" or 3 lines of JSON in a table.
- Give three bullets of advice.
"""
EXTRACT, CLASSIFY, RULE, OTHER = "elem_003", "elem_004", "elem_006", "elem_007"
WORDS = [
    "DONE",
    "bye",
    "minor",
    "major",
    "critical",
    "3",
    "three",
    "report",
    '"',
    "\\",
    "class",
    "lines of JSON",
]
TEXT = st.one_of(st.sampled_from(WORDS), st.text(max_size=30))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=12,
)
# Mostly what could fit, so that values of all kinds get through to the templates.
LINE = st.text(st.characters(exclude_categories=("C", "Z")), min_size=10, max_size=60)
NAMES = ["title", "type", "id", "match", "model_config", "json", "copy", "a_b", "list", "str", "self", "x1"]
FIELD = st.fixed_dictionaries(
    {
        "name": st.sampled_from([*NAMES, "class", "__x", "A"]),
        "type": st.sampled_from(["str", "int", "float", "bool", "list[str]"]),
        "about": LINE,
    }
)
SAID = st.sampled_from(["DONE", "bye", "report", "lines of JSON", "table"])
ARGUMENTS = {
    "none": st.just([]),
    "count": st.sampled_from([["3"], [3], [4]]),
    "text": st.lists(SAID, min_size=1, max_size=1),
    "texts": st.lists(SAID, min_size=1, max_size=4, unique=True),
}
CHECK = st.sampled_from([*CHECKS]).flatmap(
    lambda name: st.fixed_dictionaries(
        {
            "id": st.sampled_from([RULE, RULE, OTHER, EXTRACT]),
            "function": st.just(name),
            "arguments": ARGUMENTS[CHECKS[name].kind] | st.lists(TEXT, max_size=3),
        }
    )
)
LABELS = st.lists(st.sampled_from(["minor", "major", "critical", "each finding"]), min_size=1, unique=True)
SHAPED = st.fixed_dictionaries(
    {
        "checks": st.lists(CHECK, min_size=1, max_size=6),
        "labels": st.lists(st.fixed_dictionaries({"id": st.just(CLASSIFY), "labels": LABELS}), max_size=2),
        "fields": st.lists(
            st.fixed_dictionaries(
                {"id": st.just(EXTRACT), "fields": st.lists(FIELD, min_size=1, max_size=3)}
            ),
            max_size=2,
        ),
        "samples": st.lists(LINE, max_size=3) | st.lists(TEXT, max_size=4),
    }
)
KINDS = st.sampled_from(["check", "labels", "fields", "samples"])
SOME = settings(max_examples=120, deadline=None, derandomize=True)


def compiled(root: Path, answer: Any, memory: Memory) -> Compiled:
    spec, script = root / "triage" / "SKILL.md", root / "answers.jsonl"
    spec.parent.mkdir(exist_ok=True)
    spec.write_text(SKILL, "utf-8")
    script.write_text(json.dumps({"text": json.dumps(answer)}) + "\n", "utf-8")
    advisor = Advisor(
        open=lambda: (ScriptedModel(str(script)), "any"), label="scripted:any", remembered=memory
    )
    return compile_spec(spec, env={"HOME": str(root)}, advisor=advisor)


@SOME
@given(st.one_of(SHAPED, SHAPED, JSON))
def test_any_answer_gives_a_sound_package(answer: Any) -> None:
    import msgspec

    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        made = compiled(root, answer, Memory())
        assert [one for one in made.lints if one.verdict == "fail"] == []
        for path, data in made.files.items():
            if path.endswith(".py"):
                ast.parse(data)
        kept = msgspec.json.decode(
            made.files["triage_mellea/intermediate/model_advice.json"], type=AdviceFile
        )
        if kept.drafts:
            again = compiled(root, "nothing", Memory(kept.answers, kept.drafts))
            assert again.files == made.files
            assert again.diagnostics == ()


@SOME
@given(
    KINDS,
    TEXT,
    st.builds(Draft, check=st.sampled_from([*CHECKS]) | TEXT, arguments=st.lists(TEXT).map(tuple)),
)
def test_what_is_settled_stays_settled(kind: Any, text: str, draft: Draft) -> None:
    try:
        settled = settle(kind, text, draft)
    except UnfitError:
        return
    assert settle(kind, text, settled) == settled
