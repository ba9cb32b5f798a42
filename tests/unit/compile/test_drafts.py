"""`checkrein compile --model` drafts: what fits becomes typed code of ours, anything else changes nothing."""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run
from checkrein.compile import drafts_prompt
from checkrein.compile.advice import may_be_sent
from checkrein.compile.artifacts import Draft
from checkrein.compile.checks import Check, check_of
from checkrein.compile.details import Drafted, FieldDraft, TextDetails
from checkrein.compile.drafts import UnfitError, check_from, settle, wanted
from checkrein.compile.package import compile_spec
from checkrein.facts.compile_checks import CHECKS

SKILL = """---
name: triage
description: Triage the findings of a scan.
---

# Triage

You triage findings.

## Workflow

1. Extract the findings from the log
2. Classify the scan by its worst finding, from minor over major to critical
3. Write the report

## Output Format

- Close the report with the word DONE.
- Give three bullets of advice.
- The report must be kind.
"""
EXTRACT, CLASSIFY, DONE, BULLETS, KIND = ("elem_004", "elem_005", "elem_007", "elem_008", "elem_009")
GOOD: dict[str, Any] = {
    "checks": [
        {"id": DONE, "function": "ends_with", "arguments": ["DONE"]},
        {"id": BULLETS, "function": "at_least_items", "arguments": [3]},
    ],
    "labels": [{"id": CLASSIFY, "labels": ["minor", "major", "critical"]}],
    "fields": [
        {
            "id": EXTRACT,
            "fields": [
                {"name": "title", "type": "str", "about": "What was found."},
                {"name": "type", "type": "str", "about": ""},
                {"name": "line", "type": "int", "about": 'Where, in "lines".'},
                {"name": "model_names", "type": "list[str]", "about": "Files \\ modules"},
            ],
        }
    ],
    "samples": ["Triage the scan of last night.", 'Look at "scan.log" and tell me what matters.'],
}
EVIL = (
    '"); import os; os.system("x") #',
    '"""\nimport os\n"""',
    "x\\",
    "{{ 7 * 7 }}{% raw %}",
    "a\nb",
    "\u202egnp.exe",
    "class",
    "__class__",
    "ünï",
    "'" * 50,
    "",
    "A" * 5_000,
)


pytestmark = [pytest.mark.spec(SKILL, name="triage"), pytest.mark.usefixtures("inside")]


def script(tmp_path: Path, *answers: Any) -> str:
    """A model that gives these answers, then none."""
    path = tmp_path / "answers.jsonl"
    texts = [one if isinstance(one, str) else json.dumps(one) for one in answers]
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    return f"scripted:{path}"


def compile_(spec: Path, *more: str, status: int = 0) -> dict[str, Any]:
    """The command line in this process: what it prints, as JSON."""
    printed = io.BytesIO()
    stdout = io.TextIOWrapper(printed, "utf-8", write_through=True)
    with redirect_stdout(stdout):
        found = run(["compile", str(spec), "-o", str(spec.parents[1] / "out"), *more, "--json"])
    assert found == status, printed.getvalue()
    answer: dict[str, Any] = json.loads(printed.getvalue())
    return answer


def package(spec: Path) -> dict[str, str]:
    out = spec.parents[1] / "out"
    return {str(one.relative_to(out)): one.read_text("utf-8") for one in out.rglob("*") if one.is_file()}


def sources(spec: Path) -> dict[str, str]:
    return {path: text for path, text in package(spec).items() if path.endswith((".py", ".toml"))}


def manifest(spec: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(package(spec)["triage_mellea/melleafy.json"])
    return found


def codes(answer: dict[str, Any]) -> list[str]:
    return [one["code"] for one in answer["warnings"]]


def test_good_drafts_become_code(spec: Path, tmp_path: Path) -> None:
    answer = compile_(spec, "--model", script(tmp_path, GOOD))
    assert answer["warnings"] == []
    files = package(spec)
    assert 'check=ends_with("DONE"),' in files["triage_mellea/requirements.py"]
    assert "check=at_least_items(3)," in files["triage_mellea/requirements.py"]
    assert files["triage_mellea/requirements.py"].count("check=") == 2
    slots = files["triage_mellea/slots.py"]
    assert '= Literal[\n    "minor",\n    "major",\n    "critical",\n]' in files["triage_mellea/schemas.py"]
    assert ") -> Step01ExtractTheFindingsFromTheLogRecord:" in slots
    schemas = files["triage_mellea/schemas.py"]
    assert "class Step01ExtractTheFindingsFromTheLogRecord(BaseModel):" in schemas
    assert 'alias="type"' in schemas
    assert "field_model_names: list[str]" in schemas
    assert "value.model_dump_json(by_alias=True)" in files["triage_mellea/session.py"]
    assert GOOD["samples"][0] in files["triage_mellea/fixtures/typical.py"]
    assert "scan.log" in files["triage_mellea/fixtures/minimal.py"]
    assert "- one" in files["triage_mellea/fixtures/several_lines.py"], "there was no third sample"


def test_the_package_says_who_drafted_what(spec: Path, tmp_path: Path) -> None:
    compile_(spec, "--model", script(tmp_path, GOOD))
    said = manifest(spec)
    assert said["drafting_model"] == "scripted:answers.jsonl"
    assert said["draft_provenance"] == {
        EXTRACT: "fields",
        CLASSIFY: "labels",
        DONE: "check",
        BULLETS: "check",
        "fixtures/typical.py": "sample",
        "fixtures/minimal.py": "sample",
    }
    assert "element_provenance" not in said
    report = package(spec)["triage_mellea/mapping_report.md"]
    assert f"| {DONE} | checked by ends_with, DONE | scripted:answers.jsonl drafted it |" in report
    assert "Drafted by scripted:answers.jsonl: " in report
    mapped = json.loads(package(spec)["triage_mellea/intermediate/element_mapping.json"])["mappings"]
    kinds = {one["element_id"]: one.get("validation_kind") for one in mapped}
    assert (kinds[DONE], kinds[KIND]) == ("executable", "llm_judged")
    assert not any(str(tmp_path) in text for text in package(spec).values())


def test_a_second_compile_asks_nothing_and_gives_the_same_bytes(spec: Path, tmp_path: Path) -> None:
    model = script(tmp_path, GOOD)
    compile_(spec, "--model", model)
    before = package(spec)
    Path(model.removeprefix("scripted:")).unlink()  # whoever asks now gets no answer
    assert compile_(spec, "--model", model)["warnings"] == []
    assert package(spec) == before
    assert compile_(spec, "--model", model, "--check")["data"].get("stale", False) is False
    compile_(spec, "--check", status=1)  # without the model it is another package


def test_rules_that_say_the_same_get_the_same_draft(spec: Path, tmp_path: Path) -> None:
    spec.write_text(SKILL + "- Close the report with the word DONE.\n", "utf-8")
    model = script(tmp_path, GOOD)
    compile_(spec, "--model", model)
    before = package(spec)
    assert before["triage_mellea/requirements.py"].count('check=ends_with("DONE")') == 2
    compile_(spec, "--model", model)
    assert package(spec) == before


def test_nothing_to_add_is_remembered_too(spec: Path, tmp_path: Path) -> None:
    compile_(spec)
    plain = sources(spec)
    model = script(tmp_path, {"checks": [], "labels": [], "fields": [], "samples": []})
    assert compile_(spec, "--model", model)["warnings"] == []
    assert sources(spec) == plain
    assert "drafting_model" not in manifest(spec)
    Path(model.removeprefix("scripted:")).unlink()
    assert compile_(spec, "--model", model)["warnings"] == []


@pytest.mark.parametrize(
    "answer",
    [
        "I would rather not.",
        "[]",
        "{}",
        '{"checks":' * 50_000,
        '{"samples": ["\\ud800 a request of mine"]}',
        '{"checks": 1, "labels": "x", "fields": null, "samples": {"a": 1}}',
        '{"checks": [1, 2], "samples": [1, null]}',
        {"checks": [{"id": "elem_999", "function": "is_json", "arguments": []}]},
        {"checks": [{"id": CLASSIFY, "function": "is_json", "arguments": []}]},
        {"checks": [{"id": KIND, "function": "is_json", "arguments": []}]},
        {"checks": [{"id": KIND, "function": "os.system", "arguments": ["x"]}]},
        {"checks": [{"id": DONE, "function": "ends_with", "arguments": ["FINISHED"]}]},
        {"checks": [{"id": DONE, "function": "ends_with", "arguments": ["DONE", "DONE"]}]},
        {"checks": [{"id": DONE, "function": "ends_with", "arguments": "DONE"}]},
        {"checks": [{"id": DONE, "function": ["ends_with"], "arguments": []}]},
        {"checks": [{"id": DONE, "function": "lacks", "arguments": ["DONE"]}]},
        {"checks": [{"id": BULLETS, "function": "at_least_items", "arguments": [4]}]},
        {"checks": [{"id": BULLETS, "function": "at_least_items", "arguments": ["1e9"]}]},
        {"checks": [{"id": BULLETS, "function": "at_least_items", "arguments": [True]}]},
        {"checks": [{"id": BULLETS, "function": "at_least_items", "arguments": [-3]}]},
        {"checks": [{"id": BULLETS, "function": "at_least_words", "arguments": [3]}]},
        {"labels": [{"id": CLASSIFY, "labels": ["minor"]}]},
        {"labels": [{"id": CLASSIFY, "labels": ["minor", "Minor"]}]},
        {"labels": [{"id": CLASSIFY, "labels": ["minor", "fatal"]}]},
        {"labels": [{"id": CLASSIFY, "labels": ["minor", 7]}]},
        {"fields": [{"id": EXTRACT, "fields": [{"name": "x", "type": "Any", "about": ""}]}]},
        {"fields": [{"id": EXTRACT, "fields": [{"name": "x", "type": "str"}]}]},
        {"fields": [{"id": EXTRACT, "fields": [{"name": "x", "type": "str", "about": "", "default": "1"}]}]},
        {"fields": [{"id": EXTRACT, "fields": [{"name": "x", "type": "str", "about": "y"}] * 2}]},
        {
            "fields": [
                {
                    "id": EXTRACT,
                    "fields": [{"name": f"x{n}", "type": "str", "about": ""} for n in range(10_000)],
                }
            ]
        },
        {"samples": ["short"]},
        {"samples": ["x" * 401]},
        {"samples": ["one line\nand another one"]},
        {"samples": ["the same request"] * 2},
        {"samples": [f"request number {n}" for n in range(4)]},
        {"samples": ["Use ghp_abcdefghijklmnopqrstuvwxyz0123456789 for it."]},
        {"samples": ["Log in with password=hunter2hunter2 please."]},
    ],
)
def test_what_does_not_fit_changes_nothing(spec: Path, tmp_path: Path, answer: Any) -> None:
    compile_(spec)
    plain = sources(spec)
    told = codes(compile_(spec, "--model", script(tmp_path, answer)))
    assert told
    assert set(told) == {"COMPILE002"}
    assert sources(spec) == plain
    assert manifest(spec).get("draft_provenance", {}) == {}


@pytest.mark.parametrize("text", EVIL)
def test_hostile_text_reaches_no_file_of_code(spec: Path, tmp_path: Path, text: str) -> None:
    compile_(spec)
    plain = sources(spec)
    answer = {
        "checks": [
            {"id": DONE, "function": "ends_with", "arguments": [text]},
            {"id": text, "function": text},
        ],
        "labels": [{"id": CLASSIFY, "labels": [text, "minor"]}],
        "fields": [{"id": EXTRACT, "fields": [{"name": text, "type": text, "about": text}]}],
        "samples": [text + "\x00"],
    }
    assert set(codes(compile_(spec, "--model", script(tmp_path, answer)))) == {"COMPILE002"}
    assert sources(spec) == plain


@pytest.mark.parametrize("text", ['"); import os #', '"""', "\\", "{{ 7 * 7 }}", "{% raw %}", "'\"'\"", "%s"])
def test_signs_in_what_is_believed_stay_text(spec: Path, tmp_path: Path, text: str) -> None:
    answer = {
        "fields": [{"id": EXTRACT, "fields": [{"name": "title", "type": "str", "about": f"About {text}"}]}],
        "samples": [f"A request with {text}"],
    }
    assert codes(compile_(spec, "--model", script(tmp_path, answer))) == []
    files = package(spec)
    texts = {
        node.value
        for path in ("triage_mellea/schemas.py", "triage_mellea/fixtures/typical.py")
        for node in ast.walk(ast.parse(files[path]))
        if isinstance(node, ast.Constant)
    }
    assert {f"About {text}", f"A request with {text}"} <= texts


def test_a_drafted_package_is_formatted_and_notices_what_is_removed(spec: Path, tmp_path: Path) -> None:
    pytest.importorskip("pydantic")
    compile_(spec, "--model", script(tmp_path, GOOD))
    out = tmp_path / "out"

    def passes(*command: str) -> bool:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=out, capture_output=True, check=False, env=environment
        )
        return done.returncode == 0

    tests = ("pytest", "-q", "-p", "no:cacheprovider", "tests/test_package.py")
    assert passes(*tests)
    if passes("ruff", "--version"):
        assert passes("ruff", "format", "--check", "--no-cache", ".")
        assert passes("ruff", "check", "--no-cache", "--select", "E9,F,I", ".")
    for file, old, new in (
        ("requirements.py", 'check=ends_with("DONE"),', ""),
        ("requirements.py", "at_least_items(3)", "at_least_items(2)"),
        ("requirements.py", "step == config.ANSWER_STEP or not one.told", "True"),
        ("schemas.py", "line: int", "line: str"),
        ("schemas.py", "field_model_names", "names"),
    ):
        path = out / "triage_mellea" / file
        kept = path.read_text("utf-8")
        assert old in kept
        path.write_text(kept.replace(old, new, 1), "utf-8")
        assert not passes(*tests), old
        path.write_text(kept, "utf-8")


def test_many_ignored_answers_are_told_shortly(spec: Path, tmp_path: Path) -> None:
    rows = [{"id": f"elem_{n}", "function": "is_json", "arguments": []} for n in range(1_000, 3_000)]
    answer = compile_(spec, "--model", script(tmp_path, {"checks": rows}))
    assert len(answer["warnings"]) == 11
    assert "1990 more answers" in answer["warnings"][-1]["message"]


def test_a_model_that_fails_is_asked_once_and_changes_nothing(spec: Path, tmp_path: Path) -> None:
    compile_(spec)
    plain = sources(spec)
    answer = compile_(spec, "--model", f"scripted:{tmp_path}/absent.jsonl")
    assert codes(answer) == ["COMPILE001"]
    assert sources(spec) == plain


def test_what_is_remembered_is_validated_too(spec: Path, tmp_path: Path) -> None:
    model = script(tmp_path, GOOD)
    compile_(spec, "--model", model)
    before = package(spec)
    kept = spec.parents[1] / "out/triage_mellea/intermediate/model_advice.json"
    kept.write_text(kept.read_text("utf-8").replace('"DONE"', '"__import__"'), "utf-8")
    script(tmp_path, {"checks": GOOD["checks"][:1]})
    assert compile_(spec, "--model", model, "--force")["warnings"] == []
    assert package(spec) == before


def test_secrets_and_private_text_are_not_sent(spec: Path) -> None:
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    text = SKILL.replace("word DONE.", f"word {secret}.").replace("of a scan", f"of a scan with {secret}")
    spec.write_text(text.replace("must be kind", "must be kind; password: hunter2hunter2"), "utf-8")
    inventory = compile_spec(spec, env={"HOME": "/nonexistent"}).inventory
    asked = [(one, kind) for one in inventory.elements if (kind := wanted(one, chat=False)) is not None]
    sent = drafts_prompt.question(inventory.spec.name, inventory.spec.description, asked, samples=True)
    assert len(asked) == 4
    assert secret not in sent
    assert "hunter2" not in sent
    assert not any(may_be_sent(one) for one in inventory.elements if secret in one.content_full)


def test_conversations_have_no_shapes(spec: Path) -> None:
    elements = {
        one.element_id: one for one in compile_spec(spec, env={"HOME": "/nonexistent"}).inventory.elements
    }
    assert [wanted(elements[one], chat=True) for one in (EXTRACT, CLASSIFY, DONE)] == [None, None, "check"]
    assert [wanted(elements[one], chat=False) for one in (EXTRACT, CLASSIFY)] == ["fields", "labels"]


@pytest.mark.parametrize(
    ("rule", "function", "arguments", "check"),
    [
        ("Write 1,000 words.", "at_least_words", ("1000",), Check("at_least_words", 1000)),
        ("Write **two** lines", "exactly_lines", ("2",), Check("exactly_lines", 2)),
        (
            "Parts: Risk and **Next\nsteps**",
            "has_sections",
            ("risk", "next steps"),
            Check("has_sections", ("risk", "next steps")),
        ),
        (
            "Say neither foo nor bar, not ever",
            "lacks_all",
            ("foo", "bar"),
            Check("lacks_all", ("foo", "bar")),
        ),
    ],
)
def test_words_and_numbers_stand_in_the_rule(
    rule: str, function: str, arguments: tuple[str, ...], check: Check
) -> None:
    assert check_from(rule, function, arguments) == check


@pytest.mark.parametrize(
    ("rule", "function", "arguments"),
    [
        ("Write 1.5 lines", "exactly_lines", ("5",)),
        ("Write 25 lines", "exactly_lines", ("2",)),
        ("Risky words", "contains", ("Risk",)),
        ("Each point has 20 words", "at_most_words", ("20",)),
        ("A table", "has_table", ("x",)),
        ("Anything", "has_table", ()),
    ],
)
def test_other_words_and_numbers_are_not_believed(
    rule: str, function: str, arguments: tuple[str, ...]
) -> None:
    with pytest.raises(UnfitError):
        check_from(rule, function, arguments)


def test_a_settled_draft_settles_again() -> None:
    fields = (FieldDraft("type", "list[str]", "Kinds."),)
    for kind, text, draft in (
        ("check", "Return JSON", Draft(check="is_json")),
        ("labels", "a or b", Draft(labels=("a", "b"))),
        ("fields", "", Draft(fields=fields)),
        ("samples", "", Draft(samples=("A request of mine.",))),
    ):
        assert settle(kind, text, draft) == draft  # type: ignore[arg-type]  # one of the four
        assert settle(kind, text, Draft()) == Draft()  # type: ignore[arg-type]  # one of the four


def test_the_prompt_names_every_check() -> None:
    said = drafts_prompt.system()
    assert all(f"- {name}: " in said for name in CHECKS)


def test_a_rule_keeps_the_check_of_its_own_words(spec: Path, tmp_path: Path) -> None:
    made = compile_spec(spec, env={"HOME": "/nonexistent"})
    rule = next(one for one in made.inventory.elements if one.element_id == DONE)
    from msgspec.structs import replace

    drafted = replace(
        rule, content_full="At most 20 words.", details=TextDetails(draft=Drafted(check="is_json", by="x"))
    )
    assert check_of(drafted) == Check("at_most_words", 20)
