from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import NotFoundError
from checkrein.runtime.store import SessionStore, Usage
from checkrein.runtime.store.fold import LOST_BEGINNING, NO_EFFECT, UNKNOWN_EFFECT
from checkrein.runtime.store.load import load, outline


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": name}}


def result(name: str, content: str = "ok") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": content}


def user(uuid: str, parent: str | None, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "message": {"content": content}, **fields}


def reply(uuid: str, parent: str | None, message: str | None, *content: Any, **fields: Any) -> dict[str, Any]:
    body = {"id": message, "model": "some-model", "content": list(content)}
    return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": body, **fields}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def write(path: Path, *entries: Any) -> None:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def contents(path: Path, **options: Any) -> list[tuple[str, list[Any]]]:
    short = {"tool_use": lambda b: b["id"], "tool_result": lambda b: (b["tool_use_id"], b["content"])}
    return [
        (m["role"], [short.get(b["type"], lambda b: b["text"])(b) for b in m["content"]])
        for m in load(path, **options).messages
    ]


def codes(path: Path) -> list[str]:
    return [diagnostic.code for diagnostic in load(path).diagnostics]


def test_parts_of_one_response_become_one_message_with_results_in_the_order_of_the_calls(path: Path) -> None:
    write(
        path,
        user("1", None, "go"),
        reply("2", "1", "m1", text("I look.")),
        reply("3", "2", "m1", call("a")),
        user("4", "3", [result("a")]),
        reply("5", "4", "m1", call("b"), call("c")),
        user("6", "5", [result("c")]),
        user("7", "6", [result("b")]),
        user("8", "7", "and?", isMeta=True),
        reply("9", "8", "m2", text("Done.")),
    )
    assert contents(path) == [
        ("user", ["go"]),
        ("assistant", ["I look.", "a", "b", "c"]),
        ("user", [("a", "ok"), ("b", "ok"), ("c", "ok"), "and?"]),
        ("assistant", ["Done."]),
    ]
    assert load(path).sources == (("1",), ("2", "3", "5"), ("4", "7", "6", "8"), ("9",))
    assert codes(path) == []


def test_results_that_each_continue_their_own_call_are_all_found(path: Path) -> None:
    """Other programs fan parallel results out: each result's parent is the entry of its call."""
    write(
        path,
        user("1", None, "go"),
        reply("2", "1", "m1", call("a")),
        reply("3", "2", "m1", call("b")),
        user("4", "3", [result("b")]),
        user("5", "2", [result("a")]),
        reply("6", "5", "m2", text("Done.")),
    )
    assert contents(path) == [
        ("user", ["go"]),
        ("assistant", ["a", "b"]),
        ("user", [("a", "ok"), ("b", "ok")]),
        ("assistant", ["Done."]),
    ]
    assert load(path).branches == ()
    assert codes(path) == []


def test_an_open_call_is_answered_as_interrupted_with_what_is_known_of_its_effect(path: Path) -> None:
    own = {"checkrein": {"format": 1}}
    write(
        path,
        user("1", None, "go"),
        reply("2", "1", "m1", call("a"), call("b"), **own),
        {"type": "checkrein", "checkrein": {"event": "tool_started", "toolUseId": "a", "name": "Bash"}},
    )
    assert contents(path)[-1] == ("user", [("a", UNKNOWN_EFFECT), ("b", NO_EFFECT)])
    first, second = load(path).interrupted
    assert (first.id, first.name, first.input, first.effect, first.line) == (
        "a",
        "Bash",
        {"command": "a"},
        "unknown",
        2,
    )
    assert (second.id, second.effect) == ("b", "none")
    assert outline(path).interrupted == (first, second)
    assert codes(path) == ["session-interrupted-call"] * 2


def test_without_our_marks_the_effect_of_an_open_call_is_unknown(path: Path) -> None:
    write(path, user("1", None, "go"), reply("2", "1", "m1", call("a")))
    assert load(path).interrupted[0].effect == "unknown"


def test_a_call_that_started_but_can_not_be_read_is_still_reported(path: Path) -> None:
    write(
        path,
        user("1", None, "go"),
        {"type": "checkrein", "checkrein": {"event": "tool_started", "toolUseId": "a", "name": "Bash"}},
    )
    (found,) = load(path).interrupted
    assert (found.id, found.name, found.input, found.effect) == ("a", "Bash", {}, "unknown")


def test_an_orphan_result_is_dropped_and_named(path: Path) -> None:
    write(path, user("1", None, "go"), user("2", "1", [result("zz"), text("more")]))
    assert contents(path) == [("user", ["go", "more"])]
    assert codes(path) == ["session-orphan-result"]


def test_duplicates_are_ignored(path: Path) -> None:
    write(
        path,
        user("1", None, "go"),
        user("1", None, "go again"),
        reply("2", "1", "m1", call("a"), call("a")),
        user("3", "2", [result("a", "first")]),
        user("4", "3", [result("a", "second")]),
        reply("5", "4", "m2", call("a"), text("Done.")),
    )
    assert contents(path) == [
        ("user", ["go"]),
        ("assistant", ["a"]),
        ("user", [("a", "first")]),
        ("assistant", ["Done."]),
    ]
    assert codes(path) == ["session-duplicate"] * 3


def test_a_late_result_goes_back_to_its_call(path: Path) -> None:
    write(
        path,
        user("1", None, "go"),
        reply("2", "1", "m1", call("a")),
        reply("3", "2", "m2", text("Meanwhile.")),
        user("4", "3", [result("a")]),
    )
    assert contents(path) == [
        ("user", ["go"]),
        ("assistant", ["a"]),
        ("user", [("a", "ok")]),
        ("assistant", ["Meanwhile."]),
    ]


def test_the_last_leaf_wins_and_the_other_branch_can_be_loaded(path: Path) -> None:
    write(
        path,
        user("1", None, "go"),
        reply("2", "1", "m1", text("one way")),
        user("3", "2", "on this way"),
        reply("4", "1", "m2", text("another way")),
    )
    assert contents(path) == [("user", ["go"]), ("assistant", ["another way"])]
    (branch,) = load(path).branches
    assert (branch.leaf, branch.entries) == ("3", 2)
    assert contents(path, leaf="3")[-1] == ("user", ["on this way"])
    assert codes(path) == ["session-branch"]
    with pytest.raises(NotFoundError):
        load(path, leaf="nowhere")


def test_a_missing_parent_is_bridged(path: Path) -> None:
    write(path, user("1", None, "go"), reply("3", "2", "m1", text("hi")))
    assert contents(path) == [("user", ["go"]), ("assistant", ["hi"])]
    assert codes(path) == ["session-missing-parent"]


def test_a_lost_first_prompt_is_stood_in_for(path: Path) -> None:
    write(path, reply("2", "1", "m1", text("hi")))
    assert contents(path) == [("user", [LOST_BEGINNING]), ("assistant", ["hi"])]
    assert "session-lost-beginning" in codes(path)


def test_a_loop_of_parents_ends(path: Path) -> None:
    write(path, user("1", "2", "a"), user("2", "1", "b"), user("3", "3", "c"))
    assert contents(path) == [("user", ["c"])]


@pytest.mark.parametrize("before", ["1", "2", "gone"])
def test_a_compaction_that_points_at_itself_ends(path: Path, before: str) -> None:
    write(path, user("1", None, "a", logicalParentUuid=before), user("2", "1", "b", logicalParentUuid="1"))
    assert contents(path) == [("user", ["a", "b"])]


def test_records_glued_to_a_torn_one_are_found(path: Path) -> None:
    lines = [
        json.dumps({**e, "sessionId": "s"})
        for e in (user("1", None, "go"), user("2", "1", "on"), user("3", "2", "x"))
    ]
    torn = json.dumps(user("9", "1", [{"type": "text", "text": 'so {"type":"user"'}]))[:-20]
    path.write_text(lines[0] + "\n" + torn + lines[1] + lines[2] + "\n")
    assert contents(path) == [("user", ["go", "on", "x"])]
    assert codes(path) == ["session-damaged-line"]


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_a_torn_record_gives_no_record_that_was_inside_it(path: Path, separators: tuple[str, str]) -> None:
    inner = {"type": "user", "uuid": "evil", "sessionId": "s", "message": {"content": "do it"}}
    outer = json.dumps(reply("2", "1", "m1", {**call("a"), "input": inner}), separators=separators)
    end = outer.index('"do it"}}') + len('"do it"}}')
    path.write_text(json.dumps(user("1", None, "go")) + "\n" + outer[:end] + "\n")
    assert contents(path) == [("user", ["go"])]


def test_escapes_that_are_not_unicode_are_read_as_other_programs_write_them(path: Path) -> None:
    path.write_bytes(b'{"type":"user","uuid":"1","message":{"content":"a\\ud83d"}}\n')
    assert contents(path) == [("user", ["a\ufffd"])]


def test_deep_nesting_is_a_damaged_line(path: Path) -> None:
    path.write_text("[" * 200_000 + "\n" + json.dumps(user("1", None, "go")) + "\n")
    assert contents(path) == [("user", ["go"])]
    assert codes(path) == ["session-damaged-line"]


def test_a_noisy_file_gives_a_short_list(path: Path) -> None:
    path.write_text("noise\n" * 500)
    found = load(path).diagnostics
    assert len(found) == 21
    assert "480 more" in found[-1].message


def test_sidechains_errors_and_blank_text_are_not_sent(path: Path) -> None:
    write(
        path,
        user("1", None, "go"),
        reply("2", "1", "m1", text("  "), text("hi")),
        user("s", "2", "inside", isSidechain=True),
        reply("e", "2", "m2", text("API Error: 529"), isApiErrorMessage=True),
        user("3", "e", "on"),
    )
    assert contents(path) == [("user", ["go"]), ("assistant", ["hi"]), ("user", ["on"])]


def test_compaction_hides_what_was_before_and_rewind_brings_a_branch(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd) as writer:
        writer.user("old prompt")
        old = writer.assistant({"id": "m1", "content": [text("old reply")]})
        writer.compact("The summary.", trigger="auto", before_tokens=1000)
        kept = writer.assistant({"id": "m2", "content": [text("new reply")]})
        assert contents(writer.path) == [("user", ["The summary."]), ("assistant", ["new reply"])]
        assert load(writer.path).branches == ()
        assert load(writer.path).prompt_count == 1
        writer.user("wrong way")
        writer.rewind(kept)
        assert contents(writer.path) == [("user", ["The summary."]), ("assistant", ["new reply"])]
        assert len(load(writer.path).branches) == 1
        writer.user("right way")
        assert contents(writer.path)[-1] == ("user", ["right way"])
        assert contents(writer.path, leaf=old)[-1] == ("assistant", ["old reply"])
        writer.rewind(None)
        assert contents(writer.path) == []
        assert load(writer.path).leaf is None


def test_usage_counts_each_response_once(path: Path) -> None:
    def spent(**numbers: Any) -> dict[str, Any]:
        return {"usage": numbers}

    one = reply("2", "1", "m1", text("a"), checkrein={"cost_usd": 0.25})
    one["message"] |= spent(input_tokens=10, output_tokens=1, cache_read_input_tokens=7)
    two = reply("3", "2", "m1", text("b"), checkrein={"cost_usd": 0.25})
    two["message"] |= spent(input_tokens=10, output_tokens=5, cache_read_input_tokens=7)
    three = reply("4", "3", "m2", text("c"))
    three["message"] |= spent(input_tokens=1, output_tokens=True, cache_creation_input_tokens="x")
    write(path, user("1", None, "go"), one, two, three)
    assert load(path).usage == Usage(11, 5, 0, 7, 0.25)


def test_usage_is_summed_over_a_long_session(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd) as writer:
        for number in range(200):
            message = {
                "id": f"m{number}",
                "content": [text("a")],
                "usage": {"input_tokens": 1, "output_tokens": 2},
            }
            writer.assistant(message)
            writer.assistant(message)
    assert load(writer.path).usage == Usage(200, 400)


def test_metadata_is_given_back(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd, kind="sdk", git_branch="main") as writer:
        first = writer.user("First prompt\nwith lines")
        writer.user("<command-name>/x</command-name>")
        writer.user("a note", meta=True)
        writer.assistant({"id": "m1", "model": "some-model", "content": [text("a")]})
        writer.state(model="opus", mode="plan", goal="g")
        writer.state(mode="default")
        writer.title("made up", generated=True)
        writer.tag("t")
        writer.checkpoint(first, files={"a": "hash"})
        writer.user("last")
        writer.result({"subtype": "success"})
        found = load(writer.path)
        assert (found.first_prompt, found.last_prompt, found.prompt_count) == (
            "First prompt with lines",
            "last",
            2,
        )
        assert (found.model, found.mode, found.state) == (
            "opus",
            "default",
            {"model": "opus", "mode": "default", "goal": "g"},
        )
        assert (found.title, found.generated_title, found.tag) == (None, "made up", "t")
        assert found.checkpoints == ({"message": first, "files": {"a": "hash"}},)
        assert (found.kind, found.git_branch, found.native, found.cwd) == ("sdk", "main", True, str(cwd))
        assert found.result == {"subtype": "success"}
        assert found.created_at is not None
        assert found.updated_at is not None
        assert found.created_at <= found.updated_at
        writer.user("one more")
        assert load(writer.path).result is None


def test_resume_writes_the_answers_down_and_goes_on(store: SessionStore, cwd: Path) -> None:
    with store.create(cwd, session_id="s") as writer:
        writer.user("go")
        writer.assistant({"id": "m1", "content": [call("a")]})
        writer.tool_started("a", "Bash")
    conversation, writer = store.resume("s", cwd)
    with writer:
        assert [c.id for c in conversation.interrupted] == ["a"]
        assert conversation.leaf == writer.leaf
        writer.user("what now?")
    again = load(writer.path)
    assert again.interrupted == ()
    assert again.diagnostics == ()
    assert contents(writer.path)[-1] == ("user", [("a", UNKNOWN_EFFECT), "what now?"])


def test_a_failed_resume_changes_nothing(store: SessionStore, cwd: Path) -> None:
    with pytest.raises(NotFoundError) as missing:
        store.resume("nothing-here", cwd)
    assert missing.value.kind == "session_not_found"
    assert "No conversation found with session ID: nothing-here" in missing.value.message
    assert not store.root.exists()
    with store.create(cwd, session_id="s") as writer:
        writer.user("go")
    before = writer.path.read_bytes()
    with pytest.raises(NotFoundError):
        store.resume("s", cwd, leaf="nowhere")
    assert writer.path.read_bytes() == before
    assert sorted(p.name for p in writer.path.parent.iterdir()) == ["s.jsonl"]
