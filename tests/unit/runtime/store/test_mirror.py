"""The copy of a transcript for the program that runs the session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.sessions import call, lines, open_child, open_session

from checkrein.runtime.store import SessionStore
from checkrein.runtime.store.mirror import BATCH, Mirror


class Copy:
    def __init__(self) -> None:
        self.files: dict[str, list[Any]] = {}
        self.sizes: list[int] = []

    def __call__(self, path: str, entries: list[Any]) -> None:
        self.sizes.append(len(json.dumps(entries)))
        self.files.setdefault(path, []).extend(entries)


def test_it_has_every_line_and_what_came_before_somebody_attached(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "root")
    mirror, copy = store.mirror(), Copy()
    with store.create(tmp_path, mirror=mirror) as writer:
        writer.user("one")
        mirror.attach(copy)
        writer.assistant({"id": "m", "content": [{"type": "text", "text": "two"}]})
        writer.sync()
    assert copy.files == {str(writer.path): lines(writer.path)}


def test_paths_are_as_the_environment_names_them(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    store, copy = SessionStore(tmp_path / "link"), Copy()
    mirror = store.mirror()
    mirror.attach(copy)
    with store.create(tmp_path, mirror=mirror) as writer:
        writer.user("one")
    (path,) = copy.files
    assert path.startswith(str(tmp_path / "link"))
    assert Path(path).samefile(writer.path)


def test_a_resume_copies_its_repairs_and_a_fork_everything(tmp_path: Path) -> None:
    root = str(tmp_path / "root")
    with open_session(tmp_path, {"text": "hi"}, sessions=root) as session:
        list(session.run("go"))
        first = session.id
    for options in ({"fork": True}, {}):
        copy = Copy()
        with open_session(
            tmp_path, {"text": "ho"}, sessions=root, resume=first, mirror=True, **options
        ) as session:
            session.mirror(copy)
            list(session.run("again"))
            path = session.conversation.recorder.writer.path
        (told,) = copy.files.values()
        written = lines(path)
        assert told == (written if options else written[-len(told) :])
        prompts = [
            one["message"]["content"] for one in told if one.get("type") == "user" and "isMeta" not in one
        ]
        assert prompts == (["go", "again"] if options else ["again"])


def test_children_have_their_own_file_and_say_whose_they_are(tmp_path: Path) -> None:
    copy = Copy()
    with open_session(tmp_path, {"text": "hi"}, {"text": "child"}, mirror=True) as session:
        session.mirror(copy)
        list(session.run("go"))
        child = open_child(session, call="toolu_1")
        list(child.run("work"))
        child.close()
    main, other = copy.files
    assert other.startswith(main.removesuffix(".jsonl") + "/subagents/agent-")
    assert copy.files[other][0] == {"type": "agent_metadata", "toolUseId": "toolu_1"}
    assert copy.files[other][1:] == lines(Path(other))


def test_the_copy_of_the_result_comes_before_the_event(tmp_path: Path) -> None:
    seen: list[str] = []
    with open_session(tmp_path, {"text": "hi"}, mirror=True) as session:
        session.mirror(lambda path, entries: seen.extend(one["type"] for one in entries))
        for event in session.run("go"):
            seen.append(type(event).__name__)
    assert seen[-1] == "Finished"
    assert seen[-2] == "last-prompt" or seen[-2] == "checkrein"


def test_nothing_saved_nothing_copied(tmp_path: Path) -> None:
    copy = Copy()
    with open_session(tmp_path, {"text": "hi"}, mirror=True, persist=False) as session:
        session.mirror(copy)
        list(session.run("go"))
    assert copy.files == {}


def test_no_frame_is_larger_than_a_line_may_be(tmp_path: Path) -> None:
    store, copy = SessionStore(tmp_path), Copy()
    mirror = store.mirror()
    mirror.attach(copy)
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "A" * 3_000_000},
    }
    with store.create(tmp_path, mirror=mirror) as writer:
        for _ in range(40):
            writer.user("x" * 30_000)
        writer.user([{"type": "text", "text": "y" * 2_000_000}, image])
        again = Mirror(store.root, store.root)
        again.attach(copy)
        again.tell_all(writer.path)
    assert max(copy.sizes) < 1 << 20
    large = copy.files[str(writer.path)][41]["message"]["content"]
    assert [block["type"] for block in large] == ["text", "text"]
    assert all("only in the transcript" in block["text"] for block in large)
    assert len(copy.files[str(writer.path)]) == 2 * 42
    assert BATCH < 1 << 20


def test_a_program_that_fails_does_not_disturb_the_session(tmp_path: Path) -> None:
    def broken(path: str, entries: list[Any]) -> None:
        raise BrokenPipeError

    with open_session(tmp_path, call("Read", file_path="x"), {"text": "hi"}, mirror=True) as session:
        session.mirror(broken)
        list(session.run("go"))
        assert session.result is not None
        assert not session.result.is_error


@pytest.mark.parametrize("value", ["", "1"])
def test_the_sdk_looks_in_its_own_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.setenv("CLAUDE_AGENT_SDK_VERSION", value)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    inside = str(SessionStore().root).startswith(str(tmp_path / "me" / ".claude" / "projects"))
    assert inside is bool(value)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    assert SessionStore().root == tmp_path / "config" / "projects"
