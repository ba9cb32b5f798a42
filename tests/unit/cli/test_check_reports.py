"""`checkrein check`: suppressions, baseline, lists, differences, fixes, formats and the cache."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checkrein.cli.main import run
from checkrein.passes.survey import cache
from support.sarif import valid

HEAD = "---\nname: review\ndescription: Review a change. Use when asked.\n"
BAD = HEAD + "disallowed_tools: Read\n---\nRead it.\n"
SKILL = ".claude/skills/review/SKILL.md"


@pytest.fixture
def found(capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    def check(*argv: str) -> list[str]:
        run(["check", *argv, "--format", "json"])
        return [one["code"] for one in json.loads(capsys.readouterr().out)["findings"]]

    return check


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (HEAD + "disallowed_tools: Read  # checkrein: ignore CC001\n---\nRead it.\n", []),
        (HEAD + "# checkrein: ignore CC\ndisallowed_tools: Read\n---\nRead it.\n", []),
        (HEAD + "disallowed_tools: Read\n---\n<!-- checkrein: ignore-file CC001, AS -->\nRead it.\n", []),
        (HEAD + "disallowed_tools: Read  # checkrein: ignore AS\n---\nRead it.\n", ["CC001"]),
        (HEAD + "disallowed_tools: Read\n---\n\n<!-- checkrein: ignore CC001 -->\nRead it.\n", ["CC001"]),
        (HEAD + "disallowed_tools: Read  # checkrein: ignore\n---\nRead it.\n", ["CC001", "SUP001"]),
        (HEAD + "disallowed_tools: Read  # checkrein: ignore CC999\n---\nRead it.\n", ["CC001", "SUP001"]),
    ],
)
@pytest.mark.project({SKILL: BAD}, inside=".")
def test_comments_hide_findings(
    project: Path, text: str, codes: list[str], found: Callable[..., list[str]]
) -> None:
    (project / SKILL).write_text(text)
    assert sorted(found()) == codes


@pytest.mark.project({".claude/settings.jsonc": "", "AGENTS.toml": "", SKILL: BAD}, inside=".")
@pytest.mark.parametrize(
    ("per_file", "codes"),
    [
        ({".claude/skills/**": ["CC001"]}, []),
        ({"SKILL.md": ["CC"]}, []),
        ({"*.md": ["AS"]}, ["CC001"]),
        ({"/SKILL.md": ["CC001"]}, ["CC001"]),
    ],
)
def test_codes_are_left_out_by_file(
    project: Path, per_file: dict[str, list[str]], codes: list[str], found: Callable[..., list[str]]
) -> None:
    rows = "".join(f"{json.dumps(key)} = {json.dumps(value)}\n" for key, value in per_file.items())
    (project / "checkrein.toml").write_text(f"[check.per_file]\n{rows}")
    assert found() == codes


@pytest.mark.project({SKILL: BAD}, inside=".")
def test_a_misspelt_code_in_the_configuration_is_an_error(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "checkrein.toml").write_text('[check.per_file]\n"*" = ["CCC1"]\n')
    assert run(["check"]) == 2
    assert "No code starts with CCC1" in capsys.readouterr().err


LONG = HEAD + "---\n" + "Step.\n" * 501


@pytest.mark.project({SKILL: LONG}, inside=".")
def test_a_baseline_survives_moved_lines_and_other_counts(
    project: Path, found: Callable[..., list[str]]
) -> None:
    assert found() == ["AS009"]
    assert found("--baseline", "known.json", "--write-baseline") == []
    (project / SKILL).write_text(HEAD + "---\n\n\n" + "Step.\n" * 530)
    assert found("--baseline", "known.json") == []
    other = project / ".claude/skills/other/SKILL.md"
    other.parent.mkdir()
    other.write_text(LONG.replace("name: review", "name: other").replace("a change", "a plan"))
    assert found("--baseline", "known.json") == ["AS009"]


@pytest.mark.project({SKILL: LONG}, inside=".")
def test_a_baseline_of_the_first_version_still_counts(project: Path, found: Callable[..., list[str]]) -> None:
    text = "The body of the skill `review` has 501 lines; keep it under 500"
    known = {"version": 1, "findings": {f"AS009 {SKILL} {text}": 1}}
    (project / "known.json").write_text(json.dumps(known))
    assert found("--baseline", "known.json") == []


@pytest.mark.project({SKILL: BAD}, inside=".")
def test_lists_statistics_and_differences(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--list", "--select", "CC001,AS"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].split()[:3] == ["CC001", "warning", "fix"]
    assert all(line.startswith(("AS", "CC001")) for line in lines)
    assert run(["check", "--statistics"]) == 1
    assert "1  CC001     A frontmatter field is misspelt. [1 with --fix]" in capsys.readouterr().out
    assert run(["check", "--diff"]) == 1
    diff = capsys.readouterr().out
    assert f"--- a/{SKILL}\n+++ b/{SKILL}\n" in diff
    assert "-disallowed_tools: Read\n+disallowed-tools: Read\n" in diff
    assert (project / SKILL).read_text() == BAD
    assert run(["check", "--fix"]) == 0
    text = capsys.readouterr().out
    assert f"fixed {SKILL}:4 CC001 Rename `disallowed_tools` to `disallowed-tools`" in text
    assert text.rstrip().endswith("nothing to report; 1 fixed")


AGENT = ".claude/agents/tester.md"
TESTER = ".claude/skills/tester/SKILL.md"


@pytest.mark.parametrize(
    ("files", "safe", "unsafe"),
    [
        ({AGENT: "tools: Read, bash"}, {AGENT: "tools: Read, Bash"}, {}),
        ({AGENT: "tools: Read, search"}, {}, {}),
        ({AGENT: "tools: Read, WebSerch"}, {}, {AGENT: "tools: Read, WebSearch"}),
        ({AGENT: "tools: Read\npermisionMode: plan"}, {}, {AGENT: "tools: Read\npermissionMode: plan"}),
        ({AGENT: "permissionMode: Plan"}, {AGENT: "permissionMode: plan"}, {}),
        ({AGENT: "permissionMode: AcceptEdits"}, {}, {AGENT: "permissionMode: acceptEdits"}),
        ({TESTER: "allowed-tools: bash"}, {}, {TESTER: "allowed-tools: Bash"}),
        ({TESTER: "disallowed-tools: bash"}, {TESTER: "disallowed-tools: Bash"}, {}),
        ({AGENT: "tools: Read\nhook: {}"}, {}, {AGENT: "tools: Read\nhooks: {}"}),
    ],
)
@pytest.mark.project({}, inside=".")
def test_a_safe_fix_adds_no_tool_and_no_power(
    project: Path,
    write: Callable[[str, object], Path],
    capsys: pytest.CaptureFixture[str],
    files: dict[str, str],
    safe: dict[str, str],
    unsafe: dict[str, str],
) -> None:
    def text(fields: str) -> str:
        return f"---\nname: tester\ndescription: Use when tests must run.\n{fields}\n---\nTest.\n"

    for flag, wanted in (("--fix", files | safe), ("--unsafe-fixes", files | safe | unsafe)):
        for name, fields in files.items():
            write(name, text(fields))
        run(["check", flag])
        capsys.readouterr()
        for name, fields in wanted.items():
            assert (project / name).read_text() == text(fields), flag


@pytest.mark.project(
    {
        ".mcp.json": {"mcpServers": {"a": {"url": "https://localhost/x"}}},
        ".claude/settings.json": {"Permissions": {}},
    },
    inside=".",
)
def test_a_safe_fix_enables_no_server_and_no_setting(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_text() for path in project.rglob("*.json")}
    run(["check", "--fix"])
    capsys.readouterr()
    assert {path: path.read_text() for path in project.rglob("*.json")} == before


@pytest.mark.project(
    {AGENT: "---\nname: tester\ndescription: Use when asked.\ntools: Read, search\n---\nTest.\n"}, inside="."
)
def test_names_of_another_product_are_said_to_be_that(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check"]) == 1
    assert "`search` in `tools` of the agent `tester` is a name of Copilot" in capsys.readouterr().out


@pytest.mark.project({SKILL: BAD, "sub/x.md": ""}, inside="sub")
def test_sarif_has_fixes_fingerprints_help_and_relative_paths(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def sarif() -> Any:
        run(["check", "--format", "sarif"])
        return json.loads(capsys.readouterr().out)["runs"][0]

    first = sarif()
    (result,) = first["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": SKILL, "uriBaseId": "PROJECT"}
    (rule,) = first["tool"]["driver"]["rules"]
    assert rule["helpUri"] == "urn:checkrein:check:CC001"
    assert rule["help"]["text"]
    (fix,) = result["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"] == place
    (replacement,) = change["replacements"]
    assert replacement["insertedContent"]["text"] == "disallowed-tools"
    assert replacement["deletedRegion"] == {"startLine": 4, "startColumn": 1, "endLine": 4, "endColumn": 17}
    (project / SKILL).write_text(BAD.replace("---\nname", "---\nlicense: MIT\nname"))
    (moved,) = sarif()["results"]
    assert moved["partialFingerprints"] == result["partialFingerprints"]
    assert moved["locations"] != result["locations"]


ODD = ".claude/skills/a b%c\né/SKILL.md"


@pytest.mark.project(
    {
        SKILL: BAD,
        ODD: BAD,
        "CLAUDE.md": "Read @missing.md first.\n",
        ".claude/settings.json": {"permissions": {"deny": ["bash(rm *)", "bash(rm *)"], "allow": ["Bash"]}},
        ".mcp.json": {"mcpServers": {"a": {"url": "https://localhost/x"}}},
        ".claude/agents/one.md": "---\nname: one\ndescription: Use it.\ntools: Read, bash\n---\nGo.\n",
        ".claude/agents/two.md": "---\nname: one\ndescription: Use it.\ntools: Read\n---\nGo.\n",
    },
    home={".claude/settings.json": {"modle": "opus"}},
    inside=".",
)
def test_sarif_keeps_to_the_standard(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["check", "--format", "sarif"])
    (report,) = valid(capsys.readouterr().out).runs
    assert len({result.rule_id for result in report.results}) > 6
    assert any(result.fixes for result in report.results)
    assert any(result.related_locations for result in report.results)
    uris = {
        place.physical_location.artifact_location.uri
        for result in report.results
        for place in result.locations
    }
    assert ".claude/skills/a%20b%25c%0A%C3%A9/SKILL.md" in uris
    assert any(uri.startswith("file:///") for uri in uris)
    assert all(rule.help.markdown and "Fix:" in rule.help.markdown for rule in report.tool.driver.rules)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"startLine": 4', '"startLine": 0'),
        ('"endColumn": 17', '"endColumn": 1, "startColumn": 3'),
        ('"uriBaseId": "PROJECT"', '"uriBaseId": "ROOT"'),
        ('"ruleIndex": 0', '"ruleIndex": 0, "rank": 1'),
        ('"urn:checkrein:check:CC001"', '"docs/checks.md"'),
    ],
)
@pytest.mark.project({SKILL: BAD}, inside=".")
def test_a_wrong_sarif_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], old: str, new: str
) -> None:
    run(["check", "--format", "sarif"])
    text = capsys.readouterr().out
    assert old in text
    valid(text)
    with pytest.raises((msgspec.ValidationError, IndexError)):
        valid(text.replace(old, new))


@pytest.mark.project({SKILL: BAD}, inside=".")
def test_gitlab_code_quality(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--format", "gitlab"]) == 1
    (one,) = json.loads(capsys.readouterr().out)
    assert one["location"] == {"path": SKILL, "lines": {"begin": 4}}
    assert (one["check_name"], one["severity"]) == ("CC001", "minor")
    assert one["fingerprint"]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A line for each time that the checks really ran."""
    from checkrein.passes.survey import report

    made: list[str] = []
    real = report.make_report

    def counted(*arguments: Any) -> Any:
        made.append("run")
        return real(*arguments)

    monkeypatch.setattr(report, "make_report", counted)
    monkeypatch.setattr(cache, "_SETTLED_NS", -(10**18))
    return made


@pytest.mark.project({SKILL: BAD, ".claude/skills/review/references/guide.md": "A.\n"}, inside=".")
def test_nothing_is_checked_twice_until_something_changes(
    project: Path, found: Callable[..., list[str]], runs: list[str]
) -> None:
    first = found()
    assert found() == first
    assert runs == ["run"]
    (project / SKILL).write_text(BAD + "Follow [b](references/b.md).\n")
    assert sorted(found()) == ["AS018", "AS026", "CC001"]
    (project / ".claude/skills/review/references/b.md").write_text("B.\n")
    assert "AS018" not in found()
    assert len(runs) == 3
    home = Path.home() / ".claude"
    home.mkdir()
    (home / "settings.json").write_text('{"modle": "opus"}')
    assert "CC030" in found()
    assert found("--select", "CC030") == ["CC030"]
    found("--no-cache")
    assert len(runs) == 6


@pytest.mark.project({"CLAUDE.md": "Read @../other/guide.md first.\n"}, inside=".")
def test_a_file_outside_that_is_not_imported_counts_too(
    project: Path, found: Callable[..., list[str]], runs: list[str]
) -> None:
    assert "IMP001" in found()
    guide = project.parent / "other/guide.md"
    guide.parent.mkdir()
    guide.write_text("Be brief.\n")
    assert "IMP002" in found()
    guide.unlink()
    assert "IMP001" in found()
    assert len(runs) == 3


@pytest.mark.project({SKILL: BAD}, inside=".")
def test_the_cache_is_private_and_a_broken_entry_counts_as_none(
    project: Path, found: Callable[..., list[str]], runs: list[str]
) -> None:
    first = found()
    folder = Path(os.environ["CHECKREIN_HOME"], "cache", "check")
    (entry,) = folder.iterdir()
    assert entry.stat().st_mode & 0o777 == 0o600
    entry.write_text("{")
    assert found() == first
    assert len(runs) == 2


@pytest.mark.project({SKILL: BAD}, inside=".")
def test_a_tree_that_just_changed_is_not_kept(project: Path, found: Callable[..., list[str]]) -> None:
    os.utime(project / SKILL, (time.time() + 60,) * 2)  # a slow machine starts late, but not that late
    found()
    assert not Path(os.environ["CHECKREIN_HOME"], "cache", "check").exists()


def test_the_action_and_the_template_use_flags_that_exist() -> None:
    from checkrein.cli.check import COMMAND

    flags = {flag for arg in COMMAND.args for flag in arg.flags}
    root = Path(__file__).parents[3]
    for name in ("action.yml", "templates/checkrein.gitlab-ci.yml"):
        text = (root / name).read_text("utf-8")
        used = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
        assert used - {"--quiet"} <= flags, name
        assert "--fail-on" in used
