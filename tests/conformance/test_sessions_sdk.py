"""The real claude-agent-sdk reads what we write, and we read what it writes.

Only the package's own Python readers are used; the program that it bundles is never started.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from checkrein.runtime.store import SessionStore, SessionWriter, layout

sdk = pytest.importorskip("claude_agent_sdk", reason="claude-agent-sdk is not installed")


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("CHECKREIN_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CODE_PROJECT_DIR_NAME", raising=False)
    path = tmp_path / "my_project.x"
    path.mkdir()
    return path


@pytest.fixture
def store(cwd: Path) -> SessionStore:
    return SessionStore()


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {}}


def converse(writer: SessionWriter) -> None:
    writer.user("Fix the tést")
    for block in (text("I look."), call("t1"), call("t2")):
        writer.assistant({"id": "m1", "model": "some-model", "content": [block]})
    writer.tool_started("t1", "Bash")
    writer.tool_started("t2", "Bash")
    writer.tool_result("t2", "two")
    writer.tool_result("t1", "one")
    writer.user("a note", meta=True)
    writer.assistant({"id": "m2", "model": "some-model", "content": [text("Done.")]})
    writer.sync()


def sdk_messages(writer: SessionWriter, cwd: Path) -> list[Any]:
    return list(sdk.get_session_messages(writer.session_id, directory=str(cwd)))


def test_project_directories_have_the_same_names(tmp_path: Path) -> None:
    for name in ("plain", "with space", "dots.and_lines", "ünïcode", "é", "x" * 180):
        path = tmp_path / name
        assert layout.project_name(path) == sdk.project_key_for_directory(path)
    assert len(layout.project_name(tmp_path / ("x" * 180) / ("y" * 90))) > 200
    deep = tmp_path / ("x" * 180) / ("y" * 90)
    assert layout.project_name(deep) == sdk.project_key_for_directory(deep)


def test_the_listing_shows_our_sessions(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd, git_branch="main") as writer:
        converse(writer)
    (info,) = sdk.list_sessions(directory=str(cwd), include_worktrees=False)
    ours = store.list(cwd)[0]
    assert info.session_id == writer.session_id == ours.session_id
    assert info.first_prompt == ours.first_prompt == "Fix the tést"
    assert info.summary == "Fix the tést"
    assert (info.cwd, info.git_branch) == (str(cwd), "main")
    assert info.created_at is not None
    assert info.file_size == ours.size
    store.rename(writer.session_id, "A title", cwd)
    store.tag(writer.session_id, "later", cwd)
    again = sdk.get_session_info(writer.session_id, directory=str(cwd))
    assert (again.custom_title, again.summary, again.tag) == ("A title", "A title", "later")


def test_a_title_is_found_in_a_long_session(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd) as writer:
        writer.title("Named early")
        for _ in range(20):
            writer.user("x" * 10_000)
            writer.sync()
    assert sdk.get_session_info(writer.session_id, directory=str(cwd)).custom_title == "Named early"


def test_messages_are_the_same(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd) as writer:
        converse(writer)
    theirs = sdk_messages(writer, cwd)
    entries = [json.loads(line) for line in writer.path.read_text().splitlines()]
    visible = [e for e in entries if e["type"] in ("user", "assistant") and not e.get("isMeta")]
    assert [m.uuid for m in theirs] == [e["uuid"] for e in visible]
    assert [m.message for m in theirs] == [e["message"] for e in visible]
    assert theirs[0].message["content"] == "Fix the tést"


def test_after_a_crash_and_a_resume_both_read_the_same(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd) as writer:
        writer.user("go")
        writer.assistant({"id": "m1", "content": [call("t1")]})
        writer.tool_started("t1", "Bash")
    with open(writer.path, "ab") as file:
        file.write('{"type":"user","uuid":"x","message":{"content":"ü'.encode()[:-1])
    conversation, writer = store.resume(writer.session_id, cwd)
    with writer:
        writer.user("what now?")
    theirs = sdk_messages(writer, cwd)
    flat = [b for m in store.load(writer.session_id, cwd).messages for b in m["content"]]
    assert [
        block
        for m in theirs
        for block in (
            [text(m.message["content"])] if isinstance(m.message["content"], str) else m.message["content"]
        )
    ] == flat
    assert [c.id for c in conversation.interrupted] == ["t1"]


def test_compaction_and_rewind_agree(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd) as writer:
        converse(writer)
        writer.compact("The summary.", trigger="manual", before_tokens=10)
        kept = writer.assistant({"id": "m3", "content": [text("After.")]})
        writer.user("wrong")
        writer.rewind(kept)
        writer.user("right")
    assert [m.message["content"] for m in sdk_messages(writer, cwd)] == [
        "The summary.",
        [text("After.")],
        "right",
    ]
    assert [m["content"] for m in store.load(writer.session_id, cwd).messages] == [
        [text("The summary.")],
        [text("After.")],
        [text("right")],
    ]


def test_subagents_are_found_with_their_parents(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd) as writer:
        converse(writer)
        with writer.subagent("abc123", call="t1", parent_agent="p1") as child:
            child.user("task")
            child.assistant({"id": "c1", "content": [text("found")]})
    assert sdk.list_subagents(writer.session_id, directory=str(cwd)) == ["abc123"]
    found = sdk.get_subagent_messages(writer.session_id, "abc123", directory=str(cwd))
    assert [m.message["content"] for m in found] == ["task", [text("found")]]
    assert {(m.parent_tool_use_id, m.parent_agent_id) for m in found} == {("t1", "p1")}
    assert len(sdk_messages(writer, cwd)) == 7


def test_their_rename_tag_fork_and_delete_work_on_our_files(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd) as writer:
        converse(writer)
    sdk.rename_session(writer.session_id, "Theirs", directory=str(cwd))
    sdk.tag_session(writer.session_id, "tagged", directory=str(cwd))
    found = store.outline("Theirs", cwd)
    assert (found.session_id, found.title, found.tag) == (writer.session_id, "Theirs", "tagged")
    fork = sdk.fork_session(writer.session_id, directory=str(cwd)).session_id
    forked = store.load(fork, cwd)
    assert forked.messages == store.load(writer.session_id, cwd).messages
    assert forked.title == "Theirs (fork)"
    assert forked.parent is not None
    assert forked.parent.session_id == writer.session_id
    assert forked.usage.output_tokens == 0
    assert forked.diagnostics == ()
    sdk.delete_session(fork, directory=str(cwd))
    assert [info.session_id for info in store.list(cwd)] == [writer.session_id]


def test_our_forks_are_read_by_them(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd) as writer:
        converse(writer)
    fork = store.fork(writer.session_id, cwd)
    assert [m.message for m in sdk.get_session_messages(fork, directory=str(cwd))] == [
        m.message for m in sdk_messages(writer, cwd)
    ]


def test_parallel_results_that_fan_out_are_read_alike(store: SessionStore, cwd: Path) -> None:
    session_id = str(uuid.uuid4())
    directory = layout.project_dir(store.root, cwd)
    directory.mkdir(parents=True)
    common = {"sessionId": session_id, "isSidechain": False, "timestamp": "2026-01-01T00:00:00.000Z"}
    entries = [
        {"type": "user", "uuid": "1", "parentUuid": None, "message": {"role": "user", "content": "go"}},
        {
            "type": "assistant",
            "uuid": "2",
            "parentUuid": "1",
            "message": {"id": "m1", "content": [call("a")]},
        },
        {
            "type": "assistant",
            "uuid": "3",
            "parentUuid": "2",
            "message": {"id": "m1", "content": [call("b")]},
        },
        *(
            {"type": "user", "uuid": uid, "parentUuid": parent, "message": {"content": [answer]}}
            for uid, parent, answer in (
                ("4", "3", {"type": "tool_result", "tool_use_id": "b", "content": "B"}),
                ("5", "2", {"type": "tool_result", "tool_use_id": "a", "content": "A"}),
            )
        ),
        {
            "type": "assistant",
            "uuid": "6",
            "parentUuid": "5",
            "message": {"id": "m2", "content": [text("Done.")]},
        },
    ]
    lines = "".join(json.dumps({**entry, **common}) + "\n" for entry in entries)
    (directory / f"{session_id}.jsonl").write_text(lines)
    theirs = {m.uuid for m in sdk.get_session_messages(session_id, directory=str(cwd))}
    ours = {uid for sources in store.load(session_id, cwd).sources for uid in sources}
    assert theirs == ours == {"1", "2", "3", "4", "5", "6"}
