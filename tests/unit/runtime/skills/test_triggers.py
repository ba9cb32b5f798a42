"""Measuring whether the right skill loads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkrein.base.errors import ConfigError, NotFoundError
from checkrein.cli import skill_test
from checkrein.runtime.skills.triggers import Trial, read_cases, score

SKILLS = {"pdf": "Fill PDF forms.", "csv": "Read tables."}
pytestmark = pytest.mark.project(
    {
        f".claude/skills/{name}/SKILL.md": f"---\ndescription: {text}\n---\n!`touch ran`\n"
        for name, text in SKILLS.items()
    }
)


def script(path: Path, *skills: str | None) -> str:
    lines = []
    for skill in skills:
        call = [{"name": "Skill", "input": {"skill": skill}}] if skill else []
        lines.append({"text": "" if skill else "no skill needed", "tool_calls": call})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return f"scripted:{path}"


def cases(path: Path, *rows: tuple[str, str | None]) -> str:
    path.write_text("".join(json.dumps({"prompt": p, "skill": s}) + "\n" for p, s in rows))
    return str(path)


def measure(project: Path, where: str, model: str, **more: object) -> object:
    values = {"record": None, "runs": 1, "turns": 3, "at_least": 1.0} | more
    return skill_test.run(where, model, str(project), **values)  # type: ignore[arg-type]


def test_hits_misses_and_confusion(project: Path, tmp_path: Path) -> None:
    where = cases(tmp_path / "c.jsonl", ("fill", "pdf"), ("rows", "csv"), ("hi", None), ("form", "pdf"))
    outcome = measure(project, where, script(tmp_path / "m.jsonl", "pdf", "pdf", None, None))
    report = outcome.data  # type: ignore[attr-defined]
    assert report.hit_rate == 0.5
    assert {s.skill: (s.hits, s.missed, s.wrong) for s in report.scores} == {
        "(none)": (1, 0, 0),
        "csv": (0, 0, 1),
        "pdf": (1, 1, 0),
    }
    assert report.confusion == {"csv": {"pdf": 1}, "pdf": {"(none)": 1}}
    assert outcome.status == 1  # type: ignore[attr-defined]
    text = outcome.text()  # type: ignore[attr-defined]
    assert "2 of 4 hits (50%)" in text
    assert "c.jsonl:2: loaded pdf, expected csv" in text
    assert not (project / "ran").exists()


def test_a_model_may_look_around_first(project: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.jsonl"
    look = {"tool_calls": [{"name": "Glob", "input": {"pattern": "*"}}]}
    load = {"tool_calls": [{"name": "Skill", "input": {"skill": "pdf"}}]}
    model.write_text("".join(json.dumps(turn) + "\n" for turn in (look, load, look, look, look)))
    where = cases(tmp_path / "c.jsonl", ("fill", "pdf"), ("never", None))
    outcome = measure(project, where, f"scripted:{model}", turns=2)
    assert outcome.status == 0  # type: ignore[attr-defined]


def test_a_recording_answers_again(project: Path, tmp_path: Path) -> None:
    where = cases(tmp_path / "c.jsonl", ("fill", "pdf"), ("hi", None))
    tape = tmp_path / "tape.jsonl"
    first = measure(project, where, script(tmp_path / "m.jsonl", "pdf", "csv"), record=str(tape))
    second = measure(project, where, f"replay:{tape}", at_least=0.5)
    assert first.data == second.data  # type: ignore[attr-defined]
    assert (first.status, second.status) == (1, 0)  # type: ignore[attr-defined]


def test_cases_beside_a_skill_mean_that_skill(project: Path) -> None:
    own = project / ".claude/skills/pdf/triggers.yaml"
    own.write_text("- prompt: fill it\n- prompt: read rows\n  skill: csv\n- prompt: hi\n  skill: null\n")
    assert [(case.prompt, case.skill) for case in read_cases(project)] == [
        ("fill it", "pdf"),
        ("read rows", "csv"),
        ("hi", None),
    ]


def test_what_is_no_case_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"prompt": "a"}\n{"promt": "b"}\n')
    with pytest.raises(ConfigError, match=r"bad\.jsonl:2"):
        read_cases(tmp_path / "bad.jsonl")
    (tmp_path / "broken.jsonl").write_text("{")
    with pytest.raises(ConfigError, match="can't be read"):
        read_cases(tmp_path / "broken.jsonl")
    with pytest.raises(NotFoundError):
        read_cases(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFoundError, match="no cases"):
        read_cases(tmp_path / "empty")


def test_a_failure_is_not_a_hit() -> None:
    report = score([Trial("p", None, None, error="no network"), Trial("p", None, None)])
    assert report.hit_rate == 0.5
    assert [(one.failed, one.missed) for one in report.scores] == [(1, 0)]
