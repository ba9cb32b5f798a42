"""`checkrein check`: formats, selection, baseline, fixes, explanations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run

BAD = (
    "---\nname: review\ndescription: Review a change. Use when asked.\n"
    "disallowed_tools: Read\n---\nRead it.\n"
)


pytestmark = pytest.mark.project(
    {".claude/skills/review/SKILL.md": BAD},
    name="a project",
    home={".claude/settings.json": '{"modle": "opus"}'},
    inside=".",
)


def report(capsys: pytest.CaptureFixture[str], *argv: str, status: int = 1) -> Any:
    assert run(["check", *argv]) == status
    return json.loads(capsys.readouterr().out)


def test_text_names_code_place_reason_and_fix(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check"]) == 1
    text = capsys.readouterr().out
    assert "warning[CC001] `disallowed_tools`" in text
    assert "--> .claude/skills/review/SKILL.md:4:1" in text
    assert "--> ~/.claude/settings.json:1:2" in text
    assert "  4 | disallowed_tools: Read\n    | ^^^^^^^^^^^^^^^^\n" in text
    assert "= why: " in text
    assert "= fix: " in text
    assert text.rstrip().endswith("2 warnings; 1 can be fixed with --fix")


def test_sarif_has_the_shape_of_the_standard(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = report(capsys, "--format", "sarif")
    assert document["version"] == "2.1.0"
    (one_run,) = document["runs"]
    rules = {rule["id"] for rule in one_run["tool"]["driver"]["rules"]}
    assert {result["ruleId"] for result in one_run["results"]} == rules == {"CC001", "CC030"}
    places = [result["locations"][0]["physicalLocation"] for result in one_run["results"]]
    uris = [place["artifactLocation"]["uri"] for place in places]
    assert uris[1] == ".claude/skills/review/SKILL.md"
    assert uris[0].startswith("file:///")
    assert uris[0].endswith("/.claude/settings.json")
    assert places[1]["region"] == {"startLine": 4, "startColumn": 1, "endLine": 4, "endColumn": 17}
    for result in one_run["results"]:
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]


def test_sarif_is_read_by_a_model_of_the_standard(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = pytest.importorskip("sarif_pydantic")
    document = report(capsys, "--format", "sarif")
    read = models.Sarif.model_validate(document)
    assert [result.rule_id for result in read.runs[0].results] == ["CC030", "CC001"]
    assert read.runs[0].results[1].locations[0].physical_location.region.end_column == 17


def test_github_annotations(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--format", "github", "--select", "CC001"]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(
        "::warning file=.claude/skills/review/SKILL.md,line=4,col=1,endLine=4,title=CC001::`disallowed_tools`"
    )
    assert ". Fix: " in line


def test_json_is_the_payload_alone_and_with_the_envelope(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = report(capsys, "--format", "json")
    assert bare == report(capsys, "--json")["data"]
    assert bare["counts"] == {"error": 0, "warning": 2, "info": 0}


@pytest.mark.parametrize(
    ("argv", "codes"),
    [
        (["--select", "CC001"], {"CC001"}),
        (["--select", "cc"], {"CC001", "CC030"}),
        (["--ignore", "CC030,AS"], {"CC001"}),
        (["--select", "CC", "--ignore", "CC001"], {"CC030"}),
        (["--select", "CC001", "--ignore", "CC"], {"CC001"}),
    ],
)
def test_selection(
    project: Path, argv: list[str], codes: set[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert {found["code"] for found in report(capsys, "--format", "json", *argv)["findings"]} == codes


def test_selection_in_the_configuration_is_that_of_the_command(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "checkrein.toml").write_text('[check]\nignore = ["CC"]\n')
    assert report(capsys, "--format", "json", status=0)["findings"] == []


def test_a_code_that_does_not_exist_is_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--select", "CCC001"]) == 2
    assert "CCC001" in capsys.readouterr().err
    assert run(["check", "--ignore", "QQ"]) == 2


def test_a_baseline_hides_what_is_known_and_nothing_else(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "--baseline", "known.json", "--write-baseline"]) == 0
    assert "2 known from the baseline" in capsys.readouterr().out
    skill = project / ".claude" / "skills" / "review" / "SKILL.md"
    skill.write_text(
        BAD.replace("disallowed_tools", "# a line more\ndisallowed_tools").replace(
            "Read it", "Go to the argument $1"
        )
    )
    found = report(capsys, "--baseline", "known.json", "--format", "json")
    assert [one["code"] for one in found["findings"]] == ["CC013"]
    assert found["known"] == 2


@pytest.mark.parametrize("content", ["", "[]", '{"findings": 3}', None])
def test_a_baseline_that_is_none(
    project: Path, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (project / "known.json").write_text(content)
    assert run(["check", "--baseline", "known.json"]) == 2
    assert "--write-baseline" in capsys.readouterr().err


def test_fixes_change_the_project_and_never_the_home(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Path.home()
    before = (home / ".claude" / "settings.json").read_text()
    done = report(capsys, "--fix", "--format", "json")
    assert [one["code"] for one in done["fixed"]] == ["CC001"]
    assert [one["code"] for one in done["findings"]] == ["CC030"]
    skill = project / ".claude" / "skills" / "review" / "SKILL.md"
    assert skill.read_text() == BAD.replace("disallowed_tools", "disallowed-tools")
    assert (home / ".claude" / "settings.json").read_text() == before


def test_a_fix_keeps_line_ends_and_the_mark(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skill = project / ".claude" / "skills" / "review" / "SKILL.md"
    skill.write_bytes(b"\xef\xbb\xbf" + BAD.replace("\n", "\r\n").encode())
    report(capsys, "--fix", "--format", "json")
    wanted = BAD.replace("disallowed_tools", "disallowed-tools").replace("\n", "\r\n").encode()
    assert skill.read_bytes() == b"\xef\xbb\xbf" + wanted


@pytest.mark.parametrize(("fail_on", "status"), [("error", 0), ("warning", 1), ("info", 1)])
def test_the_threshold(project: Path, fail_on: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    report(capsys, "--format", "json", "--fail-on", fail_on, status=status)


def test_a_code_is_explained(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--explain", "perm003"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("PERM003 path-rule-ignored (error, fixable)")
    assert "Reported:" in text
    assert "Not reported:" in text
    assert run(["check", "--explain", "PERM0003"]) == 1
    assert "Did you mean 'PERM003'?" in capsys.readouterr().err


def test_one_file_is_checked_in_its_project(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, ".claude/skills/review/SKILL.md", "--format", "json")
    assert [one["code"] for one in found["findings"]] == ["CC001"]
