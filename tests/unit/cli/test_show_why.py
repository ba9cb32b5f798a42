"""`show`, `why` and `check` on the example project and on broken ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bridle.cli import registry
from bridle.cli.main import run

EXAMPLE = Path(__file__).parents[3] / "examples" / "first"


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(EXAMPLE)

    def run_json(*argv: str, status: int = 0) -> Any:
        assert run([*argv, "--json"]) == status
        document = json.loads(capsys.readouterr().out)
        assert document["exit_code"] == status
        if "data" in document and "--explain" not in argv:
            payload = registry.command(argv[0]).payload
            msgspec.convert(document["data"], payload)
            allowed = {field.encode_name for field in msgspec.structs.fields(payload)}
            assert set(document["data"]) <= allowed
        return document.get("data") or document["error"]

    return run_json


def test_the_example_is_shown_whole(ask) -> None:
    data = ask("show")
    assert data["dialect"] == "claude_code"
    names = {(row["kind"], row["name"]) for row in data["rows"]}
    assert {("skill", "fix-failing-test"), ("agent", "reviewer"), ("rule", "Bash(rm *)")} <= names


def test_one_kind_and_one_thing(ask) -> None:
    assert {row["kind"] for row in ask("show", "rules")["rows"]} == {"rule"}
    (item,) = ask("show", "reviewer")["items"]
    assert item["tools"] == ["Read", "Grep", "Glob"]
    assert item["origin"]["file"].endswith("reviewer.md")


def test_detection_prints_signals(ask) -> None:
    found = ask("show", "--detect")["detection"]
    assert found["dialect"] == "claude_code"
    assert any(signal["id"] == "DET-01" for signal in found["signals"])


def test_the_example_is_clean(ask) -> None:
    assert ask("check", str(EXAMPLE))["findings"] == []


@pytest.mark.parametrize(
    ("thing", "kind"),
    [
        ("Bash(rm -rf build)", "call"),
        ("CLAUDE.md", "path"),
        ("shop/price.py", "path"),
        ("reviewer", "name"),
        ("PostToolUse", "name"),
        ("permissions.deny", "key"),
        ("permissions", "key"),
    ],
)
def test_things_are_understood(ask, thing: str, kind: str) -> None:
    data = ask("why", thing)
    assert data["kind"] == kind
    assert data.get("explanations") or data.get("decisions")


def test_a_call_names_every_piece(ask) -> None:
    decision = ask("why", "Bash(git status && rm -rf build)")["decisions"]["Bash(git status && rm -rf build)"]
    assert decision["verdict"] == "deny"
    assert decision["origin"]["span"]["line"] == 5
    assert [piece["verdict"] for piece in decision["trace"]] == ["allow", "deny"]


def test_an_import_names_its_importer(ask) -> None:
    (found,) = ask("why", "docs/style.md")["explanations"]
    assert any("CLAUDE.md:6" in note for note in found["notes"])


def test_a_key_names_every_element(ask) -> None:
    (found,) = ask("why", "permissions.deny")["explanations"]
    assert found["value"] == ["Bash(rm *)", "Bash(git push *)", "Read(.env)"]
    assert {link["origin"]["span"]["line"] for link in found["chain"]} == {5}


def test_forcing_a_kind(ask) -> None:
    assert ask("why", "reviewer", "--kind", "key", status=1)["kind"] == "thing_not_found"


def test_unknown_things_get_the_nearest_name(ask) -> None:
    error = ask("why", "reviwer", status=1)
    assert "'reviewer'" in error["hint"]


@pytest.fixture
def two_scopes(tmp_path: Path, _own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for base, words in ((tmp_path / "p" / ".claude", "project"), (_own_home / ".claude", "user")):
        skill = base / "skills" / "one" / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(f"---\nname: one\ndescription: Use when the {words} wants it.\n---\nDo.\n")
    token = "sk-ant-" + "a1B2" * 8
    (tmp_path / "p" / ".claude" / "settings.json").write_text(json.dumps({"env": {"MY_TOKEN": token}}))
    monkeypatch.chdir(tmp_path / "p")
    return tmp_path / "p"


def test_a_shadowed_skill_says_why(two_scopes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "one"]) == 0
    text = capsys.readouterr().out
    assert "user wants it" in text
    assert "✗ project" in text
    assert run(["show", "skills"]) == 0
    assert "shadowed" in capsys.readouterr().out


def test_secrets_are_never_printed(two_scopes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for argv in (
        ["show"],
        ["show", "--json"],
        ["show", "-a"],
        ["why", "env"],
        ["why", "env.MY_TOKEN", "--json"],
        ["check"],
    ):
        run(argv)
        out = capsys.readouterr()
        assert "a1B2" not in out.out + out.err
        assert "MY_TOKEN" in out.out or argv == ["show"]


class TestCheckFormats:
    @pytest.fixture
    def broken(self, tmp_path: Path) -> Path:
        skill = tmp_path / ".claude" / "skills" / "bad" / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text("---\nname: bad\ndescripton: Use when bad: things happen.\n---\nBody\n")
        return tmp_path

    def test_text_has_place_excerpt_reason_and_fix(
        self, broken: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert run(["check", str(broken)]) == 1
        text = capsys.readouterr().out
        assert "SKILL.md:3:1" in text
        assert "| descripton:" in text
        assert "^" in text
        assert "why:" in text
        assert "fix:" in text

    def test_sarif(self, broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run(["check", str(broken), "--format", "sarif"])
        document = json.loads(capsys.readouterr().out)
        assert document["version"] == "2.1.0"
        results = document["runs"][0]["results"]
        rules = {rule["id"] for rule in document["runs"][0]["tool"]["driver"]["rules"]}
        assert results
        assert {result["ruleId"] for result in results} <= rules
        location = results[0]["locations"][0]["physicalLocation"]
        assert location["artifactLocation"]["uri"] == ".claude/skills/bad/SKILL.md"

    def test_github(self, broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
        run(["check", str(broken), "--format", "github"])
        lines = capsys.readouterr().out.splitlines()
        assert all(line.startswith("::") for line in lines)
        assert any("line=3" in line for line in lines)

    def test_select_ignore_and_fail_on(self, broken: Path) -> None:
        assert run(["check", str(broken), "--select", "PL"]) == 0
        assert run(["check", str(broken), "--ignore", "AS,CC,FM,XP"]) == 0
        assert run(["check", str(broken), "--select", "FM", "--fail-on", "error"]) == 0

    def test_baseline(self, broken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = str(tmp_path / "base.json")
        assert run(["check", str(broken), "--baseline", file, "--write-baseline"]) == 0
        assert run(["check", str(broken), "--baseline", file]) == 0
        assert "known from the baseline" in capsys.readouterr().out

    def test_fix_mends_and_is_stable(self, broken: Path) -> None:
        file = broken / ".claude/skills/bad/SKILL.md"
        file.write_text("---\nname: bad\ndescripton: Use when bad.\nallowed_tools: Read\n---\nBody\n")
        run(["check", str(broken), "--fix"])
        text = file.read_text()
        assert "allowed-tools: Read" in text
        assert "descripton" in text
        run(["check", str(broken), "--fix"])
        assert file.read_text() == text
        run(["check", str(broken), "--fix", "--unsafe-fixes"])
        assert "description: Use when bad." in file.read_text()

    def test_explain(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["check", "--explain", "FM001"]) == 0
        assert "FM001" in capsys.readouterr().out
        assert run(["check", "--explain", "ZZ999"]) == 1
