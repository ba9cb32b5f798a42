"""`checkrein run` as a process: every path ends with one result, also in the session, and the status fits."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

CHECKREIN = [sys.executable, "-m", "checkrein"]
CALL = {"tool_calls": [{"name": "Bash", "input": {"command": "touch started; sleep 30; touch late"}}]}
TIMEOUT = 60


def user(text: str) -> str:
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n"


class Shell:
    """Runs the program in a project, against scripts."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.project = project
        self.folder = folder
        self.running: list[subprocess.Popen[str]] = []

    def script(self, *turns: object) -> str:
        file = self.folder / "script.jsonl"
        file.write_text("\n".join(json.dumps(turn) for turn in turns))
        return f"scripted:{file}"

    def argv(self, *words: str, turns: tuple[object, ...] = ({"text": "done"},) * 3) -> list[str]:
        return [*CHECKREIN, *words, "--model", self.script(*turns)]

    def run(self, *words: str, stdin: str | None = None, **more: Any) -> subprocess.CompletedProcess[str]:
        turns = more.pop("turns", ({"text": "done"},) * 3)
        source = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
        argv = self.argv(*words, turns=turns)
        return subprocess.run(
            argv,
            cwd=self.project,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
            **source,
            **more,
        )

    def start(
        self, *words: str, turns: tuple[object, ...], stdin: int = subprocess.DEVNULL
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            self.argv(*words, turns=turns),
            cwd=self.project,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.running.append(process)
        return process

    def await_file(self, name: str) -> None:
        limit = time.monotonic() + TIMEOUT
        while not (self.project / name).exists():
            assert time.monotonic() < limit
            time.sleep(0.02)

    def recorded(self) -> list[dict[str, Any]]:
        """The results that stand in the transcripts."""
        found = []
        for file in Path(os.environ["CHECKREIN_HOME"]).rglob("*.jsonl"):
            for line in file.read_text().splitlines():
                mark = json.loads(line).get("checkrein") or {}
                if mark.get("event") == "result":
                    found.append(mark["result"])
        return found


@pytest.fixture
def shell(project: Path, tmp_path: Path) -> Iterator[Shell]:
    made = Shell(project, tmp_path)
    yield made
    for process in made.running:
        if process.poll() is None:
            process.kill()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        process.wait()


def results(printed: str) -> list[dict[str, Any]]:
    frames = [json.loads(line) for line in printed.splitlines() if line.strip()]
    return [frame for frame in frames if frame["type"] == "result"]


class TestOneResult:
    @pytest.mark.parametrize("form", ["json", "stream-json"])
    @pytest.mark.parametrize(
        ("words", "turns", "subtype", "status"),
        [
            ((), ({"text": "ok"},), "success", 0),
            (("--max-turns", "0"), ({"text": "ok"},), "error_max_turns", 1),
            ((), ({"fault": {"status": 401}},), "success", 1),
            ((), (), "success", 1),
            (
                ("--json-schema", '{"type": "object"}'),
                ({"text": "no"},) * 9,
                "error_max_structured_output_retries",
                1,
            ),
        ],
    )
    def test_paths(
        self,
        shell: Shell,
        form: str,
        words: tuple[str, ...],
        turns: tuple[object, ...],
        subtype: str,
        status: int,
    ) -> None:
        done = shell.run("-p", "hi", "--output-format", form, *words, turns=turns)
        (result,) = results(done.stdout)
        assert (result["subtype"], result["is_error"]) == (subtype, bool(status))
        assert done.returncode == status
        assert len(shell.recorded()) == 1

    def test_a_run_that_can_not_begin(self, shell: Shell) -> None:
        done = shell.run("-p", "hi", "--output-format", "json", "--resume", "nobody")
        (result,) = results(done.stdout)
        assert "No conversation found" in result["errors"][0]
        assert "No conversation found" in done.stderr
        assert done.returncode == 1

    def test_without_a_credential(self, shell: Shell) -> None:
        argv = [*CHECKREIN, "-p", "hi", "--output-format", "stream-json"]
        done = subprocess.run(
            argv, cwd=shell.project, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )
        (result,) = results(done.stdout)
        assert "ANTHROPIC_API_KEY" in result["errors"][0]
        assert done.returncode == 1

    @pytest.mark.parametrize(
        "words",
        [
            ("--nope",),
            ("--permission-mode", "fast"),
            ("--json-schema", "{"),
            ("--json-schema", '{"type": "nope"}'),
            ("--session-id", "a/b"),
            ("--settings", "/none.json"),
            ("--input-format", "stream-json"),
        ],
    )
    def test_wrong_usage_is_said_on_standard_error_alone(self, shell: Shell, words: tuple[str, ...]) -> None:
        done = shell.run("-p", "hi", "--output-format", "json", *words)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.startswith("checkrein: ")
        assert shell.recorded() == []


class TestSignals:
    @pytest.mark.parametrize("form", ["json", "stream-json"])
    @pytest.mark.parametrize(
        ("numbers", "status"),
        [
            ((signal.SIGINT,), 130),
            ((signal.SIGINT, signal.SIGINT), 130),
            ((signal.SIGTERM,), 143),
            ((signal.SIGTERM, signal.SIGTERM), 143),
            ((signal.SIGHUP,), 129),
        ],
    )
    def test_during_a_tool(self, shell: Shell, form: str, numbers: tuple[int, ...], status: int) -> None:
        if any(signal.getsignal(number) is signal.SIG_IGN for number in numbers):
            pytest.skip("started under nohup: the signal is ignored, by us too")
        process = shell.start(
            *("-p", "hi", "--output-format", form, "--allowedTools", "Bash"), turns=(CALL, {"text": "never"})
        )
        shell.await_file("started")
        for number in numbers:
            process.send_signal(number)
            time.sleep(0.01)
        printed, _ = process.communicate(timeout=TIMEOUT)
        assert process.returncode == status
        (result,) = results(printed)
        assert (result["subtype"], result["is_error"]) == ("error_during_execution", True)
        assert len(shell.recorded()) == 1
        assert not (shell.project / "late").exists()

    def test_twice_when_the_turn_does_not_end(self, shell: Shell) -> None:
        """A hook that does not listen holds the turn; the second Ctrl-C leaves, with the one result."""
        slow = "trap '' TERM; touch started; sleep 4 & wait; sleep 4"
        hooks = {"PostToolUse": [{"hooks": [{"type": "command", "command": slow}]}]}
        words = ("-p", "hi", "--output-format", "json", "--settings", json.dumps({"hooks": hooks}))
        call = {"tool_calls": [{"name": "Bash", "input": {"command": "echo hi"}}]}
        process = shell.start(*words, turns=(call, {"text": "never"}))
        shell.await_file("started")
        process.send_signal(signal.SIGINT)
        time.sleep(1.1)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 130
        assert len(results(printed)) == 1
        assert len(shell.recorded()) == 1

    @pytest.mark.parametrize("event", ["Stop", "PostToolUseFailure"])
    def test_in_a_hook_that_hangs(self, shell: Shell, event: str) -> None:
        """Status and result agree, and the run ends in a few seconds."""
        hooks = {event: [{"hooks": [{"type": "command", "command": "touch hangs; sleep 60"}]}]}
        words = ("-p", "hi", "--output-format", "json", "--settings", json.dumps({"hooks": hooks}))
        turns = ({"text": "hi"},) if event == "Stop" else (CALL,)
        process = shell.start(*words, "--allowedTools", "Bash", turns=turns)
        shell.await_file("hangs" if event == "Stop" else "started")
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=15)
        assert process.returncode == 143
        (result,) = results(printed)
        assert (result["subtype"], result["is_error"]) == ("error_during_execution", True)
        assert (shell.project / "hangs").exists()

    def test_during_a_reply(self, shell: Shell) -> None:
        turns = (
            {"tool_calls": [{"name": "Bash", "input": {"command": "touch started"}}]},
            {"text": "slow", "delay": 30},
        )
        process = shell.start("-p", "hi", "--output-format", "json", "--allowedTools", "Bash", turns=turns)
        shell.await_file("started")
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=10)
        assert process.returncode == 143
        assert len(results(printed)) == 1

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_while_the_next_prompt_is_awaited(self, shell: Shell, number: int) -> None:
        words = ("-p", "--input-format", "stream-json", "--output-format", "stream-json")
        process = shell.start(*words, turns=({"text": "ok"},), stdin=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(user("hi"))
        process.stdin.flush()
        while json.loads(process.stdout.readline())["type"] != "result":
            pass
        process.send_signal(number)
        assert process.wait(timeout=10) == 128 + number

    def test_hooks_of_the_end_run_after_a_signal(
        self, shell: Shell, write: Callable[[str, object], Path]
    ) -> None:
        hook = {"hooks": [{"type": "command", "command": "touch ended"}]}
        write(".claude/settings.json", {"hooks": {"SessionEnd": [hook]}})
        process = shell.start("-p", "hi", "--trust", "--allowedTools", "Bash", turns=(CALL,))
        shell.await_file("started")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=TIMEOUT)
        assert (shell.project / "ended").exists()


class TestStreams:
    def test_several_messages(self, shell: Shell) -> None:
        blocks = {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "b"}]}}
        text = user("a") + "\n" + json.dumps(blocks) + "\n" + json.dumps({"type": "other"}) + "\n"
        done = shell.run(
            *("-p", "--input-format", "stream-json", "--output-format", "stream-json"),
            stdin=text,
            turns=({"text": "one"}, {"text": "two"}),
        )
        assert [result["result"] for result in results(done.stdout)] == ["one", "two"]
        assert len({result["session_id"] for result in results(done.stdout)}) == 1
        assert done.returncode == 0

    @pytest.mark.parametrize("line", ["garbage", "{"])
    def test_a_line_that_is_no_message(self, shell: Shell, line: str) -> None:
        text = user("a") + line + "\n" + user("b")
        words = ("-p", "--input-format", "stream-json", "--output-format", "stream-json")
        done = shell.run(*words, stdin=text)
        first, last = results(done.stdout)
        assert (first["result"], first["is_error"]) == ("done", False)
        assert (last["subtype"], last["is_error"]) == ("error_during_execution", True)
        assert "Line 2 of standard input" in last["errors"][0]
        assert last["session_id"] == first["session_id"]
        assert last["total_cost_usd"] == first["total_cost_usd"]
        assert [result["is_error"] for result in shell.recorded()] == [False, True]
        assert done.returncode == 2
        assert "Line 2 of standard input" in done.stderr

    @pytest.mark.parametrize(
        "message",
        [{}, {"message": {"content": 3}}, {"message": {"content": ""}}, {"message": {"content": []}}],
    )
    def test_a_message_without_a_prompt_fails_alone(self, shell: Shell, message: dict[str, Any]) -> None:
        words = ("-p", "--input-format", "stream-json", "--output-format", "stream-json")
        line = json.dumps({"type": "user", **message})
        done = shell.run(
            *words, stdin=user("a") + line + "\n" + user("b"), turns=({"text": "done", "repeat": 2},)
        )
        assert [result["is_error"] for result in results(done.stdout)] == [False, True, False]
        assert "message" in results(done.stdout)[1]["errors"][0]

    def test_a_first_line_that_is_no_message(self, shell: Shell) -> None:
        words = ("-p", "--input-format", "stream-json", "--output-format", "stream-json")
        done = shell.run(*words, stdin="garbage\n" + user("b"))
        (result,) = results(done.stdout)
        assert (result["subtype"], result["is_error"]) == ("error_during_execution", True)
        assert "Line 1 of standard input" in result["errors"][0]
        assert done.returncode == 2
        assert "Line 1 of standard input" in done.stderr

    def test_no_message_at_all(self, shell: Shell) -> None:
        words = ("-p", "--input-format", "stream-json", "--output-format", "stream-json")
        done = shell.run(*words, stdin="")
        assert (done.returncode, results(done.stdout)) == (0, [])

    def test_a_prompt_by_pipe(self, shell: Shell) -> None:
        done = shell.run(
            "-p", stdin="from the pipe", turns=({"text": "ok", "expect": {"text": "from the pipe"}},)
        )
        assert (done.stdout, done.returncode) == ("ok\n", 0)

    def test_a_pipe_beside_a_prompt(self, shell: Shell) -> None:
        turn = {"text": "ok", "expect": {"text": "sum it up\n\nlong text"}}
        done = shell.run("-p", "sum it up", stdin="long text", turns=(turn,))
        assert (done.stdout, done.returncode) == ("ok\n", 0)

    def test_a_huge_prompt(self, shell: Shell) -> None:
        assert shell.run("-p", stdin="x" * (9 << 20)).returncode == 0
        done = shell.run("-p", stdin="x" * (11 << 20))
        assert done.returncode == 2
        assert "10 MiB" in done.stderr

    def test_no_prompt(self, shell: Shell) -> None:
        done = shell.run("-p")
        assert done.returncode == 2
        assert "There is no prompt." in done.stderr

    @pytest.mark.parametrize("form", ["text", "json", "stream-json"])
    def test_a_closed_standard_output(self, shell: Shell, form: str) -> None:
        argv = shell.argv("-p", "hi", "--output-format", form)
        line = 'exec "$@" >&-'
        done = subprocess.run(
            ["bash", "-c", line, "-", *argv],
            cwd=shell.project,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert len(shell.recorded()) == 1

    def test_a_reader_that_leaves(self, shell: Shell) -> None:
        reading, writing = os.pipe()
        process = subprocess.Popen(
            shell.argv("-p", "hi", "--output-format", "stream-json"),
            cwd=shell.project,
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
        )
        os.close(writing)
        os.close(reading)
        _, error = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 141
        assert error == ""
        assert len(shell.recorded()) == 1

    @pytest.mark.parametrize("words", [("-p", "hi"), ("run", "hi"), ("run", "hi", "--output-format", "json")])
    def test_no_standard_input(self, shell: Shell, words: tuple[str, ...]) -> None:
        argv = shell.argv(*words)
        done = subprocess.run(
            ["bash", "-c", 'exec "$@" <&-', "-", *argv],
            cwd=shell.project,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "done" in done.stdout


class Talk:
    """A run that is talked to in frames."""

    WORDS = ("-p", "--input-format", "stream-json", "--output-format", "stream-json")

    def __init__(self, shell: Shell, *words: str, turns: tuple[object, ...]) -> None:
        self.process = shell.start(*self.WORDS, *words, turns=turns, stdin=subprocess.PIPE)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.frames: list[dict[str, Any]] = []

    def say(self, line: str) -> None:
        self.stdin.write(line)
        self.stdin.flush()

    def ask(self, subtype: str, request_id: str = "r1") -> None:
        request = {"type": "control_request", "request_id": request_id, "request": {"subtype": subtype}}
        self.say(json.dumps(request) + "\n")

    def until(self, kind: str) -> dict[str, Any]:
        while line := self.stdout.readline():
            self.frames.append(json.loads(line))
            if self.frames[-1]["type"] == kind:
                return self.frames[-1]
        raise AssertionError(f"no {kind} frame; {self.process.communicate()[1]}")

    def end(self) -> int:
        self.stdin.close()
        self.frames += [json.loads(line) for line in self.stdout]
        return self.process.wait(timeout=TIMEOUT)


ALLOW = ("--allowedTools", "Bash")


class TestFramesIn:
    def test_two_prompts_one_after_the_other(self, shell: Shell) -> None:
        talk = Talk(shell, turns=({"text": "one"}, {"text": "two"}))
        talk.say(user("a"))
        first = talk.until("result")
        talk.say(user("b"))
        second = talk.until("result")
        assert (first["result"], second["result"]) == ("one", "two")
        assert first["session_id"] == second["session_id"]
        assert talk.end() == 0

    def test_an_interrupt_ends_the_running_turn(self, shell: Shell) -> None:
        talk = Talk(shell, *ALLOW, turns=(CALL, {"text": "after"}))
        talk.say(user("a"))
        shell.await_file("started")
        began = time.monotonic()
        talk.ask("interrupt")
        answer = talk.until("control_response")["response"]
        result = talk.until("result")
        assert time.monotonic() - began < 2
        assert answer == {"subtype": "success", "request_id": "r1", "response": {"still_queued": []}}
        assert (result["subtype"], result["is_error"]) == ("error_during_execution", True)
        talk.say(user("b"))
        assert talk.until("result")["result"] == "after"
        assert talk.end() == 0
        assert not (shell.project / "late").exists()

    def test_a_prompt_and_its_interrupt_at_once(self, shell: Shell) -> None:
        talk = Talk(shell, *ALLOW, turns=(CALL, {"text": "never"}))
        request = {"type": "control_request", "request_id": "r", "request": {"subtype": "interrupt"}}
        talk.say(user("a") + json.dumps(request) + "\n")
        began = time.monotonic()
        assert talk.until("result")["is_error"]
        assert time.monotonic() - began < 20
        assert talk.end() == 1

    def test_a_request_that_is_not_known(self, shell: Shell) -> None:
        talk = Talk(shell, turns=({"text": "one"},))
        talk.ask("frobnicate", "r7")
        answer = talk.until("control_response")["response"]
        assert (answer["subtype"], answer["request_id"]) == ("error", "r7")
        assert "frobnicate" in answer["error"]
        talk.say(user("a"))
        assert talk.until("result")["result"] == "one"
        assert talk.end() == 0

    def test_a_message_into_the_running_turn(self, shell: Shell) -> None:
        wait = "touch started; while [ ! -e go ]; do sleep 0.02; done"
        turns = (
            {"tool_calls": [{"name": "Bash", "input": {"command": wait}}]},
            {"text": "heard", "expect": {"text": "also this"}},
        )
        talk = Talk(shell, *ALLOW, "--replay-user-messages", turns=turns)
        talk.say(user("a"))
        shell.await_file("started")
        message = {"type": "user", "priority": "next", "message": {"role": "user", "content": "also this"}}
        talk.say(json.dumps(message) + "\n")
        talk.ask("ping")
        talk.until("control_response")  # the reader has dealt with the message
        (shell.project / "go").touch()
        assert talk.until("result")["result"] == "heard"
        assert talk.end() == 0
        replayed = [frame["message"]["content"] for frame in talk.frames if frame.get("isReplay")]
        assert replayed == ["a", "also this"]

    def test_the_input_ends_in_mid_turn(self, shell: Shell) -> None:
        quick = {"tool_calls": [{"name": "Bash", "input": {"command": "touch started; sleep 0.3"}}]}
        talk = Talk(shell, *ALLOW, turns=(quick, {"text": "done"}))
        talk.say(user("a"))
        shell.await_file("started")
        assert talk.end() == 0
        assert [frame["result"] for frame in talk.frames if frame["type"] == "result"] == ["done"]

    def test_a_garbage_line_in_mid_turn(self, shell: Shell) -> None:
        quick = {"tool_calls": [{"name": "Bash", "input": {"command": "touch started; sleep 0.3"}}]}
        talk = Talk(shell, *ALLOW, turns=(quick, {"text": "done"}))
        talk.say(user("a"))
        shell.await_file("started")
        talk.say("garbage\n" + user("b"))
        assert talk.until("result")["result"] == "done"
        assert talk.process.wait(timeout=TIMEOUT) == 2
        assert talk.process.stderr is not None
        assert "Line 2 of standard input" in talk.process.stderr.read()

    def test_a_reader_that_leaves_early(self, shell: Shell) -> None:
        quick = {"tool_calls": [{"name": "Bash", "input": {"command": "touch started; sleep 0.3"}}]}
        talk = Talk(shell, *ALLOW, turns=(quick, {"text": "done"}))
        talk.say(user("a"))
        shell.await_file("started")
        talk.stdout.close()
        talk.ask("ping")
        assert talk.process.wait(timeout=TIMEOUT) == 141
        assert len(shell.recorded()) == 1

    def test_a_signal_while_the_input_is_open(self, shell: Shell) -> None:
        talk = Talk(shell, *ALLOW, turns=(CALL,))
        talk.say(user("a"))
        shell.await_file("started")
        talk.process.send_signal(signal.SIGTERM)
        assert talk.until("result")["is_error"]
        assert talk.process.wait(timeout=TIMEOUT) == 143


class TestModes:
    TOUCH: ClassVar = {"tool_calls": [{"name": "Bash", "input": {"command": "touch z"}}]}

    def test_nothing_is_asked(self, shell: Shell) -> None:
        done = shell.run("-p", "hi", "--dangerously-skip-permissions", turns=(self.TOUCH, {"text": "ok"}))
        assert (done.stdout, done.returncode) == ("ok\n", 0)
        assert (shell.project / "z").exists()
        assert ("you are root" in done.stderr) == (os.geteuid() == 0)

    def test_a_setting_forbids_that(self, shell: Shell) -> None:
        settings = json.dumps({"permissions": {"disableBypassPermissionsMode": "disable"}})
        words = ("-p", "hi", "--dangerously-skip-permissions", "--settings", settings)
        shell.run(*words, turns=(self.TOUCH, {"text": "ok"}))
        assert not (shell.project / "z").exists()

    def test_tools_that_are_taken_away(self, shell: Shell) -> None:
        words = ("-p", "hi", "--output-format", "stream-json", "--tools", "Read")
        done = shell.run(*words, turns=(self.TOUCH, {"text": "ok"}))
        first = json.loads(done.stdout.splitlines()[0])
        assert first["tools"] == ["Read"]
        assert not (shell.project / "z").exists()


def test_going_on(shell: Shell) -> None:
    first = results(shell.run("-p", "one", "--output-format", "json").stdout)[0]
    named = shell.run("-p", "two", "--output-format", "json", "--resume", first["session_id"])
    newest = shell.run("-p", "three", "--output-format", "json", "--continue")
    forked = shell.run("-p", "four", "--output-format", "json", "--continue", "--fork-session")
    assert results(named.stdout)[0]["session_id"] == first["session_id"]
    assert results(newest.stdout)[0]["session_id"] == first["session_id"]
    assert results(forked.stdout)[0]["session_id"] != first["session_id"]


def test_an_id_of_ones_own(shell: Shell) -> None:
    done = shell.run("-p", "hi", "--output-format", "json", "--session-id", "my.own-id")
    assert results(done.stdout)[0]["session_id"] == "my.own-id"
    again = shell.run("-p", "hi", "--output-format", "json", "--session-id", "my.own-id")
    assert again.returncode != 0
