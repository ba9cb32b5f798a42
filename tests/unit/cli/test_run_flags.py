"""The forms in which scripts for Claude Code give the arguments of a run, and what becomes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import UsageError
from checkrein.cli import parser
from checkrein.cli.run_options import project_of, session_options
from checkrein.cli.word_order import ordered
from checkrein.runtime.session.options import Options


def parsed(*argv: str) -> dict[str, Any]:
    name, values = parser.root().main(args=ordered(argv), prog_name="b", standalone_mode=False)
    assert name == "run"
    return dict(values)


def options(*argv: str) -> Options:
    return session_options(parsed("-p", "hi", *argv))


@pytest.mark.parametrize(
    "argv",
    [
        ("--allowedTools", "Bash(git *)", "Read"),
        ("--allowedTools", "Bash(git *),Read"),
        ("--allowedTools", "Bash(git *) Read"),
        ("--allowedTools=Bash(git *),Read",),
        ("--allowedTools", "Bash(git *)", "--allowedTools", "Read"),
        ("--allowedTools=Bash(git *)", "--allowedTools=Read"),
        ("--allowed-tools", "Bash(git *)", "Read"),
        ("--allowedTools", "Bash(git *)", "Read", "--permission-mode", "default"),
    ],
)
def test_allow_rules(argv: tuple[str, ...]) -> None:
    assert options(*argv).allowed == ("Bash(git *)", "Read")


@pytest.mark.parametrize("flag", ["--disallowedTools", "--disallowed-tools"])
def test_deny_rules(flag: str) -> None:
    assert options(flag, "Bash(rm *, x)", "WebFetch").disallowed == ("Bash(rm *, x)", "WebFetch")


def test_a_comma_in_brackets_does_not_separate() -> None:
    assert options("--allowedTools", "Edit(a,b.txt),Read").allowed == ("Edit(a,b.txt)", "Read")


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ((), None),
        (("--tools", ""), ()),
        (("--tools=",), ()),
        (("--tools", "default"), ("default",)),
        (("--tools", "Bash,Read"), ("Bash", "Read")),
        (("--tools", "Bash", "Read"), ("Bash", "Read")),
    ],
)
def test_tools(argv: tuple[str, ...], expected: tuple[str, ...] | None) -> None:
    assert options(*argv).tools == expected


@pytest.mark.parametrize(
    ("argv", "mode"),
    [
        (("--permission-mode", "acceptEdits"), "acceptEdits"),
        (("--permission-mode=plan",), "plan"),
        (("--permission-mode", "manual"), "default"),
        (("--dangerously-skip-permissions",), "bypassPermissions"),
        ((), None),
    ],
)
def test_modes(argv: tuple[str, ...], mode: str | None) -> None:
    assert options(*argv).mode == mode


def test_the_mode_that_asks_nothing_must_be_reachable_from_the_start() -> None:
    assert not options().allow_bypass
    assert options("--allow-dangerously-skip-permissions").allow_bypass
    assert options("--dangerously-skip-permissions").allow_bypass


def test_a_prompt_after_flags_that_take_many() -> None:
    values = parsed("-p", "--allowedTools", "Read", "Bash", "--", "do it")
    assert values["prompt"] == "do it"
    assert session_options(values).allowed == ("Read", "Bash")
    assert parsed("-p", "--add-dir", "a", "b", "--model", "m", "do it")["prompt"] == "do it"


def test_a_prompt_that_looks_like_a_flag() -> None:
    assert parsed("-p", "--", "--help")["prompt"] == "--help"


@pytest.mark.parametrize(
    ("argv", "resume", "newest"),
    [
        (("--resume", "abc"), "abc", False),
        (("--resume=abc",), "abc", False),
        (("-r", "abc"), "abc", False),
        (("--resume",), None, True),
        (("--resume", "--model", "m"), None, True),
        (("--continue",), None, True),
        (("-c",), None, True),
        ((), None, False),
    ],
)
def test_going_on_with_a_session(argv: tuple[str, ...], resume: str | None, newest: bool) -> None:
    chosen = options(*argv)
    assert (chosen.resume, chosen.continue_) == (resume, newest)


def test_directories_keep_their_blanks_and_commas(tmp_path: Path) -> None:
    names = ["with blank", "with,comma"]
    for name in names:
        (tmp_path / name).mkdir()
    argv = ["-p", "hi", "-C", str(tmp_path), "--add-dir", *(str(tmp_path / name) for name in names)]
    view = project_of(parsed(*argv))
    assert sorted(view.project.place.add_dirs) == sorted(str(tmp_path / name) for name in names)


class TestSettings:
    def denied(self, tmp_path: Path, *argv: str) -> list[str]:
        view = project_of(parsed("-p", "hi", "-C", str(tmp_path), *argv))
        return [rule.text for rule in view.project.rules if rule.verdict == "deny"]

    def test_as_json_and_as_a_file(self, tmp_path: Path) -> None:
        text = json.dumps({"permissions": {"deny": ["Bash(x)"]}})
        file = tmp_path / "more.json"
        file.write_text(text)
        for form in (("--settings", text), (f"--settings={text}",), ("--settings", str(file))):
            assert self.denied(tmp_path, *form) == ["Bash(x)"]

    @pytest.mark.parametrize("value", ["{bad", "[1]", "none.json", ".", '{"a": NaN'])
    def test_what_can_not_be_used_is_said(self, tmp_path: Path, value: str) -> None:
        with pytest.raises(UsageError, match="--settings"):
            self.denied(tmp_path, "--settings", value)

    def test_sources(self, tmp_path: Path) -> None:
        (tmp_path / ".claude").mkdir()
        rules = {"permissions": {"deny": ["Bash(project)"]}}
        (tmp_path / ".claude" / "settings.json").write_text(json.dumps(rules))
        assert self.denied(tmp_path) == ["Bash(project)"]
        assert self.denied(tmp_path, "--setting-sources", "user,project") == ["Bash(project)"]
        assert self.denied(tmp_path, "--setting-sources", "user, local") == []
        assert self.denied(tmp_path, "--setting-sources=") == []
        assert self.denied(tmp_path, "--setting-sources", "") == []
        with pytest.raises(UsageError, match="'projekt'"):
            self.denied(tmp_path, "--setting-sources", "projekt")

    def test_naming_the_project_is_a_consent(self) -> None:
        assert options("--setting-sources", "user,project").trust
        assert not options("--setting-sources", "user").trust
        assert not options().trust


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--max-turns", "-1"), "--max-turns must be at least 0"),
        (("--max-budget-usd", "-0.5"), "--max-budget-usd must be at least 0"),
        (("--max-seconds", "nan"), "--max-seconds must be at least 0"),
        (("--json-schema", "{"), "--json-schema is not JSON"),
        (("--json-schema", "[]"), "--json-schema must be a JSON object"),
        (("--system-prompt", "a", "--system-prompt-file", "b"), "can't be used together"),
        (("--append-system-prompt-file", "/none"), "can't be read"),
    ],
)
def test_values_that_make_no_sense(argv: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        options(*argv)


def test_limits() -> None:
    budget = options("--max-turns", "3", "--max-budget-usd", "0.5", "--max-seconds", "9").budget
    assert (budget.requests, budget.usd, budget.seconds) == (3, 0.5, 9.0)


def test_an_empty_system_prompt_is_one() -> None:
    assert options("--system-prompt", "").system_prompt == ""
    assert options().system_prompt is None


def test_several_fallback_models() -> None:
    assert options("--fallback-model", "a,b").fallback_models == ("a", "b")


@pytest.mark.parametrize(("flag", "trigger"), [("--init", "init"), ("--maintenance", "maintenance")])
def test_setup(flag: str, trigger: str) -> None:
    assert options(flag).setup == trigger


def test_flags_of_a_newer_sdk_do_not_take_the_words_of_others() -> None:
    """The TypeScript SDK writes `--flag=value`, the Python SDK both forms."""
    from checkrein.cli.foreign_flags import split

    words = ["run", "--input-format", "stream-json", "--setting-sources=", "--model", "m", "--brand-new", "x"]
    words += ["--effort=high", "--newer=1", "--system-prompt", "", "--newest", "--verbose"]
    kept, foreign = split(words)
    assert foreign == ("--brand-new", "--newer", "--newest")
    assert kept == [*words[:6], "--effort=high", "--system-prompt", "", "--verbose"]
