from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from checkrein.base.errors import NotFoundError, SessionError, UsageError
from checkrein.runtime.store import SessionKind, SessionStore, Usage, index
from checkrein.runtime.store.fold import UNKNOWN_EFFECT
from checkrein.runtime.store.index import index_path


def talk(
    store: SessionStore, cwd: Path, name: str, prompt: str = "hello", kind: SessionKind = "interactive"
) -> None:
    with store.create(cwd, session_id=name, kind=kind) as writer:
        writer.user(prompt)
        usage = {"input_tokens": 2, "output_tokens": 3}
        writer.assistant({"id": "m", "content": [{"type": "text", "text": "Certainly."}], "usage": usage})


def names(store: SessionStore, cwd: Path | None = None) -> list[str]:
    return [info.session_id for info in store.list(cwd)]


def at(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    monkeypatch.setenv("CHECKREIN_CLOCK", f"2026-01-01T00:{moment}Z")


def test_newest_first_by_recorded_time_not_by_file_time(
    store: SessionStore, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for moment, name in (("00:01", "old"), ("00:03", "new"), ("00:02", "middle")):
        at(monkeypatch, moment)
        talk(store, cwd, name)
    at(monkeypatch, "00:04")
    os.utime(store.find("old"), (9e9, 9e9))
    assert names(store, cwd) == ["new", "middle", "old"]
    latest = store.latest(cwd)
    assert latest is not None
    assert latest.session_id == "new"
    assert [info.session_id for info in store.list(cwd, limit=1, offset=1)] == ["middle"]


def test_a_row_says_what_loading_says(store: SessionStore, cwd: Path) -> None:
    talk(store, cwd, "s", "the first prompt")
    (info,) = store.list(cwd)
    found = store.outline("s", cwd)
    assert (info.prompt_count, info.message_count, info.usage) == (1, 2, Usage(2, 3))
    assert (info.prompt_count, info.message_count) == (found.prompt_count, found.message_count)
    assert info.summary == info.first_prompt == "the first prompt"
    assert not info.stopped
    assert info.path == found.path
    assert info.size == found.path.stat().st_size


def test_continue_skips_kinds_and_sessions_without_words(
    store: SessionStore, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.latest(cwd) is None
    at(monkeypatch, "00:01")
    talk(store, cwd, "typed")
    at(monkeypatch, "00:02")
    talk(store, cwd, "printed", kind="print")
    at(monkeypatch, "00:03")
    with store.create(cwd, session_id="empty") as writer:
        writer.title("nothing said")
    typed, any_kind = store.latest(cwd), store.latest(cwd, kinds=("interactive", "print"))
    assert typed is not None
    assert any_kind is not None
    assert (typed.session_id, any_kind.session_id) == ("typed", "printed")


def test_projects_are_apart_and_may_share_a_name(store: SessionStore, tmp_path: Path) -> None:
    one, two = tmp_path / "a-b", tmp_path / "a" / "b"
    one.mkdir()
    two.mkdir(parents=True)
    talk(store, one, "s1")
    talk(store, two, "s2")
    assert names(store, one) == ["s1"]
    assert names(store, two) == ["s2"]
    assert sorted(names(store)) == ["s1", "s2"]
    with pytest.raises(NotFoundError):
        store.load("unknown", one)
    assert store.load("s2", one).message_count == 2  # an id that exists once is found from anywhere


def test_references_are_ids_beginnings_or_titles(store: SessionStore, cwd: Path, tmp_path: Path) -> None:
    talk(store, cwd, "abcd-1")
    talk(store, cwd, "abcd-2")
    store.rename("abcd-2", "  My   plan ", cwd)
    assert store.find("abcd-1", cwd).stem == "abcd-1"
    assert store.find("My plan", cwd).stem == "abcd-2"
    assert store.find("My plan", tmp_path).stem == "abcd-2"
    with pytest.raises(SessionError) as twice:
        store.find("abcd", cwd)
    assert twice.value.kind == "session_ambiguous"
    assert "abcd-1" in twice.value.message
    assert store.delete("abcd-1", cwd)
    assert store.find("abcd", cwd).stem == "abcd-2"
    with pytest.raises(NotFoundError):
        store.find("abc", cwd)
    with pytest.raises(UsageError):
        store.rename("abcd-2", "  ", cwd)


def test_tags_are_set_and_removed(store: SessionStore, cwd: Path) -> None:
    talk(store, cwd, "s")
    store.tag("s", "later", cwd)
    assert store.list(cwd)[0].tag == "later"
    store.tag("s", "", cwd)
    assert store.list(cwd)[0].tag is None


def test_delete_takes_everything_and_can_be_repeated(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd, session_id="s") as writer:
        writer.user("find the needle")
        writer.spill("x", "output")
        writer.subagent("a", call="t").close()
    assert store.search("needle")
    assert store.delete("s", cwd) is True
    assert store.delete("s", cwd) is False
    assert list(writer.path.parent.iterdir()) == []
    assert store.search("needle") == ()
    assert b"needle" not in index_path(store.root).read_bytes()


def test_search_finds_prompts_and_replies_in_any_case(store: SessionStore, cwd: Path, tmp_path: Path) -> None:
    talk(store, cwd, "s1", "Where is the STRAßE of " + "x " * 200 + "gold?")
    talk(store, tmp_path, "s2", "nothing")
    (match,) = store.search("strasse")
    assert (match.session.session_id, match.role, match.line) == ("s1", "user", 2)
    assert match.excerpt.startswith("Where is the STRAßE of")
    assert match.excerpt.endswith("…")
    assert len(store.search("certainly")) == 2
    assert len(store.search("certainly", cwd)) == 1
    assert len(store.search("certainly", limit=1)) == 1
    assert store.search("100%_") == ()
    with pytest.raises(UsageError):
        store.search(" ")


def test_the_index_follows_the_files(store: SessionStore, cwd: Path) -> None:
    talk(store, cwd, "s1", "first needle")
    assert names(store) == ["s1"]
    talk(store, cwd, "s2")
    _, writer = store.resume("s1", cwd)
    with writer:
        writer.user("more hay")
    assert sorted(names(store)) == ["s1", "s2"]
    assert {info.session_id: info.prompt_count for info in store.list()} == {"s1": 2, "s2": 1}
    assert len(store.search("hay")) == 1
    store.find("s2").unlink()
    assert names(store) == ["s1"]
    path = store.find("s1")
    path.write_text(path.read_text().splitlines()[0] + "\n")  # rewritten by someone else
    assert store.search("needle") == ()


def test_a_project_that_went_away_is_forgotten(store: SessionStore, cwd: Path) -> None:
    import shutil

    talk(store, cwd, "s")
    assert names(store) == ["s"]
    shutil.rmtree(store.find("s").parent)
    assert names(store) == []
    assert store.search("hello") == ()


@pytest.mark.parametrize("damage", ["noise", "missing", "other schema", "half", "bad row"])
def test_a_damaged_index_is_built_again(store: SessionStore, cwd: Path, damage: str) -> None:
    import sqlite3

    talk(store, cwd, "s")
    assert names(store) == ["s"]
    path = index_path(store.root)
    if damage == "noise":
        path.write_bytes(b"noise" * 1000)
    elif damage == "missing":
        path.unlink()
    elif damage == "half":
        path.write_bytes(path.read_bytes()[:5000])
    else:
        with sqlite3.connect(path) as connection:
            if damage == "bad row":
                connection.execute("UPDATE session SET info = 'nonsense'")
            else:
                connection.executescript("DROP TABLE session; PRAGMA user_version = 99")
        connection.close()
    assert names(store) == ["s"]
    assert len(store.search("hello")) == 1
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_home_that_can_not_hold_an_index_still_lists(
    tmp_path: Path, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SessionStore(tmp_path / "elsewhere")
    talk(store, cwd, "s")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CHECKREIN_HOME", str(tmp_path / "file"))
    assert names(store) == ["s"]
    assert len(store.search("hello")) == 1


def test_a_busy_index_is_not_waited_for_forever(
    store: SessionStore, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3

    talk(store, cwd, "s")
    names(store)
    talk(store, cwd, "s2")
    real = sqlite3.connect
    holder = real(index_path(store.root), isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(
        sqlite3, "connect", lambda path, **options: real(path, **{**options, "timeout": 0.05})
    )
    assert sorted(names(store)) == ["s", "s2"]
    holder.close()


def test_a_session_that_is_made_anew_while_it_is_listed_is_not_listed_as_empty(
    store: SessionStore, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(store, cwd, "s1")
    seen, opened = index._transcripts, []

    def replaced_after(project: Path) -> list[tuple[str, index.Stamp]]:
        found = list(seen(project))
        store.delete("s1", cwd)
        opened.append(store.create(cwd, session_id="s1"))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(index, "_transcripts", replaced_after)
        assert names(store, cwd) == []
    opened[0].user("a new prompt")
    assert [info.prompt_count for info in store.list(cwd)] == [1]
    opened[0].close()


def test_what_can_not_be_loaded_is_not_listed(store: SessionStore, cwd: Path) -> None:
    talk(store, cwd, "s")
    directory = store.find("s").parent
    (directory / "empty.jsonl").write_text("")
    (directory / ".hidden.jsonl").write_text("{}\n")
    (directory / "notes.txt").write_text("")
    (directory / "folder.jsonl").mkdir()
    assert names(store, cwd) == ["s"]


def test_a_fork_has_the_history_and_leaves_its_source_alone(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd, session_id="source") as writer:
        writer.user("go")
        stop = writer.assistant(
            {"id": "m1", "content": [{"type": "text", "text": "yes"}], "usage": {"input_tokens": 5}}
        )
        writer.state(model="opus")
        writer.user("on")
        call = {"type": "tool_use", "id": "a", "name": "Bash", "input": {}}
        writer.assistant({"id": "m2", "content": [call]})
        writer.tool_started("a", "Bash")
        before = writer.path.read_bytes()
        fork = store.fork("source", cwd)  # also while the source is open
    assert writer.path.read_bytes() == before
    source, forked = store.load("source", cwd), store.load(fork, cwd)
    assert forked.messages == source.messages
    assert forked.messages[-1]["content"][0]["content"] == UNKNOWN_EFFECT
    assert forked.interrupted == ()
    assert forked.parent is not None
    assert forked.parent.session_id == "source"
    assert forked.usage == Usage()
    assert (forked.model, forked.title) == ("opus", "go (fork)")
    assert not {u for s in forked.sources for u in s} & {u for s in source.sources for u in s}
    early = store.load(store.fork("source", cwd, at=stop, session_id="early", title="Early"), cwd)
    assert (early.session_id, early.title, early.message_count) == ("early", "Early", 2)
    assert early.parent is not None
    assert early.parent.message == stop
    entries = [json.loads(line) for line in store.find("early").read_text().splitlines()]
    assert {entry["sessionId"] for entry in entries} == {"early"}


def test_a_fork_that_can_not_be_made_leaves_nothing(store: SessionStore, cwd: Path) -> None:
    talk(store, cwd, "s")
    with store.create(cwd, session_id="silent") as writer:
        writer.title("silent")
    before = sorted(os.listdir(writer.path.parent))
    for attempt, kind in (
        (lambda: store.fork("s", cwd, session_id="silent"), "session_exists"),
        (lambda: store.fork("s", cwd, at="nowhere"), "message_not_found"),
        (lambda: store.fork("silent", cwd), "session_empty"),
        (lambda: store.fork("missing", cwd), "session_not_found"),
    ):
        with pytest.raises((SessionError, NotFoundError)) as refused:
            attempt()
        assert refused.value.kind == kind
    assert sorted(os.listdir(writer.path.parent)) == before


def test_export_hides_secrets_unless_asked(store: SessionStore, cwd: Path) -> None:
    key = "sk-ant-api03-" + "a1" * 12
    with store.create(cwd, session_id="s") as writer:
        writer.user(f"my key is {key}")
        call = {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "echo ```"}}
        writer.assistant({"id": "m", "content": [{"type": "thinking", "thinking": "hm"}, call]})
        writer.tool_result("a", [{"type": "text", "text": "out"}, {"type": "image", "source": {}}])
    for form in ("markdown", "json", "jsonl"):
        assert key not in "".join(store.export("s", cwd, form=form))
        assert key in "".join(store.export("s", cwd, form=form, redact=False))
    page = "".join(store.export("s", cwd))
    assert "## User" in page
    assert "Call of Bash" in page
    assert "````\n" in page
    assert "out\n(image)" in page
    assert json.loads("".join(store.export("s", cwd, form="json")))["message_count"] == 3
    assert len("".join(store.export("s", cwd, form="jsonl")).splitlines()) == 4
    with pytest.raises(UsageError):
        store.export("s", cwd, form="pdf")


def test_listing_nothing_is_nothing(tmp_path: Path) -> None:
    store = SessionStore(tmp_path / "missing")
    assert store.list() == ()
    assert not (tmp_path / "missing").exists()


def test_sqlite_is_not_imported_to_write_and_load(cwd: Path) -> None:
    import subprocess
    import sys

    script = """
import sys
from checkrein.runtime.store import SessionStore
store = SessionStore()
with store.create(sys.argv[1], session_id="s") as writer:
    writer.user("x")
store.resume("s", sys.argv[1])[1].close()
heavy = {"sqlite3", "asyncio", "tempfile", "shutil", "subprocess"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", script, str(cwd)], check=True)
