"""`checkrein compile --model`: a valid answer counts, anything else does not, and nothing is asked twice."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run
from checkrein.compile.advice import is_doubtful, problem
from checkrein.compile.advisor import Advisor, Memory, read_memory
from checkrein.compile.artifacts import Answer
from checkrein.compile.package import compile_spec
from checkrein.llm.record import RecordingModel
from checkrein.llm.scripted import ScriptedModel

SKILL = """---
name: demo
description: Sort notes.
---

# Demo

You sort notes.

## Frobnication

A shelf holds many notes.

## Workflow

1. Sort the notes
2. The big picture
"""
SHELF = "A shelf holds many notes."


pytestmark = [pytest.mark.spec(SKILL), pytest.mark.usefixtures("inside")]


def doubtful(spec: Path) -> dict[str, str]:
    """Texts of the elements that are in doubt, and their ids."""
    made = compile_spec(spec, env={"HOME": "/nonexistent"})
    return {one.content_full: one.element_id for one in made.inventory.elements if is_doubtful(one)}


def script(tmp_path: Path, *answers: Any, repeat: int = 1) -> str:
    """A model that gives these answers on tags, drafts nothing, and then gives no answer."""
    path = tmp_path / "answers.jsonl"
    texts = [one if isinstance(one, str) else json.dumps({"elements": one}) for one in answers]
    texts.append('{"samples": []}')
    path.write_text("".join(json.dumps({"text": text, "repeat": repeat}) + "\n" for text in texts), "utf-8")
    return f"scripted:{path}"


def command(*argv: str, status: int = 0) -> dict[str, Any]:
    """The command line in this process: what it prints, as JSON."""
    printed = io.BytesIO()
    stdout = io.TextIOWrapper(printed, "utf-8", write_through=True)
    with redirect_stdout(stdout):
        assert run([*argv, "--json"]) == status, printed.getvalue()
    answer: dict[str, Any] = json.loads(printed.getvalue())
    return answer


def compile_(spec: Path, *more: str) -> dict[str, Any]:
    return command("compile", str(spec), "-o", str(spec.parents[1] / "out"), *more)


def package(spec: Path) -> dict[str, bytes]:
    out = spec.parents[1] / "out"
    return {str(one.relative_to(out)): one.read_bytes() for one in sorted(out.rglob("*")) if one.is_file()}


def inventory(spec: Path) -> dict[str, dict[str, Any]]:
    found = json.loads(package(spec)["demo_mellea/intermediate/inventory.json"])
    return {one["element_id"]: one for one in found["elements"]}


def manifest(spec: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(package(spec)["demo_mellea/melleafy.json"])
    return found


def test_only_what_the_rules_are_not_sure_of_is_asked(spec: Path) -> None:
    assert set(doubtful(spec)) == {SHELF, "The big picture"}


def test_a_valid_answer_changes_a_tag(spec: Path, tmp_path: Path) -> None:
    shelf = doubtful(spec)[SHELF]
    answer = compile_(
        spec, "--model", script(tmp_path, [{"id": shelf, "tag": "VALIDATE_OUTPUT", "category": "C2"}])
    )
    assert answer["warnings"] == []
    element = inventory(spec)[shelf]
    assert (element["tag"], element["category"]) == ("VALIDATE_OUTPUT", "C2")
    assert element["details"]["provenance"] == "model"
    assert element["details"]["was"] == "CONFIG/C3"
    assert SHELF.encode() in package(spec)["demo_mellea/requirements.py"]
    assert manifest(spec)["tagging_model"] == "scripted:answers.jsonl"
    assert manifest(spec)["element_provenance"] == {shelf: "model"}
    assert b"scripted:answers.jsonl says so" in package(spec)["demo_mellea/intermediate/element_mapping.json"]
    assert not any(str(tmp_path).encode() in data for data in package(spec).values())


def test_an_answer_in_a_fence_is_read(spec: Path, tmp_path: Path) -> None:
    shelf = doubtful(spec)[SHELF]
    row = json.dumps({"elements": [{"id": shelf, "tag": "CONFIG", "category": "C1"}]})
    compile_(spec, "--model", script(tmp_path, f"Here it is:\n```json\n{row}\n```\n"))
    assert inventory(spec)[shelf]["category"] == "C1"


def test_a_second_compile_asks_nothing_and_gives_the_same_bytes(spec: Path, tmp_path: Path) -> None:
    found = doubtful(spec)
    rows = [
        {"id": found[SHELF], "tag": "CONFIG", "category": "C2"},
        {"id": found["The big picture"], "tag": "GENERATE", "category": "C2"},
    ]
    model = script(tmp_path, rows)
    compile_(spec, "--model", model)
    before = package(spec)
    Path(model.removeprefix("scripted:")).unlink()  # whoever asks now gets no answer
    again = compile_(spec, "--model", model)
    assert again["warnings"] == []
    assert package(spec) == before
    assert compile_(spec, "--model", model, "--check")["data"].get("stale", False) is False
    assert manifest(spec)["element_provenance"] == dict.fromkeys(found.values(), "model")


def test_only_changed_text_is_asked_again(spec: Path, tmp_path: Path) -> None:
    found = doubtful(spec)
    compile_(
        spec,
        "--model",
        script(tmp_path, [{"id": one, "tag": "CONFIG", "category": "C2"} for one in (found[SHELF],)]),
    )
    spec.write_text(SKILL.replace("Workflow\n", "Workflow\n\nA desk holds one.\n"), "utf-8")
    new = doubtful(spec)["A desk holds one."]
    compile_(spec, "--model", script(tmp_path, [{"id": new, "tag": "CONFIG", "category": "C1"}]))
    tagged = {one["content_full"]: one["category"] for one in inventory(spec).values()}
    assert (tagged[SHELF], tagged["A desk holds one."]) == ("C2", "C1")


@pytest.mark.parametrize(
    "row",
    [
        {"tag": "NONSENSE", "category": "C2"},
        {"tag": "CONFIG", "category": "C12"},
        {"tag": "CONFIG", "category": "C9"},
        {"tag": "TOOL_TEMPLATE", "category": "C2"},
        {"tag": "EXTRACT", "category": "C2"},
        {"id": "elem_999", "tag": "CONFIG", "category": "C2"},
        {"tag": ["CONFIG"], "category": None},
    ],
)
def test_an_answer_that_does_not_fit_is_ignored(spec: Path, tmp_path: Path, row: dict[str, Any]) -> None:
    shelf = doubtful(spec)[SHELF]
    answer = compile_(spec, "--model", script(tmp_path, [{"id": shelf, **row}]))
    assert [one["code"] for one in answer["warnings"]] == ["COMPILE002"]
    assert (inventory(spec)[shelf]["tag"], inventory(spec)[shelf]["category"]) == ("CONFIG", "C3")
    assert manifest(spec).get("element_provenance", {}) == {}


@pytest.mark.parametrize(
    "text", ["I would rather not.", "[]", '{"elements": "none"}', '{"elements": [1]}', ""]
)
def test_garbage_is_ignored(spec: Path, tmp_path: Path, text: str) -> None:
    compile_(spec)
    plain = package(spec)
    answer = compile_(spec, "--model", script(tmp_path, text))
    assert [one["code"] for one in answer["warnings"]] == ["COMPILE002"]
    for path in (
        "demo_mellea/config.py",
        "demo_mellea/pipeline.py",
        "demo_mellea/intermediate/inventory.json",
    ):
        assert package(spec)[path] == plain[path]


def test_a_model_that_fails_fails_nothing(spec: Path, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(json.dumps({"fault": {"status": 500}}) + "\n", "utf-8")
    for model in (f"scripted:{path}", f"scripted:{tmp_path}/absent.jsonl"):
        answer = compile_(spec, "--model", model)
        assert [one["code"] for one in answer["warnings"]] == ["COMPILE001"]
        assert answer["data"]["written"]


def test_an_unknown_provider_is_a_wrong_call(spec: Path) -> None:
    answer = command("compile", str(spec), "--model", "nobody:x", status=2)
    assert answer["error"]["kind"] == "provider_unknown"


def test_without_a_model_nothing_is_said_of_one(spec: Path) -> None:
    compile_(spec)
    assert "tagging_model" not in manifest(spec)
    assert "demo_mellea/intermediate/model_advice.json" not in package(spec)


def test_what_is_remembered_is_validated_too(spec: Path, tmp_path: Path) -> None:
    shelf = doubtful(spec)[SHELF]
    model = script(tmp_path, [{"id": shelf, "tag": "CONFIG", "category": "C2"}])
    compile_(spec, "--model", model)
    kept = spec.parents[1] / "out/demo_mellea/intermediate/model_advice.json"
    kept.write_text(kept.read_text("utf-8").replace('"C2"', '"C9"'), "utf-8")
    assert compile_(spec, "--model", model, "--force")["warnings"] == []
    assert inventory(spec)[shelf]["category"] == "C2", "the model was asked again"
    kept.write_text("no json", "utf-8")
    assert read_memory(str(spec.parents[1] / "out")) == Memory()


def test_steps_stay_steps_and_text_stays_text(spec: Path) -> None:
    elements = compile_spec(spec, env={"HOME": "/nonexistent"}).inventory.elements
    step = next(one for one in elements if one.content_full == "The big picture")
    text = next(one for one in elements if one.content_full == SHELF)
    assert problem(step, Answer("GENERATE", "C2")) is None
    assert problem(step, Answer("CONFIG", "C2")) == "CONFIG is not a tag for a step"
    assert problem(text, Answer("GENERATE", "C2")) == "GENERATE is not a tag for text"
    assert problem(text, Answer("CONFIG", "C9")) == "CONFIG does not go with C9"
    assert problem(text, Answer("NO_DECOMPOSE", "—")) is None


def test_a_recording_answers_as_the_model_did(spec: Path, tmp_path: Path) -> None:
    shelf = doubtful(spec)[SHELF]
    path = script(tmp_path, [{"id": shelf, "tag": "CONFIG", "category": "C2"}]).removeprefix("scripted:")
    recording = RecordingModel(ScriptedModel(path), tmp_path / "tape.jsonl")
    made = compile_spec(
        spec,
        env={"HOME": "/nonexistent"},
        advisor=Advisor(open=lambda: (recording, "any"), label="scripted:any"),
    )
    recording.close()
    assert {one.element_id for one in made.inventory.elements if one.prose.provenance} == {shelf}
    assert compile_(spec, "--model", f"replay:{tmp_path}/tape.jsonl")["warnings"] == []
    assert inventory(spec)[shelf]["category"] == "C2"
    assert manifest(spec)["tagging_model"] == "replay:tape.jsonl"
