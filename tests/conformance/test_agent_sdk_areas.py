"""What programs on the claude-agent-sdk rely on besides the recorded scenarios."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from claude_agent_sdk import (
    AgentDefinition,
    AssistantMessage,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionUpdate,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    ThinkingBlock,
    query,
)

from conformance.sdk_stage import COMMAND, Stage, Turns, calls

LIMIT = 40.0
HELLO: Turns = [{"text": "Hello."}]
SAID = {"text": "RESULT"}
pytestmark = pytest.mark.anyio


async def ask(stage: Stage, turns: Turns, prompt: str = "go", **more: Any) -> ResultMessage:
    with stage.model(turns), anyio.fail_after(LIMIT):
        messages = await stage.ask("client", prompt, stage.options(**more))
    first = next(one for one in messages if "hook" not in getattr(one, "subtype", ""))
    assert isinstance(first, SystemMessage)
    assert first.subtype == "init"
    assert isinstance(messages[-1], ResultMessage)
    assert stage.errors == []
    return messages[-1]


async def test_thinking_is_streamed_with_its_signature(stage: Stage) -> None:
    turns: Turns = [{"thinking": "2 + 2 is 4, of course.", "text": "Four.", "chunk": 5}]
    result = await ask(
        stage, turns, include_partial_messages=True, env={"MAX_THINKING_TOKENS": "8000"}, max_turns=2
    )
    assert result.subtype == "success"
    events = [one.event for one in stage.messages if isinstance(one, StreamEvent)]
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert "".join(one.get("thinking", "") for one in deltas) == "2 + 2 is 4, of course."
    assert [one["type"] for one in deltas if "signature" in one] == ["signature_delta"]
    thoughts = [one for one in stage.messages if isinstance(one, AssistantMessage)]
    assert isinstance(thoughts[0].content[0], ThinkingBlock)
    begun = events[0]["message"]["usage"]
    assert begun["input_tokens"] > 0
    assert [one.usage for one in thoughts] == [begun, begun]
    kinds = stage.kinds
    assert kinds.index("assistant/thinking") + 1 == kinds.index("stream_event/content_block_stop")
    assert stage.server is not None
    assert json.loads(stage.server.requests[0].body)["thinking"]["budget_tokens"] == 8000


@pytest.mark.parametrize(("thinking", "sent"), [("adaptive", "adaptive"), ("disabled", "disabled")])
async def test_modes_of_thinking(stage: Stage, thinking: str, sent: str) -> None:
    await ask(stage, HELLO, thinking={"type": thinking})
    assert stage.server is not None
    assert json.loads(stage.server.requests[0].body)["thinking"]["type"] == sent


@pytest.mark.parametrize(
    ("sources", "style", "has_command"),
    [
        (None, "local-test-style", True),
        ([], "default", False),
        (["user"], "default", False),
        (["user", "project", "local"], "local-test-style", True),
    ],
)
async def test_setting_sources(stage: Stage, sources: Any, style: str, has_command: bool) -> None:
    claude = stage.project / ".claude"
    (claude / "commands").mkdir(parents=True)
    (claude / "settings.local.json").write_text('{"outputStyle": "local-test-style"}')
    (claude / "commands" / "testcmd.md").write_text("---\ndescription: A test\n---\n\nDo it.\n")
    more = {} if sources is None else {"setting_sources": sources}
    await ask(stage, HELLO, **more)
    (init,) = stage.frames("system/init")
    assert init["output_style"] == style
    assert ("testcmd" in init["slash_commands"]) is has_command


async def test_an_output_style_changes_the_prompt(stage: Stage) -> None:
    styles = stage.project / ".claude" / "output-styles"
    styles.mkdir(parents=True)
    (styles / "pirate.md").write_text("---\nname: Pirate\ndescription: Arr\n---\n\nSpeak like a pirate.\n")
    (stage.project / ".claude" / "settings.json").write_text('{"outputStyle": "Pirate"}')
    turns: Turns = [{"text": "Arr.", "expect": {"system": "Speak like a pirate."}}]
    await ask(stage, turns, setting_sources=["project"])
    assert stage.frames("control_response")[0]["response"]["response"]["available_output_styles"] == [
        "default",
        "Pirate",
    ]


async def test_an_untrusted_project_says_so_in_the_first_frame(stage: Stage) -> None:
    """Without `setting_sources` nobody has agreed to run what the project brings."""
    marker = stage.root / "ran"
    claude = stage.project / ".claude"
    claude.mkdir()
    hook = {"hooks": [{"type": "command", "command": f"touch {marker}"}]}
    (claude / "settings.json").write_text(json.dumps({"hooks": {"UserPromptSubmit": [hook]}}))
    await ask(stage, HELLO)
    (init,) = stage.frames("system/init")
    assert init["checkrein"]["trusted"] is False
    assert any("settings.json" in one for one in init["checkrein"]["skipped"])
    assert not marker.exists()


async def test_the_consent_to_project_settings_lets_its_hooks_run(stage: Stage) -> None:
    marker = stage.root / "ran"
    claude = stage.project / ".claude"
    claude.mkdir()
    hook = {"hooks": [{"type": "command", "command": f"touch {marker}"}]}
    (claude / "settings.json").write_text(json.dumps({"hooks": {"UserPromptSubmit": [hook]}}))
    await ask(stage, HELLO, setting_sources=["project"])
    assert stage.frames("system/init")[0]["checkrein"]["trusted"] is True
    assert marker.exists()


async def test_hooks_of_the_start_and_of_notifications(stage: Stage) -> None:
    seen: list[Any] = []

    async def hook(payload: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        seen.append((payload["hook_event_name"], payload.get("source")))
        return {
            "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "from the start"}
        }

    turns: Turns = [{"text": "ok"}]
    await ask(stage, turns, hooks={"SessionStart": [HookMatcher(hooks=[hook])]})
    assert seen == [("SessionStart", "startup")]
    assert stage.server is not None
    assert "from the start" in stage.server.requests[0].body.decode()


@pytest.mark.parametrize(("on_failure", "runs"), [("continue", True), ("block", False)])
async def test_a_hook_that_fails(stage: Stage, on_failure: str, runs: bool) -> None:
    async def hook(payload: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        raise RuntimeError("the guard broke")

    hooks = {"PreToolUse": [HookMatcher(matcher="Bash", hooks=[hook], on_failure=on_failure)]}
    call = calls("Bash", {"command": "touch zz", "description": "x"})
    await ask(stage, [call, SAID], hooks=hooks, permission_mode="bypassPermissions")
    assert (stage.project / "zz").exists() is runs


async def test_a_hook_that_takes_too_long_is_given_up(stage: Stage) -> None:
    """Whatever the machine does meanwhile: the function never ends by itself."""
    ended: list[str] = []

    async def hook(payload: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(payload["tool_name"])
        return {}

    hooks = {"PostToolUse": [HookMatcher(matcher="Bash", hooks=[hook], timeout=0.3)]}
    call = calls("Bash", {"command": "echo hi", "description": "x"})
    await ask(stage, [call, SAID], hooks=hooks, permission_mode="bypassPermissions")
    (asked,) = stage.frames("control_request/hook_callback")
    (given_up,) = stage.frames("control_cancel_request")
    assert given_up["request_id"] == asked["request_id"]
    assert stage.heard.index(given_up) < stage.heard.index(stage.frames("result/success")[0])
    assert ended == ["Bash"]


async def test_a_hook_ends_the_turn_and_another_changes_the_input(stage: Stage) -> None:
    async def change(payload: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        said = {"permissionDecision": "allow", "updatedInput": {"command": "touch changed"}}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}

    async def stop(payload: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        return {"continue_": False, "stopReason": "enough", "systemMessage": "I stopped it"}

    hooks = {
        "PreToolUse": [HookMatcher(matcher="Bash", hooks=[change])],
        "PostToolUse": [HookMatcher(hooks=[stop])],
    }
    call = calls("Bash", {"command": "touch zz", "description": "x"})
    result = await ask(stage, [call], hooks=hooks)
    assert (stage.project / "changed").exists()
    assert not (stage.project / "zz").exists()
    assert not result.is_error


@pytest.mark.parametrize("destination", ["session", "localSettings", "projectSettings", "userSettings"])
async def test_permissions_of_an_answer_hold_and_are_kept(stage: Stage, destination: Any) -> None:
    asked: list[str] = []

    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
        asked.append(input["command"])
        update = PermissionUpdate.from_dict(
            {
                "type": "addRules",
                "rules": [{"toolName": "Bash", "ruleContent": "touch *"}],
                "behavior": "allow",
                "destination": destination,
            }
        )
        return PermissionResultAllow(updated_permissions=[update])

    turns: Turns = [*(calls("Bash", {"command": f"touch {name}"}) for name in "abc"), SAID]
    await ask(stage, turns, can_use_tool=decide)
    assert asked == ["touch a"]
    assert all((stage.project / name).exists() for name in "abc")
    files = {
        "localSettings": stage.project / ".claude" / "settings.local.json",
        "projectSettings": stage.project / ".claude" / "settings.json",
        "userSettings": stage.config / "settings.json",
    }
    for name, path in files.items():
        assert path.exists() is (name == destination)
    if destination in files:
        assert json.loads(files[destination].read_text())["permissions"]["allow"] == ["Bash(touch *)"]


async def test_a_mode_of_an_answer_and_questions_of_the_agent(stage: Stage) -> None:
    asked: list[str] = []

    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
        asked.append(name)
        if name == "AskUserQuestion":
            return PermissionResultAllow(updated_input={**input, "answers": {"Which?": "Blue"}})
        mode = PermissionUpdate.from_dict(
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
        )
        return PermissionResultAllow(updated_permissions=[mode])

    option = {"label": "Blue", "description": "b"}
    question = {
        "question": "Which?",
        "header": "Colour",
        "options": [option, {"label": "Red", "description": "r"}],
        "multiSelect": False,
    }
    turns: Turns = [
        calls("AskUserQuestion", {"questions": [question]}),
        calls("Write", {"file_path": "a.txt", "content": "a"}),
        calls("Write", {"file_path": "b.txt", "content": "b"}),
        SAID,
    ]
    await ask(stage, turns, can_use_tool=decide)
    assert asked == ["AskUserQuestion", "Write"]
    assert stage.server is not None
    assert "Blue" in stage.server.requests[1].body.decode()
    assert (stage.project / "b.txt").exists()
    assert [one["permissionMode"] for one in stage.frames("system/status")] == ["acceptEdits"]


async def test_a_callback_that_fails_refuses_the_call(stage: Stage) -> None:
    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
        raise RuntimeError("no idea")

    call = calls("Bash", {"command": "touch zz", "description": "x"})
    await ask(stage, [call, {**SAID, "expect": {"tool_result": "no idea"}}], can_use_tool=decide)
    assert not (stage.project / "zz").exists()


async def test_requests_that_fail_get_a_real_error(stage: Stage) -> None:
    with stage.model(HELLO), anyio.fail_after(LIMIT), stage.listening():
        async with ClaudeSDKClient(stage.options()) as client:
            assert client._query is not None
            for request, words in (
                ({"subtype": "no_such_thing"}, "not known"),
                ({"subtype": "set_permission_mode", "mode": "bypassPermissions"}, "not available"),
                ({"subtype": "set_permission_mode", "mode": "nonsense"}, "not available"),
                ({"subtype": "set_model", "model": 3}, "model"),
                ({"subtype": "mcp_reconnect", "serverName": "nobody"}, "nobody"),
                ({"subtype": "stop_task", "task_id": "t1"}, "t1"),
                ({"subtype": "rewind_files", "user_message_id": "u1"}, ""),
            ):
                with pytest.raises(Exception, match=words):
                    await client._query._send_control_request(request)
            assert (await client._query._send_control_request({"subtype": "initialize"}))[
                "hooks_applied"
            ] is False
            await client.query("go")
            assert [one async for one in client.receive_response()]


async def test_modes_change_between_prompts_and_models_back_to_the_default(stage: Stage) -> None:
    turns: Turns = [
        {"text": "a", "expect": {"model": "claude-mock-2"}},
        {"text": "b", "expect": {"model": "claude-mock-9"}},
    ]
    with stage.model(turns), anyio.fail_after(LIMIT), stage.listening():
        options = stage.options(env={"ANTHROPIC_DEFAULT_MODEL": "claude-mock-9"})
        async with ClaudeSDKClient(options) as client:
            await client.set_model("claude-mock-2")
            for model in (None, None):
                await client.query("go")
                assert [one async for one in client.receive_response()]
                await client.set_model(model)
            await client.set_permission_mode("plan")
            await client.set_permission_mode("default")
    assert [one["model"] for one in stage.frames("system/init")] == ["claude-mock-2", "claude-mock-9"]


async def test_a_verbatim_prompt_names_no_file_and_no_command(stage: Stage) -> None:
    outside = stage.root / "secret.txt"
    outside.write_text("MARKER")
    for verbatim in (False, True):
        await ask(stage, HELLO, f"What is in @{outside}?", verbatim_prompts=verbatim)
        assert stage.server is not None
        assert ("MARKER" in stage.server.requests[0].body.decode()) is not verbatim
        (transcript,) = (stage.config / "projects").rglob("*.jsonl")
        attached = [one for one in map(json.loads, transcript.open()) if one["type"] == "attachment"]
        assert ("MARKER" in json.dumps([one["attachment"] for one in attached])) is not verbatim
        transcript.unlink()
        stage.messages.clear()
        stage.heard.clear()
    await ask(stage, [{"text": "x", "expect": {"text": "/context"}}], "/context", verbatim_prompts=True)


async def test_a_turn_after_a_background_agent_can_still_ask_the_host(stage: Stage) -> None:
    asked: list[str] = []

    async def hook(payload: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        asked.append(payload["tool_name"])
        return {}

    target = stage.project / "out.txt"
    agent = AgentDefinition(description="d", prompt="Say DONE.", tools=[], model="haiku")
    input = {"description": "d", "prompt": "p", "subagent_type": "worker", "run_in_background": True}
    turns: Turns = [
        calls("Agent", input),
        {"text": "DONE", "when": {"system": "Say DONE."}, "delay": 0.5},
        {"text": "LAUNCHED"},
        calls("Write", {"file_path": str(target), "content": "DONE"}),
        {"text": "FINISHED"},
    ]
    with stage.model(turns), anyio.fail_after(LIMIT):
        options = stage.options(
            agents={"worker": agent},
            tools=["Agent", "Write"],
            setting_sources=[],
            permission_mode="acceptEdits",
            hooks={"PreToolUse": [HookMatcher(matcher="Write", hooks=[hook])]},
        )
        messages = [message async for message in query(prompt="go", options=options)]
    results = [one for one in messages if isinstance(one, ResultMessage)]
    assert [one.is_error for one in results] == [False, False]
    assert asked == ["Write"]
    assert target.read_text() == "DONE"


async def test_a_failure_of_the_service_is_a_success_with_an_error(stage: Stage) -> None:
    fault = {"status": 404, "error": "not_found_error", "message": "model: no such model"}
    failed = pytest.raises(Exception, match=r"Claude Code returned an error result: .*no such model")
    with stage.model([{"fault": fault}]), anyio.fail_after(LIMIT), failed:
        await stage.ask("query", "go", stage.options())
    (result,) = stage.frames("result")
    assert (result["subtype"], result["is_error"]) == ("success", True)
    assert "no such model" in result["result"]
    assert (result["terminal_reason"], result["api_error_status"]) == ("api_error", 404)


async def test_without_a_credential_the_session_opens_and_the_prompt_fails(stage: Stage) -> None:
    env = {"ANTHROPIC_BASE_URL": "", "ANTHROPIC_API_KEY": "", "CHECKREIN_MODEL__BASE_URL": ""}
    with stage.model([]), anyio.fail_after(LIMIT), stage.listening():
        async with ClaudeSDKClient(stage.options(env=env)) as client:
            info = await client.get_server_info()
            await client.query("go")
            messages = [one async for one in client.receive_response()]
    assert info is not None
    assert {"commands", "agents", "models", "account", "output_style", "pid"} <= info.keys()
    assert isinstance(messages[-1], ResultMessage)
    assert messages[-1].is_error
    assert "credential" in str(messages[-1].result)


async def test_flags_that_nobody_knows_are_a_warning(stage: Stage) -> None:
    await ask(stage, HELLO, extra_args={"some-new-flag": "value", "another": None})
    told = [one["content"] for one in stage.frames("system/informational")]
    assert told == [
        "Checkrein does not know the flag --some-new-flag.",
        "Checkrein does not know the flag --another.",
    ]
    assert stage.kinds.index("system/init") < stage.kinds.index("system/informational")


@pytest.mark.parametrize("flag", ["--new-tool-filter", "--permission-new", "--disallow-tools"])
def test_flags_about_tools_and_permissions_are_never_skipped(flag: str, tmp_path: Path) -> None:
    line = [COMMAND, "--input-format", "stream-json", "--output-format", "stream-json", flag, "x"]
    done = subprocess.run(line, cwd=tmp_path, input=b"", capture_output=True, timeout=60, check=False)
    assert done.returncode == 2
    assert flag.encode() in done.stderr


async def test_a_large_greeting_and_large_lines(stage: Stage) -> None:
    agents = {f"agent-{n}": AgentDefinition(description="d" * 2000, prompt="p" * 11_000) for n in range(20)}
    prompt = "x" * (1 << 20)
    await ask(stage, [{"text": "ok", "expect": {"text": "x" * 1000}}], prompt, agents=agents)
    assert "agent-19" in stage.frames("system/init")[0]["agents"]


def wire(stage: Stage, *more: str) -> tuple[list[str], dict[str, str]]:
    """The command as an SDK starts it."""
    assert stage.server is not None
    options = stage.options()
    env = os.environ | options.env | {"CLAUDE_CODE_SDK_READS_SESSION_STATE": "1"}
    flags = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json", *more]
    return [COMMAND, *flags, "--model", "claude-mock-1"], env


def user(text: str, **more: Any) -> bytes:
    message = {"type": "user", "message": {"role": "user", "content": text}, **more}
    return json.dumps(message).encode() + b"\n"


def run(stage: Stage, data: bytes, *more: str) -> tuple[int, list[dict[str, Any]], bytes]:
    line, env = wire(stage, *more)
    done = subprocess.run(
        line, cwd=stage.project, env=env, input=data, capture_output=True, timeout=60, check=False
    )
    return done.returncode, [json.loads(one) for one in done.stdout.splitlines()], done.stderr


def test_prompts_wait_while_the_session_is_busy_and_keep_their_origin(stage: Stage) -> None:
    with stage.model([{"text": "a", "delay": 0.5}, {"text": "b"}]):
        data = user("one", uuid="11111111-1111-4111-8111-111111111111", origin={"kind": "human"})
        status, frames, errors = run(stage, data + user("two"), "--replay-user-messages")
    assert (status, errors) == (0, b"")
    results = [one for one in frames if one["type"] == "result"]
    assert [one["result"] for one in results] == ["a", "b"]
    assert results[0]["origin"] == {"kind": "human"}
    assert results[0]["user_message_uuid"] == "11111111-1111-4111-8111-111111111111"
    assert "origin" not in results[1]
    replayed = [one for one in frames if one.get("isReplay")]
    assert [one["message"]["content"] for one in replayed] == ["one", "two"]
    assert replayed[0]["uuid"] == "11111111-1111-4111-8111-111111111111"
    states = [one["state"] for one in frames if one.get("subtype") == "session_state_changed"]
    assert states == ["running", "idle"]


def test_a_message_that_is_no_prompt_fails_alone(stage: Stage) -> None:
    """The next prompt has its turn in the same session."""
    data = user("") + user(" \n", uuid="22222222-2222-4222-8222-222222222222")
    data += json.dumps({"type": "user", "message": {"content": [{"type": "nope"}]}}).encode() + b"\n"
    with stage.model([{"text": "fine"}]):
        status, frames, errors = run(stage, data + user("hello"))
    assert (status, errors) == (0, b"")
    results = [one for one in frames if one["type"] == "result"]
    assert [one["subtype"] for one in results] == [*["error_during_execution"] * 3, "success"]
    assert results[1]["errors"] == ["The message is empty."]
    assert results[1]["user_message_uuid"] == "22222222-2222-4222-8222-222222222222"
    assert "nope" in results[2]["errors"][0]
    assert len({one["session_id"] for one in results}) == 1
    states = [one["state"] for one in frames if one.get("subtype") == "session_state_changed"]
    assert (states[0], states[-1]) == ("running", "idle")


def test_garbage_ends_the_run_with_a_result(stage: Stage) -> None:
    with stage.model([]):
        status, frames, errors = run(stage, b"{garbage\n")
    assert status == 2
    assert [one["type"] for one in frames if one["type"] == "result"] == ["result"]
    assert b"not JSON" in errors


def test_a_host_that_dies_leaves_no_process(stage: Stage, tmp_path: Path) -> None:
    """The host is killed while a command runs: neither the session nor the command stays."""
    mark = "31.4159"
    call = calls("Bash", {"command": f"sleep {mark}", "description": "x"})
    with stage.model([call, SAID]):
        line, env = wire(stage, "--dangerously-skip-permissions")
        host = (
            "import subprocess, sys, time\n"
            f"p = subprocess.Popen({line!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
            f"p.stdin.write({user('go')!r}); p.stdin.flush()\n"
            "print(p.pid, flush=True)\n"
            "time.sleep(60)\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", host], cwd=stage.project, env=env, stdout=subprocess.PIPE
        ) as parent:
            assert parent.stdout is not None
            pid = int(parent.stdout.readline())
            wait_until(lambda: running(mark))
            parent.send_signal(signal.SIGKILL)
            parent.wait()
        wait_until(lambda: not running(mark) and not alive(pid))


def running(word: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if f"sleep\0{word}".encode() in path.read_bytes():
                return True
        except OSError:
            continue
    return False


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(done: Any, seconds: float = 20.0) -> None:
    limit = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < limit
        time.sleep(0.05)


@pytest.mark.parametrize("api", ["query", "client"])
async def test_a_call_that_was_put_off_comes_up_again(stage: Stage, api: str) -> None:
    marker = stage.project / "executed.txt"
    seen: list[tuple[str, str | None]] = []

    def answering(decision: str) -> Any:
        async def hook(payload: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
            seen.append((decision, tool_use_id))
            said = {"permissionDecision": decision, "permissionDecisionReason": "because"}
            return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}

        return {"PreToolUse": [HookMatcher(matcher="Bash", hooks=[hook])]}

    async def nothing() -> Any:
        for frame in ():
            yield frame

    more: dict[str, Any] = {"tools": ["Bash"], "allowed_tools": ["Bash"], "setting_sources": []}
    with stage.model([calls("Bash", {"command": f"touch {marker}"}), SAID]), anyio.fail_after(LIMIT):
        options = stage.options(hooks=answering("defer"), **more)
        (first,) = [
            one async for one in query(prompt="go", options=options) if isinstance(one, ResultMessage)
        ]
        assert (first.stop_reason, first.is_error) == ("tool_deferred", False)
        assert first.deferred_tool_use is not None
        options = stage.options(hooks=answering("deny"), resume=first.session_id, **more)
        if api == "query":
            again = [one async for one in query(prompt=nothing(), options=options)]
        else:
            async with ClaudeSDKClient(options) as client:
                again = [one async for one in client.receive_response()]
    assert isinstance(again[-1], ResultMessage)
    assert (again[-1].is_error, again[-1].result) == (False, "RESULT")
    assert seen == [(one, first.deferred_tool_use.id) for one in ("defer", "deny")]
    assert not marker.exists()


async def test_a_cleared_session_begins_another_conversation(stage: Stage) -> None:
    seen: list[tuple[str, str]] = []

    async def hook(payload: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        seen.append((payload["hook_event_name"], payload.get("source") or payload["reason"]))
        return {}

    hooks = {event: [HookMatcher(hooks=[hook])] for event in ("SessionStart", "SessionEnd")}
    turns: Turns = [{"text": "one"}, {"text": "two"}]
    with stage.model(turns) as server, anyio.fail_after(LIMIT), stage.listening():
        async with ClaudeSDKClient(stage.options(hooks=hooks)) as client:
            for prompt in ("remember MARKER", "/clear", "again", "/context", "/model claude-mock-7"):
                await client.query(prompt)
                stage.messages = [one async for one in client.receive_response()]
        assert "MARKER" not in server.requests[-1].body.decode()
    (reset,) = stage.frames("conversation_reset")
    results = stage.frames("result")
    old, new = results[0]["session_id"], results[1]["session_id"]
    assert (reset["session_id"], reset["new_conversation_id"]) == (old, new)
    assert old != new
    assert [one["session_id"] for one in results[2:]] == [new] * 3
    assert "tokens" in results[3]["result"]
    assert "claude-mock-7" in results[4]["result"]
    assert seen[:3] == [("SessionStart", "startup"), ("SessionEnd", "clear"), ("SessionStart", "clear")]
    (transcripts,) = stage.config.glob("projects/*")
    assert {path.stem for path in transcripts.glob("*.jsonl")} == {old, new}


async def test_an_interrupt_in_the_middle_of_a_reply(stage: Stage) -> None:
    turns: Turns = [{"text": "a long story " * 50, "chunk": 5, "pace": 0.05}, {"text": "fine"}]
    with stage.model(turns), anyio.fail_after(LIMIT), stage.listening():
        async with ClaudeSDKClient(stage.options(include_partial_messages=True)) as client:
            await client.query("tell")
            async for message in client.receive_response():
                if isinstance(message, StreamEvent) and message.event["type"] == "content_block_delta":
                    await client.interrupt()
            await client.query("go on")
            last = [one async for one in client.receive_response()][-1]
    results = stage.frames("result")
    assert (results[0]["subtype"], results[0]["is_error"]) == ("error_during_execution", True)
    assert isinstance(last, ResultMessage)
    assert last.result == "fine"


async def test_many_clients_at_once(stage: Stage) -> None:
    """Each with a hook and an approval; none hangs, every result arrives."""
    count = 6

    async def one(number: int, results: list[Any]) -> None:
        asked: list[str] = []

        async def hook(payload: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
            asked.append("hook")
            return {}

        async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
            asked.append("decide")
            return PermissionResultAllow()

        options = stage.options(can_use_tool=decide, hooks={"PreToolUse": [HookMatcher(hooks=[hook])]})
        async for message in query(prompt=f"touch {number}", options=options):
            if isinstance(message, ResultMessage):
                results.append((message.is_error, asked))

    turns: Turns = []
    for number in range(count):
        when = {"text": f"touch {number}"}
        turns.append({**calls("Bash", {"command": f"touch f{number}"}), "when": when})
    turns.append({"text": "done", "repeat": 0})
    results: list[Any] = []
    with stage.model(turns), anyio.fail_after(120):
        async with anyio.create_task_group() as group:
            for number in range(count):
                group.start_soon(one, number, results)
    assert results == [(False, ["hook", "decide"])] * count
    assert all((stage.project / f"f{number}").exists() for number in range(count))
