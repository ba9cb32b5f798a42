"""`show --view`, `why SKILL` and `cook`: which sessions see which skills."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run

Write = Callable[[str, object], Path]
Ask = Callable[..., Any]
SKILL = "---\nname: mine\ndescription: Mine. Use when it is mine.\nactivate_deps: [audit-tests]\n---\nMINE\n"

pytestmark = pytest.mark.project({".claude/skills/mine/SKILL.md": SKILL}, inside=".")


def states(data: dict[str, Any]) -> dict[str, str]:
    return {
        one["name"]: "hidden" if not one["is_visible"] else "quiet" if one.get("is_quiet") else "visible"
        for one in data["sights"]
    }


def test_show_view_prints_what_each_session_sees(project: Path, write: Write, ask: Ask) -> None:
    write("checkrein.toml", '[skills]\ntier2 = ["mine"]\n[subsets]\ndisabled = ["github"]\n')
    plain = states(ask("show", "--view", "plain"))
    assert (plain["mine"], plain["open-kitchen"], plain["audit-tests"]) == ("hidden", "visible", "hidden")
    worker = states(ask("show", "--view", "headless", "--worker", "mine"))
    assert (worker["mine"], worker["audit-tests"], worker["diagnose-ci"]) == ("visible", "visible", "hidden")
    assert (worker["lens-boundaries"], worker["review-changes"]) == ("quiet", "hidden")
    assert set(states(ask("show", "--view", "cook")).values()) == {"visible"}


def test_show_view_of_a_project_without_rules_is_the_project(project: Path, ask: Ask) -> None:
    assert states(ask("show", "--view", "plain")) == {"mine": "visible"}


def test_show_view_in_words(project: Path, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("checkrein.toml", '[skills]\ntier2 = ["mine"]\n')
    assert run(["show", "--view", "plain"]) == 0
    printed = capsys.readouterr().out
    assert "- mine" in printed
    assert "it is in tier 2; a plain session sees tier 1  checkrein.toml:2" in printed


def test_show_view_refuses_what_it_can_t_do(project: Path, write: Write, ask: Ask) -> None:
    assert ask("show", "--worker", "mine", status=2)["kind"] == "usage"
    assert ask("show", "rules", "--view", "cook", status=2)["kind"] == "usage"
    unknown = ask("show", "--view", "headless", "--worker", "minne", status=1)
    assert (unknown["kind"], "'mine'" in unknown["message"]) == ("thing_not_found", True)
    write("checkrein.toml", '[skills]\ntier1 = ["mine"]\ntier3 = ["mine"]\n')
    twice = ask("show", "--view", "plain", status=2)
    assert (twice["kind"], "`mine`" in twice["message"]) == ("skill_in_two_tiers", True)


def test_why_says_which_rule_hid_a_skill(project: Path, write: Write, ask: Ask) -> None:
    write("checkrein.toml", '[subsets]\ndisabled = ["ci"]\n[skills]\ntier3 = ["mine"]\n')
    (told,) = ask("why", "diagnose-ci")["explanations"]
    plain, cook, headless = told["notes"]
    assert plain.startswith("plain: hidden: the subset `ci` is disabled")
    assert plain.endswith("checkrein.toml:2)")
    assert cook.startswith("cook: visible")
    assert headless.startswith("headless: hidden: the subset `ci`")
    (mine,) = ask("why", "mine")["explanations"]
    assert mine["notes"][0].startswith("plain: hidden: it is in tier 3")


def test_why_knows_bundled_skills_of_a_project_without_rules(project: Path, ask: Ask) -> None:
    (told,) = ask("why", "open-kitchen")["explanations"]
    assert told["notes"][0].startswith("plain: hidden: no configuration of visibility")
    (mine,) = ask("why", "mine")["explanations"]
    assert "notes" not in mine or mine["notes"] == []


def test_check_reports_both_tiers_and_unknown_names(project: Path, write: Write, ask: Ask) -> None:
    write(
        "checkrein.toml",
        '[skills]\ntier1 = ["mine", "min"]\ntier2 = ["mine"]\n[packs]\nenabled = ["reserch"]\n',
    )
    found = {one["code"]: one for one in ask("check")["findings"]}
    assert {"VIS001", "VIS002", "VIS003"} <= found.keys()
    assert found["VIS001"]["severity"] == "error"
    assert "'research'" in found["VIS003"]["message"]


def test_cook_lists_all_tiers(
    project: Path, write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("checkrein.toml", '[subsets]\ndisabled = ["ci"]\n')
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"text": "done"}))
    model = ("--model", f"scripted:{script}", "--output-format", "stream-json", "-p", "hello")
    assert run(["cook", *model]) == 0
    frames = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {"mine", "diagnose-ci", "audit-tests", "lens-boundaries"} <= set(frames[0]["skills"])
    assert run(["run", *model]) == 0
    frames = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert not {"diagnose-ci", "audit-tests"} & set(frames[0]["skills"])


@pytest.fixture
def fake_claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `claude` that writes down its arguments and the skills that it finds."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nfor word; do echo "word $word"; done\nls "$4/.claude/skills"\nexit 7\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return program


@pytest.mark.usefixtures("fake_claude")
def test_cook_starts_claude_code_with_the_directory(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["cook", "--backend", "claude", "--model", "opus", "hi there"]) == 7
    printed = capfd.readouterr().out.splitlines()
    said = [line.removeprefix("word ") for line in printed if line.startswith("word ")]
    assert said[0] == "--plugin-dir"
    assert said[2] == "--add-dir"
    assert said[-4:] == ["--model", "opus", "--", "hi there"]
    assert "diagnose-ci" in printed
    session = said[said.index("--session-id") + 1]
    assert Path(said[3]).name == session
    assert run(["cook", "--backend", "claude", "--resume", session]) == 7
    again = [line.removeprefix("word ") for line in capfd.readouterr().out.splitlines()]
    assert again[again.index("--resume") + 1] == session
    assert again[3] == said[3]


@pytest.mark.usefixtures("fake_claude")
def test_cook_with_claude_code_refuses_other_flags(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["cook", "--backend", "claude", "--dangerously-skip-permissions"]) == 2
    assert run(["cook", "--backend", "claude", "--permission-mode", "bypassPermissions"]) == 2
    assert run(["cook", "--backend", "claude", "--resume"]) == 2
    assert "word" not in capfd.readouterr().out
