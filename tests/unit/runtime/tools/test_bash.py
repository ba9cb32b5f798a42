from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

Desk = Any


def test_output_without_its_last_newline(desk: Desk) -> None:
    done = desk.run("Bash", {"command": "echo hi"})
    assert done.content == "hi"
    assert done.structured == {
        "stdout": "hi",
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }


def test_no_output_is_said(desk: Desk) -> None:
    done = desk.run("Bash", {"command": "touch z"})
    assert done.content == "(Bash completed with no output)"
    assert done.structured["noOutputExpected"] is True


def test_both_streams_in_order(desk: Desk) -> None:
    assert desk.bash("echo 1; echo 2 >&2; echo 3") == "1\n2\n3"


def test_a_failure_starts_with_its_code(desk: Desk) -> None:
    assert desk.failure("Bash", {"command": "echo why; exit 7"}) == "Exit code 7\nwhy"


@pytest.mark.parametrize(
    ("command", "meaning"),
    [
        ("grep nothing /dev/null", "No matches found"),
        ("ls / | grep -x nothing", "No matches found"),
        ("cd / && rg nothing /dev/null", "No matches found"),
        ("diff /dev/null /etc/passwd > /dev/null", "Files differ"),
        ("X=1 test a = b", "The condition is false"),
        ("[ a = b ]", "The condition is false"),
    ],
)
def test_an_exit_code_of_one_can_be_an_answer(desk: Desk, command: str, meaning: str) -> None:
    done = desk.run("Bash", {"command": command})
    assert done.structured["returnCodeInterpretation"] == meaning
    assert not done.is_error


@pytest.mark.parametrize("command", ["grep x /no-such-file", "false", "grep x /dev/null; false", "grep"])
def test_other_failures_stay_failures(desk: Desk, command: str) -> None:
    assert desk.failure("Bash", {"command": command}).startswith("Exit code ")


def test_the_directory_is_kept_inside_the_project(desk: Desk) -> None:
    (desk.root / "sub dir").mkdir()
    assert desk.bash("cd 'sub dir' && pwd") == str(desk.root / "sub dir")
    assert desk.bash("pwd") == str(desk.root / "sub dir")
    desk.bash("cd ..")
    assert desk.state.cwd == str(desk.root)


def test_the_directory_is_kept_after_a_failure_and_an_exit(desk: Desk) -> None:
    (desk.root / "sub").mkdir()
    desk.failure("Bash", {"command": "cd sub; exit 3"})
    assert desk.state.cwd == str(desk.root / "sub")


def test_leaving_the_project_is_undone(desk: Desk) -> None:
    (desk.root / "sub").mkdir()
    desk.bash("cd sub")
    done = desk.run("Bash", {"command": "cd /; pwd"})
    note = f"Shell cwd was reset to {desk.root}"
    assert done.content == f"/\n{note}"
    assert done.structured["stderr"] == note
    assert desk.bash("pwd") == str(desk.root)


def test_a_link_out_of_the_project_is_no_way_out(desk: Desk) -> None:
    (desk.root / "out").symlink_to("/")
    assert "was reset" in desk.bash("cd out")
    assert desk.state.cwd == str(desk.root)


def test_a_subagent_does_not_keep_its_directory(desk: Desk) -> None:
    (desk.root / "sub").mkdir()
    desk.state.keeps_cwd = False
    assert desk.bash("cd sub && pwd").endswith("/sub")
    assert desk.state.cwd == str(desk.root)


def test_line_numbers_and_traps_are_the_command_s_own(desk: Desk) -> None:
    assert "line 2" in desk.failure("Bash", {"command": "cd .\nno_such_command"})
    assert desk.bash("cd . ; trap 'echo bye' EXIT") == "bye"
    assert desk.bash("cd . ; echo $#") == "0"


def test_variables_do_not_persist(desk: Desk) -> None:
    desk.bash("export KEPT=1")
    assert desk.bash("echo [$KEPT]") == "[]"


def test_the_shell_reads_no_start_up_files_and_no_functions(desk: Desk) -> None:
    evil = desk.file("evil.sh", "echo EVIL; ls() { echo EVIL; }\n")
    desk.file(".bashrc", "echo EVIL\n")
    desk.file(".bash_profile", "echo EVIL\n")
    desk.env |= {
        "BASH_ENV": str(evil),
        "ENV": str(evil),
        "BASH_FUNC_ls%%": "() { echo EVIL; }",
        "SHELLOPTS": "xtrace",
        "PS4": "$(echo EVIL >&2)",
        "CDPATH": "/",
    }
    assert "EVIL" not in desk.bash("ls; echo done")


def test_what_the_command_is_told_about_its_session(desk: Desk) -> None:
    assert desk.bash("echo $CLAUDECODE $CLAUDE_CODE_SESSION_ID") == "1 a-session"


def test_the_env_file_of_hooks_is_sourced(desk: Desk) -> None:
    desk.env["CLAUDE_ENV_FILE"] = str(desk.file("env.sh", "export FROM_HOOK=yes\n"))
    assert desk.bash("echo $FROM_HOOK") == "yes"


def test_input_is_empty(desk: Desk) -> None:
    assert desk.bash("cat; echo end") == "end"


def test_long_output_goes_to_a_file(desk: Desk) -> None:
    done = desk.run("Bash", {"command": "yes 0123456789 | head -c 2000000"})
    path = done.structured["persistedOutputPath"]
    assert path in done.content
    assert len(done.content) < 3_000
    assert done.structured["persistedOutputSize"] == 2_000_000
    assert Path(path).stat().st_size == 2_000_000
    assert len(done.structured["stdout"]) == 30_000


def test_output_at_the_limit_is_shown_whole(desk: Desk) -> None:
    assert len(desk.bash("head -c 30000 /dev/zero | tr '\\0' x")) == 30_000
    assert (
        "persistedOutputPath"
        in desk.run("Bash", {"command": "head -c 30001 /dev/zero | tr '\\0' x"}).structured
    )


def test_the_limit_can_be_set(desk: Desk) -> None:
    desk.env["BASH_MAX_OUTPUT_LENGTH"] = "100"
    assert "too long" in desk.bash("head -c 101 /dev/zero | tr '\\0' x")


def test_a_long_failure_shows_both_ends(desk: Desk) -> None:
    message = desk.failure("Bash", {"command": "echo FIRST; yes x | head -c 500000; echo LAST; exit 1"})
    assert message.startswith("Exit code 1\nFIRST")
    assert message.endswith("LAST")
    assert len(message) < 11_000
    assert str(desk.results) in message


def test_text_in_any_script(desk: Desk) -> None:
    assert desk.bash("printf 'žluťoučký 你好 🎉'") == "žluťoučký 你好 🎉"


def test_wide_text_is_counted_in_characters(desk: Desk) -> None:
    assert len(desk.bash("for i in $(seq 10000); do printf 你好吗; done")) == 30_000


def test_binary_output_is_kept_out_of_the_conversation(desk: Desk) -> None:
    done = desk.bash("head -c 50000 /dev/urandom")
    assert done.startswith("[binary output, 50000 bytes, saved in ")
    assert "\0" not in desk.bash("printf 'a\\0b'")


def test_an_image_is_shown(desk: Desk) -> None:
    done = desk.run("Bash", {"command": "printf 'data:image/png;base64,aGk='"})
    assert done.structured["isImage"] is True
    assert done.content[0].source.data == "aGk="


def test_time_runs_out(desk: Desk) -> None:
    began = time.monotonic()
    message = desk.failure("Bash", {"command": "sleep 30", "timeout": 200})
    assert message == "Exit code 143\nThe command was stopped because it took longer than 0.2 s."
    assert time.monotonic() - began < 15


def test_git_is_stopped_at_its_time(desk: Desk) -> None:
    assert "was stopped" in desk.failure("Bash", {"command": "true git; sleep 30", "timeout": 200})


def test_other_commands_go_on_in_the_background(desk: Desk) -> None:
    done = desk.run("Bash", {"command": "echo a; sleep 0.4; echo b", "timeout": 200})
    assert done.structured["timedOutAfterMs"] == 200
    name = done.structured["backgroundTaskId"]
    assert name in done.content
    ended = desk.run("TaskOutput", {"task_id": name})
    assert ended.structured["task"]["status"] == "completed"
    assert ended.content.endswith("a\nb")


def test_background_can_be_switched_off(desk: Desk) -> None:
    desk.env["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] = "1"
    message = desk.failure("Bash", {"command": "echo a; sleep 30", "timeout": 200})
    assert "was stopped" in message
    assert desk.bash("echo now", run_in_background=True) == "now"


@pytest.mark.parametrize(
    ("asked", "env", "expected"),
    [
        (None, {}, 120_000),
        (5_000, {}, 5_000),
        (9_999_999, {}, 600_000),
        (0, {}, 120_000),
        (None, {"BASH_DEFAULT_TIMEOUT_MS": "1000"}, 1_000),
        (900_000, {"BASH_MAX_TIMEOUT_MS": "700000"}, 700_000),
        (None, {"BASH_DEFAULT_TIMEOUT_MS": "800000"}, 800_000),
        (None, {"BASH_DEFAULT_TIMEOUT_MS": "soon"}, 120_000),
    ],
)
def test_how_long_a_command_may_take(asked: int | None, env: dict[str, str], expected: int) -> None:
    from checkrein.runtime.tools.bash import _timeout

    assert _timeout(asked, env) == expected


def test_an_interrupted_command_tells_what_it_wrote(desk: Desk) -> None:
    threading.Timer(0.3, desk.cancel.cancel).start()
    done = desk.run("Bash", {"command": "echo part; sleep 30"})
    assert done.is_error
    assert done.structured["interrupted"] is True
    assert "part" in done.content


def test_a_strange_call_id_makes_no_strange_file(desk: Desk) -> None:
    done = desk.run("Bash", {"command": "yes | head -c 300000"}, call_id="../../evil")
    assert done.structured["persistedOutputPath"].startswith(str(desk.results) + "/")


@pytest.mark.parametrize(
    ("command", "seen"),
    [
        ("cat a.txt", "whole"),
        ("cat 'a.txt'", "whole"),
        ("nl a.txt", "whole"),
        ("head -n 1 a.txt", "range"),
        ("tail -1 a.txt", "range"),
        ("sed -n 1,2p a.txt", "range"),
        ("sed -n '1,2p' a.txt", "range"),
        ("grep alpha a.txt", "range"),
        ("cat a.txt b.txt", None),
        ("cat a.txt | head", None),
        ("cat < a.txt", None),
        ("cat a.txt > c.txt", None),
        ("cat *.txt", None),
        ("sed -i s/a/b/ a.txt", None),
        ("echo a.txt", None),
        ("cat $HOME/a.txt", None),
    ],
)
def test_which_commands_count_as_reading(desk: Desk, command: str, seen: str | None) -> None:
    path = desk.file("a.txt", "alpha\n")
    desk.file("b.txt", "beta\n")
    desk.run("Bash", {"command": command})
    found = desk.state.seen(str(path))
    assert (found.view if found else None) == seen


def test_a_directory_that_is_gone(desk: Desk) -> None:
    (desk.root / "sub").mkdir()
    desk.bash("cd sub")
    (desk.root / "sub").rmdir()
    assert desk.bash("pwd") == str(desk.root)
    assert desk.state.cwd == str(desk.root)


def test_in_the_sandbox(desk: Desk, tmp_path: Path) -> None:
    from checkrein.runtime.process import sandbox

    if sandbox.detect().kind == "none":
        pytest.skip("there is no sandbox here")
    confined = sandbox.SandboxPolicy(write=(str(desk.root),))
    (desk.root / "sub").mkdir()
    assert desk.text("Bash", {"command": "cd sub && pwd"}, sandbox=confined) == str(desk.root / "sub")
    assert desk.state.cwd == str(desk.root / "sub")
    message = desk.failure("Bash", {"command": f"echo x > {tmp_path}/out"}, sandbox=confined)
    assert "It ran in the sandbox" in message
    assert str(desk.root) in message
    assert not (tmp_path / "out").exists()
    assert "sandbox" not in desk.failure("Bash", {"command": "exit 3"}, sandbox=confined)


def test_sandboxed_in_the_background(desk: Desk, tmp_path: Path) -> None:
    from checkrein.runtime.process import sandbox

    if sandbox.detect().kind == "none":
        pytest.skip("there is no sandbox here")
    confined = sandbox.SandboxPolicy(write=(str(desk.root),))
    asked = {"command": f"echo x > {tmp_path}/out; echo in; sleep 0.1; echo on", "run_in_background": True}
    name = desk.run("Bash", asked, sandbox=confined).structured["backgroundTaskId"]
    assert desk.text("TaskOutput", {"task_id": name}).endswith("in\non")
    assert not (tmp_path / "out").exists()


def test_a_command_that_was_ended_as_a_whole() -> None:
    from checkrein.runtime.process.command import Completed
    from checkrein.runtime.process.guard.guard import Refusal
    from checkrein.runtime.tools.bash_output import stopped

    done = Completed(exit_code=137, refused=(Refusal(program="", reason="nobody judges it", ended=True),))
    assert list(stopped(done, "/p")) == ["Ended: nobody judges it."]
