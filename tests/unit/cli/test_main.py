from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from checkrein import __version__
from checkrein.cli.main import command_name, run, wants_json


def call(*argv: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "checkrein", *argv], capture_output=True, text=True, cwd=cwd, check=False
    )


def test_version() -> None:
    done = call("--version")
    assert (done.returncode, done.stdout) == (0, f"checkrein {__version__}\n")


def test_nothing_heavy_is_imported_for_the_version() -> None:
    code = (
        "import sys; sys.argv = ['checkrein', '--version']\n"
        "from checkrein.__main__ import main; main()\n"
        "print(sorted(m for m in ('click', 'msgspec', 'yaml', 'json', 're') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1]
    assert "click" not in loaded
    assert "msgspec" not in loaded


def test_a_typo_names_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["chekc"]) == 2
    assert "Did you mean 'check'?" in capsys.readouterr().err


def test_a_wrong_option_is_a_usage_error_in_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--nope", "--json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["error"]["class"] == "usage"
    assert document["exit_code"] == 2
    assert document["command"] == "check"


def test_a_missing_project_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["check", str(tmp_path / "none")]) == 1
    assert "does not exist" in capsys.readouterr().err


def test_help_without_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    assert "check" in capsys.readouterr().out


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    code = f"'{sys.executable}' -m checkrein show --json '{tmp_path}' | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def test_a_bug_is_reported_as_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from checkrein.cli import registry

    def broken(name: str) -> object:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(registry, "runner", broken)
    assert run(["config", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "internal"


def test_interrupts_end_with_130(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from checkrein.cli import registry

    def interrupted(name: str) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(registry, "runner", interrupted)
    assert run(["config", "--json"]) == 130
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "interrupted"


@pytest.mark.parametrize(
    ("argv", "wanted"),
    [
        (["show", "--json"], True),
        (["show", "--output-format", "json"], True),
        (["show", "--output-format=json"], True),
        (["show", "--output-format", "text"], False),
        (["show", "--", "--json"], False),
    ],
)
def test_json_is_recognised_before_parsing(argv: list[str], wanted: bool) -> None:
    assert wants_json(argv) is wanted


def test_command_names() -> None:
    assert command_name(["show", "skills"]) == "show"
    assert command_name([]) == "<missing>"
    assert command_name(["--x"]) == "<missing>"
