from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import SessionError, UsageError
from checkrein.runtime.store import SessionStore, lines, transcript_files
from checkrein.runtime.store.load import load


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_entries_have_the_fields_that_readers_rely_on(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd, git_branch="main", kind="print") as writer:
        first = writer.user("hello")
        second = writer.assistant({"id": "msg_1", "content": [{"type": "text", "text": "hi"}]})
        writer.mark("tool_started", toolUseId="t", name="Bash")
        third = writer.tool_result("t", "out", structured={"stdout": "out"}, is_error=True)
    opened, prompt, reply, mark, result = read(writer.path)
    assert opened["type"] == "checkrein"
    assert opened["checkrein"] == {"event": "opened", "format": 1, "kind": "print"}
    for entry in (opened, prompt, reply, result):
        assert entry["sessionId"] == writer.session_id
        assert entry["cwd"] == str(cwd)
        assert entry["gitBranch"] == "main"
        assert entry["version"]
        assert entry["timestamp"].endswith("Z")
    assert (prompt["uuid"], prompt["parentUuid"], prompt["isSidechain"]) == (first, None, False)
    assert prompt["message"] == {"role": "user", "content": "hello"}
    assert (reply["uuid"], reply["parentUuid"]) == (second, first)
    assert reply["message"]["role"] == "assistant"
    assert "uuid" not in mark
    assert (result["uuid"], result["parentUuid"]) == (third, second)
    assert result["toolUseResult"] == {"stdout": "out"}
    assert result["message"]["content"] == [
        {"type": "tool_result", "tool_use_id": "t", "content": "out", "is_error": True}
    ]
    assert all(next(iter(entry)) == "type" for entry in read(writer.path))


def test_a_session_in_which_nothing_was_said_leaves_nothing(store: SessionStore, cwd: Path) -> None:
    writer = store.create(cwd)
    writer.sync()
    writer.close()
    writer.close()
    assert list(writer.path.parent.iterdir()) == []
    assert store.list(cwd) == ()


def test_an_announced_uuid_is_kept(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd) as writer:
        uuid = writer.new_uuid()
        assert writer.user("hello", uuid=uuid) == uuid
    assert load(writer.path).leaf == uuid


def test_same_seed_and_clock_give_the_same_bytes_and_a_resume_no_collision(
    tmp_path: Path, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import itertools

    from checkrein.base import ids

    monkeypatch.setenv("CHECKREIN_CLOCK", "2026-01-02T03:04:05Z")
    monkeypatch.setenv("CHECKREIN_ID_SEED", "seed")

    def run(root: Path) -> bytes:
        store = SessionStore(root)
        for _ in range(2):  # a new process starts counting again
            monkeypatch.setattr(ids, "_counter", itertools.count(1))
            try:
                _, writer = store.resume("s", cwd)
            except Exception:
                writer = store.create(cwd, session_id="s")
            with writer:
                writer.user("hello")
                writer.sync()
        assert len(load(writer.path).sources[0]) == 2
        assert not load(writer.path).diagnostics
        return writer.path.read_bytes()

    assert run(tmp_path / "one") == run(tmp_path / "two")


def test_a_torn_tail_is_closed_before_the_next_entry(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd, session_id="s") as writer:
        writer.user("first")
    with open(writer.path, "ab") as file:
        file.write('{"type":"user","message":"ü'.encode()[:-1])
    _, writer = store.resume("s", cwd)
    with writer:
        writer.user("second")
    conversation = load(writer.path)
    assert [b["text"] for b in conversation.messages[0]["content"]] == ["first", "second"]
    assert [d.code for d in conversation.diagnostics] == ["session-damaged-line"]
    assert conversation.diagnostics[0].origin.line == 3
    writer.path.read_text(encoding="utf-8")


def test_a_whole_record_without_its_newline_is_kept(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd, session_id="s") as writer:
        writer.user("first")
    writer.path.write_bytes(writer.path.read_bytes().removesuffix(b"\n"))
    _, writer = store.resume("s", cwd)
    with writer:
        writer.user("second")
    assert not load(writer.path).diagnostics
    assert load(writer.path).prompt_count == 2


def test_a_failed_write_is_no_acknowledgement_and_does_not_spoil_the_next(
    store: SessionStore, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = store.create(cwd)
    writer.user("first")
    leaf = writer.leaf
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) > 20:
            return real(descriptor, data[:20])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(
        transcript_files.os, "write", lambda fd, data: full(fd, data) if len(data) > 40 else full(fd, b"")
    )
    with pytest.raises(SessionError) as failed:
        writer.user("lost" * 20)
    assert failed.value.kind == "session_write_failed"
    assert failed.value.retryable
    assert "No space left" in failed.value.message
    assert writer.leaf == leaf
    monkeypatch.setattr(transcript_files.os, "write", real)
    writer.user("second")
    writer.close()
    assert [b["text"] for b in load(writer.path).messages[0]["content"]] == ["first", "second"]


def test_text_that_is_not_unicode_is_written_all_the_same(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd) as writer:
        writer.user(b"caf\xe9".decode("utf-8", "surrogateescape"))
    assert load(writer.path).messages[0]["content"][0]["text"] == "caf\ufffd"


def test_an_entry_that_could_not_be_read_back_is_refused(
    store: SessionStore, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_files, "MAX_LINE", 1000)
    with store.create(cwd) as writer, pytest.raises(SessionError) as refused:
        writer.user("x" * 1000)
    assert refused.value.kind == "session_entry_too_large"


def test_only_entries_of_the_conversation_can_be_appended(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd) as writer, pytest.raises(UsageError):
        writer.append({"type": "nonsense"})


def test_create_refuses_an_id_that_is_taken(store: SessionStore, cwd: Path, tmp_path: Path) -> None:
    with store.create(cwd, session_id="s") as writer:
        writer.user("hi")
    for place in (cwd, tmp_path):
        with pytest.raises(SessionError) as refused:
            store.create(place, session_id="s")
        assert refused.value.kind == "session_exists"


def test_unwritable_directory_is_a_typed_error(tmp_path: Path, cwd: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SessionError) as refused:
        SessionStore(tmp_path / "file").create(cwd)
    assert refused.value.kind == "session_write_failed"
    assert refused.value.hint


def test_the_title_stays_where_readers_of_the_tail_find_it(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd) as writer:
        writer.title("Named")
        for _ in range(5):
            writer.user("x" * 20_000)
            writer.sync()
    tail = writer.path.read_bytes()[-64 * 1024 :]
    assert b'"customTitle":"Named"' in tail
    assert b'{"type":"last-prompt","lastPrompt":"xxx' in tail


def test_an_unsaved_session_answers_like_any_other(store: SessionStore, cwd: Path) -> None:
    with store.unsaved(cwd) as writer:
        assert writer.user("hi") == writer.leaf
        writer.tool_started("t", "Bash")
        writer.result({"subtype": "success"})
        with writer.subagent("a1", call="t") as child:
            child.user("task")
        spilled = writer.spill("t", "long")
        assert spilled.read_text() == "long"
    assert not spilled.exists()
    assert not store.root.exists()


def test_subagents_and_spilled_output_lie_beside_the_transcript(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd, session_id="s") as writer:
        writer.user("hi")
        with writer.subagent("a1", call="toolu_1") as child:
            child.user("task")
            child.assistant({"id": "m", "content": [{"type": "text", "text": "done"}]})
            with child.subagent("a2", call="toolu_2", parent_agent="a1") as grandchild:
                grandchild.user("part")
        with writer.subagent("a1", call="toolu_1") as child:
            child.user("more")
        spilled = writer.spill("toolu:1/../x", b"bytes")
    beside = writer.path.with_suffix("")
    assert json.loads((beside / "subagents" / "agent-a2.meta.json").read_text()) == {
        "toolUseId": "toolu_2",
        "parentAgentId": "a1",
    }
    assert spilled == beside / "tool-results" / "toolu-1----x.txt"
    assert store.subagents("s", cwd) == ("a1", "a2")
    child_talk = store.load_subagent("s", "a1", cwd)
    assert [message["role"] for message in child_talk.messages] == ["user", "assistant", "user"]
    assert child_talk.interrupted == ()
    entry = json.loads((beside / "subagents" / "agent-a1.jsonl").read_text().splitlines()[0])
    assert (entry["isSidechain"], entry["agentId"], entry["sessionId"]) == (True, "a1", "s")
    assert store.list(cwd)[0].session_id == "s"
    assert len(store.list(cwd)) == 1


def test_a_companion_directory_that_is_a_link_is_refused(
    store: SessionStore, cwd: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    with store.create(cwd, session_id="s") as writer:
        writer.user("hi")
        writer.path.with_suffix("").symlink_to(tmp_path / "outside")
        with pytest.raises(SessionError, match="symbolic link"):
            writer.subagent("a1", call="t")
        with pytest.raises(SessionError, match="symbolic link"):
            writer.spill("x", "data")
    assert store.delete("s", cwd)
    assert list((tmp_path / "outside").iterdir()) == []


def test_lines_are_limited_when_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 300)
    path = tmp_path / "s.jsonl"
    entry = {"type": "user", "uuid": "u", "parentUuid": None, "message": {"content": "hi"}}
    path.write_text(json.dumps({"x": "y" * 5000}) + "\n" + json.dumps(entry) + "\n")
    conversation = load(path)
    assert conversation.message_count == 1
    assert [d.origin.line for d in conversation.diagnostics] == [1]
