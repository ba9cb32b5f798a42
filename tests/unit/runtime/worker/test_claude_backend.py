"""The real `claude` behind a worker: its command line, its settings, and programs that misbehave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run
from checkrein.model.skill_contract import NO_CONTRACT
from checkrein.model.view import View
from checkrein.passes.load import load
from checkrein.passes.visibility.bundled_skills import PLUGIN
from checkrein.runtime.skills.launch_dirs import AddDir
from checkrein.runtime.worker.backend import Assignment
from checkrein.runtime.worker.claude_backend import ClaudeBackend, argv, settings_of
from checkrein.runtime.worker.claude_frames import Frames
from checkrein.runtime.worker.session_report import Report
from checkrein.runtime.worker.skill_result import SkillResult
from checkrein.runtime.worker.watchdog import Limits
from checkrein.runtime.worker.worker import WorkerTerms, governed, run_worker
from checkrein.testing import ScriptedServer
from support.files import lay

PROGRAM = """
import json, os, signal, subprocess, sys, time
mode, place = sys.argv[1], sys.argv[2]
SLEEPER = "import os, sys, time; os.close(1); open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)"
def say(**record):
    sys.stdout.write(json.dumps(record) + chr(10)); sys.stdout.flush()
def message(kind, *blocks):
    say(type=kind, message={"role": kind, "content": list(blocks)}, session_id="s1")
first = json.loads(sys.stdin.readline())
say(type="system", subtype="init", session_id="s1")
if mode == "daemon":
    subprocess.Popen([sys.executable, "-S", "-c", SLEEPER, place + "/pid"], start_new_session=True)
    for _ in range(1000):
        if os.path.exists(place + "/pid") and open(place + "/pid").read(): break
        time.sleep(0.01)
elif mode == "hang":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open(place + "/pid", "w").write(str(os.getpid())); time.sleep(60)
elif mode == "flood":
    while True: sys.stdout.write("garbage " * 100 + chr(10))
elif mode == "long":
    while True: sys.stdout.write("x" * 65536)
elif mode == "crash":
    sys.stderr.write("Bearer sk-ant-api03-" + "A1b2" * 10); sys.exit(3)
written = {"file_path": place + "/plan.md", "content": ""}
use = {"type": "tool_use", "id": "t", "name": "Write", "input": written}
message("assistant", {"type": "text", "text": "Working."}, use)
message("user", {"type": "tool_result", "tool_use_id": "t", "content": "ok"})
told = json.dumps([first["message"]["content"], sorted(os.environ)])
output = {"plan_path": "/etc/passwd" if mode == "lie" else "plan.md", "summary": "x"}
say(type="result", subtype="success", is_error=False, result=told, session_id="s1", structured_output=output,
    usage={"input_tokens": 3, "output_tokens": 4}, total_cost_usd=0.5)
if mode == "linger":
    time.sleep(60)
sys.stdin.read()
"""
SKILL = "---\nname: plan\ndescription: plans\n---\nPlan $ARGUMENTS.\n"
CONTRACT = "outputs: [{name: plan_path, type: file_path}]\nwrite_behavior: always\n"
FILES = {
    ".git/": None,
    ".claude/skills/plan/SKILL.md": SKILL,
    ".claude/skills/plan/contract.yaml": CONTRACT,
    "plan.md": "",
}


@pytest.fixture
def planner(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    return lay(tmp_path / "p", FILES)


def work(place: Path, mode: str, **limits: float) -> SkillResult:
    program = (sys.executable, "-S", str(place.parent / "program.py"), mode, str(place))
    terms = WorkerTerms(limits=Limits(**{"timeout": 30, **limits}))
    backend = ClaudeBackend(program, exit_grace=0.5)
    return run_worker("/plan it", load(str(place)), backend=backend, terms=terms)


def gone(place: Path) -> bool:
    pid = int((place / "pid").read_text())
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_a_good_session(planner: Path) -> None:
    found = work(planner, "good")
    assert found.success, found
    assert (found.session_id, found.write_call_count, found.exit_code) == ("s1", 1, 0)
    assert (found.token_usage.input, found.token_usage.cost_usd) == (3, 0.5)
    assert (found.kill_reason, found.backend) == ("natural_exit", "claude")
    assert found.outputs == {"plan_path": "plan.md"}


def test_what_the_program_gets(planner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret-of-the-user")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "for-the-model")
    prompt, names = json.loads(work(planner, "good").result)
    assert prompt == "/plan it"
    assert {"PATH", "ANTHROPIC_API_KEY", "CHECKREIN_WORKER"} <= set(names)
    assert "GITHUB_TOKEN" not in names


def test_a_daemon_ends_with_its_worker(planner: Path) -> None:
    assert work(planner, "daemon").success
    assert gone(planner)


def test_a_program_that_hangs_and_ignores_signals(planner: Path) -> None:
    found = work(planner, "hang", idle=0.5)
    assert (found.subtype, found.retry_reason, found.kill_reason) == ("idle_stall", "stale", "infra_kill")
    assert gone(planner)


def test_a_program_that_floods(planner: Path) -> None:
    found = work(planner, "flood", stale=0.5)
    assert (found.success, found.subtype) == (False, "stale")


def test_a_line_without_an_end(planner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checkrein.runtime.worker.claude_backend._LONGEST_LINE", 1 << 20)
    found = work(planner, "long", idle=20)
    assert not found.success
    assert "a line of more than" in found.problem


def test_a_program_that_lies_about_its_output(planner: Path) -> None:
    found = work(planner, "lie")
    assert (found.success, found.retry_reason) == (False, "path_contamination")


def test_a_program_that_stays_after_its_result(planner: Path) -> None:
    found = work(planner, "linger")
    assert (found.success, found.kill_reason) == (True, "kill_after_completion")


def test_a_program_that_crashes(planner: Path) -> None:
    found = work(planner, "crash")
    assert (found.outcome, found.exit_code, found.cli_subtype) == ("failed", 3, "unparseable")
    assert "sk-ant" not in found.stderr


def test_a_program_that_does_not_exist(planner: Path) -> None:
    backend = ClaudeBackend(("/nonexistent/claude",))
    found = run_worker("/plan it", load(str(planner)), backend=backend)
    assert found.subtype == "crashed"
    assert "could not be started" in found.problem


def test_an_untrusted_project_starts_nothing(planner: Path) -> None:
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}
    lay(planner, {".claude/settings.json": {"hooks": hooks}})
    found = work(planner, "daemon")
    assert "not trusted" in found.problem
    assert not (planner / "pid").exists()


def assignment(place: Path, **fields: Any) -> Assignment:
    return Assignment(
        skill="plan",
        args="it",
        cwd=str(place),
        view=View(load(str(place))),
        contract=NO_CONTRACT,
        marker="%%DONE::0%%",
        schema={"type": "object"},
        directives="end well",
        env={},
        **fields,
    )


def test_cc_headless_001_and_tier_4_the_command_line(planner: Path) -> None:
    """Literal words, so that no constant drifts with the code."""
    extra = AddDir.at(planner)
    made = argv(("claude",), assignment(planner, model="opus", resume="s1"), "/s.json", extra)
    assert made == (
        *("claude", "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
        *("--settings", "/s.json", "--permission-mode", "default", "--json-schema", '{"type": "object"}'),
        *("--append-system-prompt", "end well", "--model", "opus", "--resume", "s1"),
        *("--plugin-dir", str(PLUGIN), "--add-dir", str(planner)),
    )


def test_hidden_skills_stay_hidden_from_claude(planner: Path) -> None:
    lay(planner, {"checkrein.toml": '[skills]\ntier3 = ["other"]\n', ".claude/skills/other/SKILL.md": SKILL})
    made = settings_of(governed(load(str(planner)), "plan").view, str(planner))
    assert made["skillOverrides"] == {"other": "off"}


def test_permissions_are_never_skipped(planner: Path) -> None:
    rules = {
        "allow": ["Bash(make *)"],
        "ask": ["Bash(git push *)"],
        "deny": ["Read(/secrets/**)", "Read(./x)", "Edit(~/y)", "Read(//etc/**)", "Bash(rm"],
    }
    lay(planner, {".claude/settings.json": {"permissions": {**rules, "defaultMode": "bypassPermissions"}}})
    words = argv(("claude",), assignment(planner), "/s.json", None)
    assert not any("skip-permissions" in word or "bypass" in word for word in words)
    made = settings_of(View(load(str(planner))), str(planner))
    assert made["permissions"] == {
        "deny": [f"Read(/{planner}/secrets/**)", "Read(./x)", "Edit(~/y)", "Read(//etc/**)"],
        "ask": ["Bash(git push *)"],
        "defaultMode": "default",
        "disableBypassPermissionsMode": "disable",
    }
    (group,) = made["hooks"]["PreToolUse"]
    assert group["matcher"] == "*"
    assert group["hooks"][0]["command"].endswith(f" -m checkrein decide --hook -C {planner}")


def test_no_file_of_the_project_takes_the_hooks_place(planner: Path) -> None:
    for name in ("checkrein.py", "json.py", "msgspec.py"):
        (planner / name).write_text("print('allowed'); raise SystemExit(0)\n")
    (group,) = settings_of(View(load(str(planner))), str(planner))["hooks"]["PreToolUse"]
    payload = json.dumps({"tool_name": "Bash", "tool_input": {"command": "rm x"}})
    done = subprocess.run(
        group["hooks"][0]["command"],
        shell=True,
        cwd=planner,
        env={**os.environ, "PYTHONPATH": str(planner)},
        input=payload,
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] != "allow"


@pytest.mark.parametrize(
    ("lines", "subtype"),
    [
        ([], "empty_output"),
        ([b"{"], "empty_output"),
        ([b'{"type": "system"}'], "unparseable"),
        ([b'{"type": "result", "subtype": "error_max_turns"}'], "error_max_turns"),
        ([b'{"type": "result", "subtype": "of_tomorrow"}'], "unknown"),
        (
            [b'{"type": "result", "subtype": 7, "result": [], "usage": "x", "structured_output": 3}'],
            "unknown",
        ),
        (
            [b'{"type": "result", "subtype": "success", "is_error": true, "result": "Prompt is too long"}'],
            "context_exhaustion",
        ),
        (
            [
                b'{"type": "assistant", "message": {"content": [{"type": "text", "text":'
                b' "Prompt is too long"}], "usage": {"output_tokens": 0}}}'
            ],
            "context_exhaustion",
        ),
        ([b'{"type": "assistant", "message": {"content": [1, {"type": "tool_use"}]}}', b"[]"], "unparseable"),
    ],
)
def test_frames(lines: list[bytes], subtype: str) -> None:
    frames = Frames(lambda kind: None)
    for line in lines:
        frames.take(line)
    found = frames.report(0, "", "M")
    assert (found.subtype, found.is_error) == (subtype, True)


def test_a_call_that_failed_wrote_nothing() -> None:
    frames = Frames(lambda kind: None)
    use = {"type": "tool_use", "id": "1", "name": "Edit", "input": {"file_path": "/x"}}
    answer = {"type": "tool_result", "tool_use_id": "1", "is_error": True}
    for kind, block in (("assistant", use), ("user", answer)):
        frames.take(json.dumps({"type": kind, "message": {"content": [block]}}).encode())
    found: Report = frames.report(0, "", "M")
    assert found.writes == ()


def hooked(capfd: pytest.CaptureFixture[str], file: Path, payload: object, place: Path) -> tuple[int, Any]:
    file.write_text(payload if isinstance(payload, str) else json.dumps(payload))
    status = run(["decide", str(file), "--hook", "-C", str(place)])
    text = capfd.readouterr().out
    return status, json.loads(text)["hookSpecificOutput"] if text else None


def test_the_hook_decides(planner: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lay(planner, {".claude/settings.json": {"permissions": {"deny": ["Bash(rm *)"]}}})
    file = planner.parent / "payload.json"
    more = {"hook_event_name": "PreToolUse", "session_id": "x", "cwd": str(planner)}
    for command, verdict in (("rm x", "deny"), ("ls", "allow"), ("curl x.y", "ask")):
        given = {"tool_name": "Bash", "tool_input": {"command": command}, **more}
        status, said = hooked(capfd, file, given, planner)
        assert (status, said["permissionDecision"], said["hookEventName"]) == (0, verdict, "PreToolUse")
    report = {"tool_name": "StructuredOutput", "tool_input": {"plan_path": "x"}, **more}
    assert hooked(capfd, file, report, planner)[1]["permissionDecision"] == "allow"
    assert (
        ".claude/settings.json"
        in hooked(capfd, file, {"tool_name": "Bash", "tool_input": {"command": "rm x"}}, planner)[1][
            "permissionDecisionReason"
        ]
    )


@pytest.mark.parametrize("payload", ["", "{", "[]", '{"tool_name": 1, "tool_input": {}}', "[" * 9999])
def test_a_hook_that_can_not_judge_blocks(
    planner: Path, capfd: pytest.CaptureFixture[str], payload: str
) -> None:
    assert hooked(capfd, planner.parent / "payload.json", payload, planner) == (2, None)
    good = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    assert hooked(capfd, planner.parent / "payload.json", good, planner / "nowhere") == (2, None)


def test_a_whole_agent_behind_the_seam(planner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkrein's own command line answers as `claude`: flags, frames, settings and the hook meet."""
    lay(
        planner,
        {".claude/settings.json": {"permissions": {"allow": ["Edit(/**)"], "deny": ["Bash(touch *)"]}}},
    )
    assert run(["trust", str(planner), "--yes"]) == 0
    output = {"plan_path": "made.md"}
    replies = [
        {"tool_calls": [{"name": "Bash", "input": {"command": "touch never"}}]},
        {"tool_calls": [{"name": "Write", "input": {"file_path": str(planner / "made.md"), "content": "x"}}]},
        {"tool_calls": [{"name": "StructuredOutput", "input": output}]},
        {"text": "Done."},
    ]
    with ScriptedServer(replies) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
        backend = ClaudeBackend((sys.executable, "-m", "checkrein"), exit_grace=5)
        terms = WorkerTerms(model="anthropic:claude-sonnet-4-5", limits=Limits(timeout=50))
        found = run_worker("/plan it", load(str(planner)), backend=backend, terms=terms)
    assert found.success, found
    assert (found.outputs, found.write_call_count) == (output, 1)
    assert (planner / "made.md").exists()
    assert not (planner / "never").exists()
