"""Flags that programs on the claude-agent-sdk pass, and what each of them does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from claude_agent_sdk import ClaudeSDKClient, HookMatcher, ResultMessage

from conformance.sdk_stage import Stage, Turns, calls

LIMIT = 40.0
SAID = {"text": "RESULT"}
pytestmark = pytest.mark.anyio


async def ask(stage: Stage, turns: Turns, prompt: str = "go", **more: Any) -> ResultMessage:
    with stage.model(turns), anyio.fail_after(LIMIT):
        messages = await stage.ask("client", prompt, stage.options(**more))
    assert isinstance(messages[-1], ResultMessage)
    return messages[-1]


def bodies(stage: Stage) -> list[dict[str, Any]]:
    assert stage.server is not None
    return [json.loads(request.body) for request in stage.server.requests]


async def test_without_commands_a_slash_is_text(stage: Stage) -> None:
    folder = stage.project / ".claude" / "commands"
    folder.mkdir(parents=True)
    (folder / "hail.md").write_text("Say hail.")
    skill = stage.project / ".claude" / "skills" / "greet"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: greet\ndescription: Greets.\n---\nGreet.")
    flags = {"disable-slash-commands": None}
    with stage.model([SAID, SAID]), anyio.fail_after(LIMIT), stage.listening():
        options = stage.options(extra_args=flags, setting_sources=["project"])
        async with ClaudeSDKClient(options) as client:
            info = await client.get_server_info()
            for prompt in ("/hail", "/clear"):
                await client.query(prompt)
                assert [one async for one in client.receive_response()]
    assert info is not None
    assert info["commands"] == []
    first = stage.frames("system/init")[0]
    assert (first["slash_commands"], first["skills"]) == ([], [])
    assert "conversation_reset" not in stage.kinds
    sent = [str(body["messages"][-1]["content"]) for body in bodies(stage)]
    assert "/hail" in sent[0]
    assert "/clear" in sent[1]
    assert "Say hail." not in str(bodies(stage))


async def test_a_task_budget_reaches_the_service(stage: Stage) -> None:
    await ask(stage, [SAID], task_budget={"total": 50_000}, betas=["context-1m-2025-08-07"])
    assert bodies(stage)[0]["output_config"]["task_budget"] == {"type": "tokens", "total": 50_000}
    assert stage.server is not None
    sent = stage.server.requests[0].headers["anthropic-beta"].split(",")
    assert sent == ["context-1m-2025-08-07", "task-budgets-2026-03-13"]
    assert stage.errors == []


async def test_a_debug_file_says_what_happened_and_no_words(stage: Stage, tmp_path: Path) -> None:
    log = tmp_path / "debug.txt"
    call = calls("Bash", {"command": "echo swordfish"})
    await ask(stage, [call, SAID], "the word is swordfish", extra_args={"debug-file": str(log)})
    text = log.read_text()
    for said in ("[session] session_started", "[api] request_sent", "[tools] tool_finished", '"success"'):
        assert said in text
    assert "swordfish" not in text
    assert log.stat().st_mode & 0o077 == 0
    assert stage.errors == []


async def test_debug_without_a_file_writes_below_the_home(stage: Stage) -> None:
    result = await ask(stage, [SAID], extra_args={"debug": "api"})
    log = stage.root / "checkrein" / "debug" / f"{result.session_id}.txt"
    assert {line.split()[2] for line in log.read_text().splitlines()} == {"[api]"}
    assert stage.errors == []


async def test_debug_to_standard_error(stage: Stage) -> None:
    await ask(stage, [SAID], extra_args={"debug-to-stderr": None})
    assert stage.errors
    assert all("[DEBUG]" in line for line in stage.errors)


async def test_a_debug_file_that_cannot_be_written_is_an_error(stage: Stage) -> None:
    with pytest.raises(Exception, match="can't be written"):
        await ask(stage, [], extra_args={"debug-file": str(stage.project)})


async def test_config_shows_and_changes_what_the_session_goes_by(stage: Stage) -> None:
    folder = stage.project / ".claude" / "output-styles"
    folder.mkdir(parents=True)
    (folder / "pirate.md").write_text("---\nname: pirate\ndescription: Arr.\n---\nSpeak as a pirate.")
    prompts = (
        "/config",
        "/config model=claude-mock-2 effort=high thinking=2000 outputStyle=pirate",
        "go",
        "/config outputStyle=default thinking=false",
        "go",
        "/config effort=endless",
        "/config colour=red",
    )
    results = []
    with stage.model([SAID, SAID]), anyio.fail_after(LIMIT), stage.listening():
        async with ClaudeSDKClient(stage.options(setting_sources=["project"])) as client:
            for prompt in prompts:
                await client.query(prompt)
                *_, last = [one async for one in client.receive_response()]
                assert isinstance(last, ResultMessage)
                results.append(last.result or "")
    first, second = bodies(stage)
    assert "model=claude-mock-1" in results[0]
    assert "outputStyle=default" in results[0]
    assert results[1].split() == ["model=claude-mock-2", "effort=high", "thinking=2000", "outputStyle=pirate"]
    assert first["model"] == "claude-mock-2"
    assert first["output_config"]["effort"] == "high"
    assert first["thinking"]["budget_tokens"] == 2000
    assert "Speak as a pirate." in str(first["system"])
    assert "pirate" not in str(second.get("system"))
    assert second["thinking"] == {"type": "disabled"}
    assert stage.frames("system/init")[2]["output_style"] == "pirate"
    assert "effort stays high" in results[5]
    assert "colour" in results[6]
    assert not (stage.config / "settings.json").exists()


async def test_frames_of_hooks(stage: Stage) -> None:
    async def hook(payload: Any, tool_use_id: str | None, context: Any) -> Any:
        return {}

    hooks: Any = {name: [HookMatcher(hooks=[hook])] for name in ("UserPromptSubmit", "PreCompact", "Stop")}
    with stage.model([SAID, {"text": "A summary."}]), anyio.fail_after(LIMIT), stage.listening():
        async with ClaudeSDKClient(stage.options(hooks=hooks, include_hook_events=True)) as client:
            for prompt in ("go", "/compact"):
                await client.query(prompt)
                assert [one async for one in client.receive_response()]
    begun = {one["hook_event"] for one in stage.frames("system/hook_started")}
    ended = {one["hook_event"] for one in stage.frames("system/hook_response")}
    assert begun == {"UserPromptSubmit", "Stop"}
    assert ended == {"UserPromptSubmit", "Stop", "PreCompact"}


async def test_a_plugin_has_its_name_in_the_first_frame(stage: Stage, tmp_path: Path) -> None:
    manifest = tmp_path / "demo" / ".claude-plugin" / "plugin.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text('{"name": "demo", "version": "1.2.0", "description": "d"}')
    await ask(stage, [SAID], plugins=[{"type": "local", "path": str(tmp_path / "demo")}])
    told = {"name": "demo", "path": str(tmp_path / "demo"), "source": "demo@inline", "version": "1.2.0"}
    assert stage.frames("system/init")[0]["plugins"] == [told]
