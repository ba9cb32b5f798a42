"""What holds for every call: versions, usage errors, bugs, signals, answers that nobody takes."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

from checkrein.cli import registry
from checkrein.cli.machine.front import asked_version
from checkrein.cli.main import run
from checkrein.cli.registry import Outcome
from checkrein.protocol.machine.answer import failure
from checkrein.protocol.machine.verbs import MACHINE, OPT_OUT

Captured = pytest.CaptureFixture[str]


def call(capsys: Captured, *argv: str) -> tuple[int, dict[str, Any]]:
    status = run(["machine", *argv])
    said = capsys.readouterr()
    assert said.err == ""
    document: dict[str, Any] = json.loads(said.out)
    assert document["exit_code"] == status
    return status, document


def test_the_environment_chooses_the_version(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHECKREIN_SCHEMA_VERSION", "1.0")
    _, old = call(capsys, "show-tool", "Bash", "--json")
    assert (old["schema_version"], old["kind"], old["name"]) == ("1.0", "show-tool", "Bash")
    assert "warnings" not in old


def test_the_deprecation_is_told_in_2_0_only(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHECKREIN_SCHEMA_VERSION", "1.0")
    _, new = call(capsys, "show-tool", "Bash", "--json", "--schema-version", "2.0")
    assert [warning["code"] for warning in new["warnings"]] == ["PROTO001"]
    monkeypatch.delenv("CHECKREIN_SCHEMA_VERSION")
    assert call(capsys, "show-tool", "Bash", "--json")[1]["warnings"] == []


def test_a_version_that_does_not_exist(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHECKREIN_SCHEMA_VERSION", "7")
    status, document = call(capsys, "show-tool", "Bash", "--json")
    assert (status, document["error"]["kind"]) == (1, "schema_version_unknown")


@pytest.mark.parametrize(
    ("argv", "version"),
    [
        (["x"], "2.0"),
        (["x", "--schema-version", "1.0"], "1.0"),
        (["x", "--schema-version=1.0"], "1.0"),
        (["x", "--envelope-version", "1.0"], "1.0"),
        (["x", "--schema-version", "9"], "2.0"),
        (["x", "--schema-version"], "2.0"),
        (["x", "--", "--schema-version", "1.0"], "2.0"),
    ],
)
def test_the_version_is_known_before_parsing(argv: list[str], version: str) -> None:
    assert asked_version(argv) == version


@pytest.mark.parametrize(
    ("argv", "command", "kind"),
    [
        (["--json"], "<missing>", "missing_argument"),
        (["zap", "--json"], "zap", "unknown_subcommand"),
        (["show-tool", "--json"], "show-tool", "missing_argument"),
        (["show-tool", "A", "B", "--json"], "show-tool", "unexpected_extra_args"),
        (["route", "x", "--limit", "y", "--json"], "route", "invalid_flag_value"),
        (["tool-pool", "--json", "--project"], "tool-pool", "missing_flag_value"),
        (["tool-pool", "--json", "--nope"], "tool-pool", "unknown_option"),
    ],
)
def test_usage_errors_are_typed(capsys: Captured, argv: list[str], command: str, kind: str) -> None:
    status, document = call(capsys, *argv)
    error = document["error"]
    assert (status, document["command"], error["kind"]) == (1, command, kind)
    assert (error["class"], error["operation"]) == ("usage", "parse")


def test_an_unknown_verb_is_told_the_known_ones(capsys: Captured) -> None:
    _, document = call(capsys, "list-sesions", "--json")
    assert "Did you mean 'list-sessions'?" in document["error"]["message"]
    assert all(verb in document["error"]["hint"] for verb in MACHINE)


def test_usage_errors_in_text_go_to_standard_error(capsys: Captured) -> None:
    assert run(["machine", "show-tool"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "Missing argument" in said.err
    assert run(["machine"]) == 1


def test_options_after_two_dashes_are_text(capsys: Captured) -> None:
    _, document = call(capsys, "route", "--json", "--", "--output-format=text")
    assert document["data"]["prompt"] == "--output-format=text"


def replace_runner(monkeypatch: pytest.MonkeyPatch, runner: Any) -> None:
    monkeypatch.setattr(registry, "runner", lambda name: runner)


def test_a_bug_is_an_answer(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**values: Any) -> Outcome:
        raise ZeroDivisionError("oops")

    replace_runner(monkeypatch, broken)
    status, document = call(capsys, "show-tool", "Bash", "--json")
    assert (status, document["error"]["kind"], document["error"]["action"]) == (1, "internal", "escalate")


@pytest.mark.parametrize(
    ("number", "kind"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")], ids=["int", "term"]
)
def test_a_signal_is_an_answer(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, number: int, kind: str
) -> None:
    def stopped(**values: Any) -> Outcome:
        os.kill(os.getpid(), number)
        while True:
            pass

    before = signal.getsignal(number)
    replace_runner(monkeypatch, stopped)
    status, document = call(capsys, "show-tool", "Bash", "--json")
    assert (status, document["error"]["kind"], document["error"]["retryable"]) == (1, kind, True)
    assert signal.getsignal(number) is before


def test_an_answer_that_nobody_takes(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", None)
    assert run(["machine", "show-tool", "Bash", "--json"]) == 1


def test_names_that_are_no_text_are_still_json() -> None:
    from checkrein.base.errors import NotFoundError

    raw = failure("x", NotFoundError("no file a\udcffb").during("open", "\udcff", path=["\udcff"]), 1)
    assert json.loads(raw)["error"]["message"] == "no file a?b"


def test_help_and_version_are_documents(capsys: Captured) -> None:
    _, told = call(capsys, "--help", "--json")
    assert set(told["data"]["verbs"]) == {*MACHINE, *OPT_OUT}
    _, told = call(capsys, "--version", "--json")
    assert told["data"]["clawable_surfaces"] == list(MACHINE)
    assert told["data"]["opt_out_surfaces"] == list(OPT_OUT)
    assert told["data"]["schema_versions"] == ["2.0", "1.0"]
    assert run(["machine", "--version"]) == 0
    assert "machine protocol 2.0, 1.0" in capsys.readouterr().out


def test_help_in_text(capsys: Captured) -> None:
    assert run(["machine", "show-tool", "--help"]) == 0
    assert "Exit status: 0 success 1 an error, not found or wrong usage 2" in " ".join(
        capsys.readouterr().out.split()
    )
