"""Every event that has its source fires from a real session, with every kind of handler.

Hooks are commands that write what they read on standard input into a file; the tests look at that file and at
what became of the session.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from checkrein.facts.claude_hooks import HOOK_EVENTS
from checkrein.runtime.session.control import Answer, ScriptedAsker
from checkrein.runtime.session.events import ContextAdded, HookFinished, HookStarted, Notice
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import Call, Fault, ScriptedModel, Turn

BELOW = {"InstructionsLoaded", "UserPromptExpansion", "PermissionRequest", "Notification", "PermissionDenied"}
ELSEWHERE = {
    "WorktreeCreate": "recordings/test_worktree_run.py",
    "WorktreeRemove": "recordings/test_worktree_run.py",
    "TeammateIdle": "unit/runtime/teams/test_team.py",
    "Elicitation": "unit/runtime/mcp/test_elicitation.py",
    "ElicitationResult": "unit/runtime/mcp/test_elicitation.py",
}
"""Where they have their tests."""
BELOW |= {
    "DirectoryAdded",
    "TaskCompleted",
    "ConfigChange",
    "FileChanged",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
}
"""Events with a test of their own below; the others are in CASES."""
PAGE = Path(__file__).parents[2] / "docs" / "hooks.md"


def does(*calls: Call) -> Turn:
    return Turn(tool_calls=calls)


def bash(command: str) -> Call:
    return Call("Bash", {"command": command})


DONE = Turn(text="done")
AGENT = Call("Agent", {"description": "d", "prompt": "p", "run_in_background": False})


class Log:
    """Hooks for events, and what they were told."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "hooks.log"

    def hook(self, answer: object = None, status: int = 0, **more: Any) -> dict[str, Any]:
        line = f'cat >> "{self.file}"'
        if answer is not None:
            said = answer if isinstance(answer, str) else json.dumps(answer)
            line += f"; cat <<'EOF'\n{said}\nEOF\n"
        if status:
            line += f"; echo objection >&2; exit {status}"
        return {"type": "command", "command": line, **more}

    def settings(self, event: str, *hooks: dict[str, Any], matcher: str | None = None) -> dict[str, Any]:
        group: dict[str, Any] = {"hooks": list(hooks or (self.hook(),))}
        if matcher is not None:
            group["matcher"] = matcher
        return {"hooks": {event: [group]}}

    def told(self, event: str) -> list[dict[str, Any]]:
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        found = [json.loads(line) for line in lines]
        return [payload for payload in found if payload["hook_event_name"] == event]

    def until(self, event: str, seconds: float = 5.0) -> list[dict[str, Any]]:
        limit = time.monotonic() + seconds
        while not self.told(event) and time.monotonic() < limit:
            time.sleep(0.02)
        return self.told(event)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path)


@pytest.fixture
def setting(write: Callable[[str, object], Path]) -> Callable[[dict[str, Any]], None]:
    return lambda value: [write(".claude/settings.json", value), None][1]


CASES: dict[str, tuple[tuple[Turn, ...], dict[str, Any], dict[str, Any]]] = {
    "SessionStart": ((DONE,), {}, {"source": "startup"}),
    "Setup": ((DONE,), {"setup": "init"}, {"trigger": "init"}),
    "UserPromptSubmit": ((DONE,), {}, {"prompt": "go"}),
    "PreToolUse": ((does(bash("echo 1")), DONE), {}, {"tool_name": "Bash"}),
    "PostToolUse": ((does(bash("echo 1")), DONE), {}, {"tool_name": "Bash"}),
    "PostToolUseFailure": ((does(bash("false && true")), DONE), {}, {"tool_name": "Bash"}),
    "PostToolBatch": ((does(bash("echo 1"), bash("echo 2")), DONE), {}, {}),
    "MessageDisplay": ((DONE,), {}, {"delta": "done", "index": 0, "final": True}),
    "Stop": ((DONE,), {}, {"stop_hook_active": False, "last_assistant_message": "done"}),
    "StopFailure": ((Turn(fault=Fault(status=401)),), {}, {"error": "authentication_failed"}),
    "SubagentStart": ((does(AGENT), DONE, DONE), {}, {"agent_type": "general-purpose"}),
    "SubagentStop": ((does(AGENT), DONE, DONE), {}, {"last_assistant_message": "done"}),
    "CwdChanged": ((does(bash("cd sub")), DONE), {}, {}),
    "TaskCreated": (
        (does(Call("TaskCreate", {"subject": "s", "description": "d"})), DONE),
        {},
        {"task_id": "1", "task_subject": "s", "task_description": "d"},
    ),
}


@pytest.mark.parametrize("event", CASES)
def test_it_fires_once_with_its_facts(event: str, play, setting, log: Log, project: Path) -> None:
    (project / "sub").mkdir()
    setting(log.settings(event))
    turns, options, facts = CASES[event]
    run = play(*turns, **options)
    (payload,) = log.told(event)
    assert {key: payload[key] for key in facts} == facts
    assert payload["session_id"] == run.session.id
    assert payload["cwd"].startswith(str(project))


def test_every_event_is_tested() -> None:
    """An event that is added needs a test here, or where ELSEWHERE says."""
    assert set(HOOK_EVENTS) == {*CASES, *BELOW, *ELSEWHERE}
    tests = Path(__file__).parents[1]
    missing = [event for event, path in ELSEWHERE.items() if event not in (tests / path).read_text("utf-8")]
    assert missing == []
    assert "Not fired" not in PAGE.read_text("utf-8")


def test_instruction_files_are_named(play, setting, write, log: Log, project: Path) -> None:
    write("CLAUDE.md", "be good\n@more.md\n")
    write("more.md", "and kind\n")
    write("sub/CLAUDE.md", "below\n")
    write("sub/b.txt", "b\n")
    setting(log.settings("InstructionsLoaded"))
    play(does(Call("Read", {"file_path": "sub/b.txt"})), DONE)
    told = [(Path(p["file_path"]).name, p["load_reason"]) for p in log.told("InstructionsLoaded")]
    assert told == [
        ("CLAUDE.md", "session_start"),
        ("more.md", "include"),
        ("CLAUDE.md", "nested_traversal"),
    ]


def test_an_expansion_can_be_blocked(play, setting, write, log: Log) -> None:
    write(".claude/commands/fix.md", "Fix $ARGUMENTS.\n")
    setting(log.settings("UserPromptExpansion", log.hook(status=2)))
    run = play(DONE, prompt="/fix it")
    (payload,) = log.told("UserPromptExpansion")
    assert (payload["command_name"], payload["command_args"]) == ("fix", "it")
    assert run.model.requests == []
    assert "objection" in run.result.text


def test_a_hook_answers_in_place_of_the_person(play, setting, log: Log, project: Path) -> None:
    decision = {
        "hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    }
    setting(log.settings("PermissionRequest", log.hook(decision)))
    asker = ScriptedAsker()
    run = play(does(bash("touch z")), DONE, asker=asker)
    assert log.told("PermissionRequest")[0]["tool_name"] == "Bash"
    assert asker.questions == []
    assert not run.tools[0].refused
    assert (project / "z").exists()


def test_a_notification_when_a_person_is_asked(play, setting, log: Log) -> None:
    setting(log.settings("Notification", matcher="permission_prompt"))
    play(does(bash("touch z")), DONE, asker=ScriptedAsker(Answer(verdict="deny")))
    (payload,) = log.until("Notification")
    assert payload["notification_type"] == "permission_prompt"
    assert "Bash" in payload["message"]


def test_a_denial_of_the_classifier_is_told(play, setting, log: Log) -> None:
    output = {"hookSpecificOutput": {"hookEventName": "PermissionDenied", "retry": True}}
    setting(log.settings("PermissionDenied", log.hook(output)))
    verdict = Turn(text="block\nno")
    run = play(does(bash("curl http://127.0.0.1:9/")), verdict, verdict, DONE, DONE, mode="auto")
    assert run.tools[0].refused
    (payload,) = log.told("PermissionDenied")
    assert payload["tool_name"] == "Bash"
    assert "try it again" in run.tools[0].content


def test_a_hook_objects_to_the_end_of_a_task(play, setting, log: Log) -> None:
    setting(log.settings("TaskCompleted", log.hook(status=2)))
    make = Call("TaskCreate", {"subject": "s", "description": "d"})
    end = Call("TaskUpdate", {"taskId": "1", "status": "completed"})
    run = play(does(make), does(end), does(Call("TaskGet", {"taskId": "1"})), DONE)
    assert len(log.told("TaskCompleted")) == 1
    assert run.tools[1].is_error
    assert "objection" in run.tools[1].content
    assert "status: pending" in run.tools[2].content


def test_a_hook_objects_to_a_task(play, setting, log: Log) -> None:
    setting(log.settings("TaskCreated", log.hook(status=2)))
    run = play(
        does(Call("TaskCreate", {"subject": "s", "description": "d"})), does(Call("TaskList", {})), DONE
    )
    assert run.tools[0].is_error
    assert run.tools[1].content == "There are no tasks."


def test_changed_settings_are_told_between_prompts(play, setting, write, log: Log) -> None:
    setting(log.settings("ConfigChange"))
    run = play(DONE, DONE)
    write(".claude/settings.json", {"permissions": {"deny": ["Bash(touch *)"]}})
    list(run.session.run("again"))
    (payload,) = log.told("ConfigChange")
    assert payload["source"] == "project_settings"
    assert payload["file_path"].endswith(".claude/settings.json")


def test_later_payloads_name_the_new_directory(play, setting, log: Log, project: Path) -> None:
    (project / "sub").mkdir()
    both = {"CwdChanged": [{"hooks": [log.hook()]}], "Stop": [{"hooks": [log.hook()]}]}
    setting({"hooks": both})
    play(does(bash("cd sub")), DONE)
    (payload,) = log.told("CwdChanged")
    assert (payload["old_cwd"], payload["new_cwd"]) == (str(project), str(project / "sub"))
    assert log.told("Stop")[0]["cwd"] == str(project / "sub")


def test_watched_names_and_paths(play, setting, log: Log, project: Path) -> None:
    watch = {"hookSpecificOutput": {"hookEventName": "SessionStart", "watchPaths": [str(project / "w.txt")]}}
    hooks = {
        "SessionStart": [{"hooks": [log.hook(watch)]}],
        "FileChanged": [{"matcher": "a.txt|.env", "hooks": [log.hook()]}, {"hooks": [log.hook(timeout=9)]}],
    }
    setting({"hooks": hooks})
    commands = ("echo x >> a.txt", "rm a.txt", "echo 1 > w.txt; echo 1 > .env; echo 1 > other")
    play(*[does(bash(command)) for command in commands], DONE, mode="acceptEdits", allowed=("Bash(echo *)",))
    told = {(Path(p["file_path"]).name, p["event"]) for p in log.told("FileChanged")}
    assert told == {("a.txt", "change"), ("a.txt", "unlink"), (".env", "add"), ("w.txt", "add")}


def test_before_and_after_a_compaction(play, setting, log: Log) -> None:
    hooks = {name: [{"hooks": [log.hook()]}] for name in ("PreCompact", "PostCompact")}
    setting({"hooks": hooks})
    run = play(DONE, Turn(text="the summary"), DONE)
    list(run.session.run("/compact the tests"))
    assert log.told("PreCompact")[0]["custom_instructions"] == "the tests"
    assert log.told("PostCompact")[0]["compact_summary"] == "the summary"


def test_the_end_is_told_once(play, setting, log: Log) -> None:
    setting(log.settings("SessionEnd"))
    run = play(DONE)
    assert log.told("SessionEnd") == []
    run.session.close()
    run.session.close()
    assert [payload["reason"] for payload in log.told("SessionEnd")] == ["other"]


def test_paths_of_files_are_absolute_for_hooks(play, setting, log: Log, project: Path) -> None:
    setting(log.settings("PreToolUse"))
    play(does(Call("Read", {"file_path": "a.txt"})), DONE)
    assert log.told("PreToolUse")[0]["tool_input"]["file_path"] == str(project / "a.txt")


def test_variables_of_a_hook_hold_for_commands(play, setting) -> None:
    line = 'echo "export FLAVOUR=plum" >> "$CLAUDE_ENV_FILE"'
    setting({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": line}]}]}})
    run = play(does(bash("echo taste: $FLAVOUR")), DONE, allowed=("Bash",))
    assert run.tools[0].content == "taste: plum"


class TestHandlers:
    """The other kinds of handlers, on PreToolUse."""

    def test_http(self, play, setting, endpoint: Endpoint) -> None:
        endpoint.answer = {"hookSpecificOutput": _deny("over the wire")}
        setting(_pre({"type": "http", "url": endpoint.url}))
        run = play(does(bash("echo 1")), DONE)
        assert endpoint.bodies[0]["tool_name"] == "Bash"
        assert run.tools[0].refused
        assert "over the wire" in run.tools[0].content

    def test_http_that_fails_lets_it_pass_and_says_so(self, play, setting) -> None:
        setting(_pre({"type": "http", "url": "http://127.0.0.1:9/"}))
        run = play(does(bash("echo 1")), DONE)
        assert run.tools[0].content == "1"
        assert any(notice.level == "warning" for notice in run.of(Notice))

    def test_http_that_fails_closed(self, play, setting) -> None:
        setting(_pre({"type": "http", "url": "http://127.0.0.1:9/", "failClosed": True}))
        run = play(does(bash("echo 1")), DONE)
        assert run.tools[0].refused

    def test_prompt(self, play, setting) -> None:
        setting(_pre({"type": "prompt", "prompt": "May it? $ARGUMENTS", "continueOnBlock": True}))
        no = Turn(text='{"ok": false, "reason": "the model says no"}')
        run = play(does(bash("echo 1")), no, DONE)
        assert "echo 1" in str(run.model.requests[1].messages)
        assert run.tools[0].refused
        assert "the model says no" in run.tools[0].content
        assert run.result.text == "done"

    def test_agent(self, play, setting) -> None:
        setting(_pre({"type": "agent", "prompt": "Look first. $ARGUMENTS"}))
        look = does(Call("Read", {"file_path": "a.txt"}))
        no = Turn(text='{"ok": false, "reason": "a.txt says alpha"}')
        run = play(does(bash("echo 1")), look, no, DONE)
        assert "alpha" in str(run.model.requests[2].messages[-1])
        assert run.tools[0].refused
        assert "a.txt says alpha" in run.tools[0].content

    def test_mcp_tool_without_a_server_is_an_error_that_is_shown(self, play, setting) -> None:
        setting(_pre({"type": "mcp_tool", "server": "guard", "tool": "judge"}))
        run = play(does(bash("echo 1")), DONE)
        assert run.tools[0].content == "1"
        assert any("guard" in notice.text for notice in run.of(Notice))

    def test_mcp_tool_that_fails_closed(self, play, setting) -> None:
        setting(_pre({"type": "mcp_tool", "server": "guard", "tool": "judge", "failClosed": True}))
        assert play(does(bash("echo 1")), DONE).tools[0].refused


class TestAsync:
    def test_what_it_says_is_told_at_the_next_request(self, play, setting, log: Log) -> None:
        said = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "BY THE WAY"}}
        setting(_pre(log.hook(said, **{"async": True})))
        run = play(does(bash("echo 1")), does(bash("sleep 0.5")), does(bash("echo 2")), DONE)
        assert any("BY THE WAY" in context.text for context in run.of(ContextAdded))
        assert "BY THE WAY" in str(run.model.requests[-1].messages)
        assert run.of(HookStarted)
        assert run.of(HookFinished)

    def test_it_decides_nothing(self, play, setting, log: Log) -> None:
        setting(_pre(log.hook({"hookSpecificOutput": _deny("too late")}, **{"async": True})))
        assert not play(does(bash("echo 1")), DONE).tools[0].refused

    def test_one_that_asks_for_it_wakes_the_model(self, play, setting, log: Log) -> None:
        slow = "sleep 0.4; echo objection >&2; exit 2"  # ends after the call, while the model still writes
        setting(_pre({"type": "command", "command": slow, "asyncRewake": True}))
        run = play(does(bash("echo 1")), Turn(text="early", delay=1.5), Turn(text="late"))
        assert run.result.text == "late"
        assert "objection" in str(run.model.requests[-1].messages)

    def test_what_still_runs_ends_with_the_session(self, play, setting, project: Path) -> None:
        line = "sleep 30; touch late"
        setting(_pre({"type": "command", "command": line, "async": True}))
        run = play(does(bash("echo 1")), DONE)
        began = time.monotonic()
        run.session.close()
        assert time.monotonic() - began < 5
        assert not (project / "late").exists()


class TestCallbacks:
    def test_one_that_comes_after_the_session_was_made(self, project: Path) -> None:
        model = ScriptedModel([does(bash("echo 1")), DONE])
        seen: list[dict[str, Any]] = []

        def refuse(payload: dict[str, Any], call: str | None) -> dict[str, Any]:
            seen.append(payload)
            return {"hookSpecificOutput": _deny("the program says no")}

        with Session(project, model=model, options=Options(trust=True)) as session:
            session.control.add_hook("PreToolUse", "Bash", refuse)
            events = list(session.run("go"))
        assert seen[0]["tool_input"] == {"command": "echo 1"}
        assert [one.tool_name for one in events[-1].result.denials] == ["Bash"]

    def test_one_that_raises_is_an_error_that_is_shown(self, project: Path) -> None:
        model = ScriptedModel([does(bash("echo 1")), DONE])

        def broken(payload: dict[str, Any], call: str | None) -> dict[str, Any]:
            raise RuntimeError("oops")

        with Session(project, model=model, options=Options(trust=True)) as session:
            session.control.add_hook("PreToolUse", None, broken)
            events = list(session.run("go"))
        assert any(isinstance(event, Notice) and "oops" in event.text for event in events)
        assert events[-1].result.text == "done"


def _deny(reason: str) -> dict[str, str]:
    return {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}


def _pre(hook: dict[str, Any]) -> dict[str, Any]:
    return {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}


class Endpoint:
    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.answer: dict[str, Any] = {}
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                endpoint.bodies.append(json.loads(self.rfile.read(size)))
                data = json.dumps(endpoint.answer).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_added_directories_are_named_and_count(play, setting, log: Log, tmp_path: Path) -> None:
    setting(log.settings("DirectoryAdded"))
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.txt").write_text("x\n")
    read = does(Call("Edit", {"file_path": str(other / "x.txt"), "old_string": "x", "new_string": "y"}))
    seen = does(Call("Read", {"file_path": str(other / "x.txt")}))
    run = play(seen, read, DONE, prompt=f"/add-dir {other}", mode="acceptEdits")
    assert run.result.text == f"Added {other} as a working directory for this session."
    assert (run.result.is_error, run.model.requests) == (False, [])
    list(run.session.run("go"))
    (told,) = log.told("DirectoryAdded")
    assert (told["directory"], told["source"]) == (str(other), "slash_command")
    assert (other / "x.txt").read_text() == "y\n"
    assert f"added the working directory {other}" in str(run.model.requests[0].messages)


@pytest.mark.parametrize("name", ["", "/no/such/place", "a.txt", "."])
def test_what_is_not_a_new_directory_adds_nothing(play, setting, log: Log, name: str) -> None:
    setting(log.settings("DirectoryAdded"))
    run = play(DONE, prompt=f"/add-dir {name}")
    assert "nothing was added" in run.result.text or "already part" in run.result.text
    assert log.told("DirectoryAdded") == []


def test_a_program_adds_a_directory(play, setting, log: Log, tmp_path: Path) -> None:
    setting(log.settings("DirectoryAdded"))
    run = play(DONE, DONE)
    run.session.control.add_directory(str(tmp_path))
    list(run.session.run("two"))
    assert [one["source"] for one in log.told("DirectoryAdded")] == ["register_repo_root"]
