"""Sessions that the real claude-agent-sdk runs: its functions find, read, resume, fork and rewind them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import anyio
import claude_agent_sdk as sdk
import pytest
from claude_agent_sdk import ClaudeSDKClient, InMemorySessionStore

from conformance.sdk_stage import Stage, calls, warnings

LIMIT = 40.0
pytestmark = pytest.mark.anyio


@pytest.fixture
def stage(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """The model of this stage counts its answers."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(stage.config))
    with stage.model([{"text": str(at)} for at in range(1, 10)]):
        yield stage


async def turn(stage: Stage, prompt: str, **more: Any) -> str:
    """One query; returns the id of its session."""
    stage.heard.clear()
    with anyio.fail_after(LIMIT):
        await stage.ask("query", prompt, stage.options(**more))
    return str(stage.heard[-1]["session_id"])


def read(stage: Stage, session: str) -> list[tuple[str, str]]:
    """A session as the SDK reads it."""
    found = sdk.get_session_messages(session, directory=str(stage.project))
    return [(one.type, _text(one.message)) for one in found]


def _text(message: Any) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


async def test_its_readers_find_what_it_streamed(stage: Stage, caplog: Any) -> None:
    session = await turn(stage, "Say hi")
    (info,) = sdk.list_sessions(directory=str(stage.project))
    assert (info.session_id, info.first_prompt, info.cwd) == (session, "Say hi", str(stage.project))
    found = sdk.get_session_messages(session, directory=str(stage.project))
    assert [(one.type, _text(one.message)) for one in found] == [("user", "Say hi"), ("assistant", "1")]
    (streamed,) = stage.frames("assistant")
    assert found[1].uuid == streamed["uuid"]
    assert found[1].session_id == session
    assert warnings(caplog) == []


async def test_without_a_directory_of_its_own_they_stand_below_home(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    monkeypatch.setenv("HOME", str(stage.root))
    session = await turn(stage, "Say hi", env={"CLAUDE_CONFIG_DIR": ""})
    assert [one.session_id for one in sdk.list_sessions(directory=str(stage.project))] == [session]
    assert list((stage.root / ".claude" / "projects").rglob("*.jsonl"))
    assert not list((stage.root / "checkrein").rglob("*.jsonl"))


async def test_resume_continue_and_fork(stage: Stage) -> None:
    session = await turn(stage, "one")
    assert await turn(stage, "two", resume=session) == session
    assert await turn(stage, "three", continue_conversation=True) == session
    fork = await turn(stage, "four", resume=session, fork_session=True)
    assert fork != session
    said = [text for _, text in read(stage, session)]
    assert said == ["one", "1", "two", "2", "three", "3"]
    assert [text for _, text in read(stage, fork)] == [*said, "four", "4"]
    theirs = sdk.fork_session(session, directory=str(stage.project)).session_id
    assert await turn(stage, "five", resume=theirs) == theirs
    sdk.rename_session(theirs, "A name", directory=str(stage.project))
    sdk.tag_session(theirs, "kept", directory=str(stage.project))
    info = sdk.get_session_info(theirs, directory=str(stage.project))
    assert info is not None
    assert (info.custom_title, info.tag) == ("A name", "kept")
    sdk.delete_session(theirs, directory=str(stage.project))
    assert sdk.get_session_info(theirs, directory=str(stage.project)) is None


async def test_a_resume_may_drop_the_last_turn_and_nothing_else(stage: Stage) -> None:
    session = await turn(stage, "one")
    await turn(stage, "two", resume=session)
    found = sdk.get_session_messages(session, directory=str(stage.project))
    kept, dropped = found[1].uuid, found[2].uuid
    named = {"resume": session, "resume_session_at": kept, "resume_drops_turn": dropped}
    fork = await turn(stage, "other", fork_session=True, **named)
    assert [text for _, text in read(stage, fork)] == ["one", "1", "other", "3"]
    await turn(stage, "three", resume=session)
    with pytest.raises(sdk.ResultError, match="Resume rejected by --resume-drops-turn:"):
        await turn(stage, "other", **named)
    assert await turn(stage, "last", resume=session, resume_session_at=kept) == session
    assert [text for _, text in read(stage, session)] == ["one", "1", "last", "5"]


@pytest.mark.parametrize("flush", ["batched", "eager"])
async def test_a_store_gets_everything_and_resumes_without_a_file(
    stage: Stage, flush: Any, caplog: Any
) -> None:
    store = InMemorySessionStore()
    kept: dict[str, Any] = {"session_store": store, "session_store_flush": flush}
    session = await turn(stage, "one", **kept)
    key = sdk.project_key_for_directory(str(stage.project))
    entries = await store.load({"project_key": key, "session_id": session})
    assert entries is not None
    (path,) = stage.config.rglob("*.jsonl")
    assert len(entries) == len(path.read_text().splitlines())
    shutil.rmtree(stage.config / "projects")
    assert await turn(stage, "two", resume=session, **kept) == session
    assert await turn(stage, "three", continue_conversation=True, **kept) == session
    found = await sdk.get_session_messages_from_store(store, session, directory=str(stage.project))
    assert [_text(one.message) for one in found] == ["one", "1", "two", "2", "three", "3"]
    (info,) = await sdk.list_sessions_from_store(store, directory=str(stage.project))
    assert (info.session_id, info.first_prompt) == (session, "one")
    fork = await turn(stage, "four", resume=session, fork_session=True, **kept)
    found = await sdk.get_session_messages_from_store(store, fork, directory=str(stage.project))
    assert [_text(one.message) for one in found][-2:] == ["four", "4"]
    assert len(found) == 8
    assert not list(stage.config.rglob("*.jsonl"))
    assert warnings(caplog) == []


async def test_subagents_are_found_by_the_sdk_and_in_a_store(stage: Stage) -> None:
    store = InMemorySessionStore()
    given = {"description": "look", "prompt": "look around", "subagent_type": "general-purpose"}
    turns = [calls("Agent", given), {"text": "I looked."}, {"text": "Done."}, {"text": "Done."}]
    with stage.model(turns), anyio.fail_after(LIMIT):
        await stage.ask("query", "go", stage.options(session_store=store))
    session = str(stage.heard[-1]["session_id"])
    (agent,) = sdk.list_subagents(session, directory=str(stage.project))
    found = sdk.get_subagent_messages(session, agent, directory=str(stage.project))
    call = stage.frames("assistant/tool_use")[0]["message"]["content"][0]["id"]
    assert {one.parent_tool_use_id for one in found} == {call}
    stored = await sdk.get_subagent_messages_from_store(store, session, agent, directory=str(stage.project))
    assert [one.uuid for one in stored] == [one.uuid for one in found]
    assert {one.parent_tool_use_id for one in stored} == {call}


async def test_files_go_back_to_a_prompt_and_strangers_are_errors(stage: Stage) -> None:
    (stage.project / "a.txt").write_text("old\n")
    turns = [
        calls("Write", {"file_path": "new.txt", "content": "x"}),
        {"text": "1"},
        calls("Bash", {"command": "cat a.txt", "description": "x"}),
        calls("Read", {"file_path": "a.txt"}),
        calls("Edit", {"file_path": "a.txt", "old_string": "old", "new_string": "changed"}),
        {"text": "2"},
    ]
    more: dict[str, Any] = {"enable_file_checkpointing": True, "permission_mode": "acceptEdits"}
    more["extra_args"] = {"replay-user-messages": None}
    with stage.model(turns), anyio.fail_after(LIMIT), stage.listening():
        async with ClaudeSDKClient(stage.options(**more)) as client:
            for prompt in ("one", "two"):
                await client.query(prompt)
                async for _ in client.receive_response():
                    pass
            first, second = (frame["uuid"] for frame in stage.heard if frame.get("isReplay"))
            assert (stage.project / "a.txt").read_text() == "changed\n"
            with pytest.raises(Exception, match="no checkpoint"):
                await client.rewind_files("00000000-0000-4000-8000-000000000000")
            await client.rewind_files(second)
            assert (stage.project / "a.txt").read_text() == "old\n"
            assert (stage.project / "new.txt").exists()
            await client.rewind_files(second)
            await client.rewind_files(first)
            assert not (stage.project / "new.txt").exists()


async def test_rewind_needs_checkpoints(stage: Stage) -> None:
    with anyio.fail_after(LIMIT), stage.listening():
        async with ClaudeSDKClient(stage.options(extra_args={"replay-user-messages": None})) as client:
            await client.query("one")
            async for _ in client.receive_response():
                pass
            (uuid,) = (frame["uuid"] for frame in stage.heard if frame.get("isReplay"))
            with pytest.raises(Exception, match="not enabled"):
                await client.rewind_files(uuid)
