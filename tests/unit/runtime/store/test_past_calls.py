"""The calls in transcripts: ours and the product's, torn, foreign, repeated, large."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from checkrein.policy.review.past import Fate
from checkrein.runtime.session.control import Answer, ScriptedAsker
from checkrein.runtime.store.past_calls import Transcripts, named, past_calls, transcripts_of
from support.files import lay
from support.sessions import call, open_session
from support.transcripts import REJECTED, bash, exchange, write_transcript


def read(*paths: Path, root: str = "/p", within: bool = False) -> Transcripts:
    return past_calls(paths, root, within=within)


@pytest.mark.parametrize(
    ("result", "fate"),
    [
        ("ok", "ran"),
        (REJECTED, "refused"),
        ([{"type": "text", "text": REJECTED}], "refused"),
        ("Refused: not now.", "refused"),
        ("Refused: no rule allows it, and there is nobody to ask.", "denied"),
        ("Refused: denied by Bash(x). Rule: Bash(x) (.claude/settings.json:1).", "denied"),
        ("Permission to use Bash with command x has been denied.", "denied"),
        (None, "open"),
    ],
)
def test_what_became_of_a_call(tmp_path: Path, result: object, fate: Fate) -> None:
    entries = list(bash("1", "x", result, cwd="/p"))
    if isinstance(result, list):
        entries[1]["message"]["content"][0]["is_error"] = True
    (one,) = read(write_transcript(tmp_path / "s.jsonl", iter(entries))).calls
    assert one.fate == fate


def test_an_error_of_a_program_is_no_refusal(tmp_path: Path) -> None:
    entries = list(bash("1", "x", "exit 1: The user doesn't want to proceed with this tool use", cwd="/p"))
    entries[1]["message"]["content"][0]["is_error"] = True
    (one,) = read(write_transcript(tmp_path / "s.jsonl", iter(entries))).calls
    assert one.fate == "ran"


def test_calls_are_counted_once_across_files(tmp_path: Path) -> None:
    first = write_transcript(tmp_path / "a.jsonl", bash("1", "x", cwd="/p"), bash("2", "x", cwd="/p"))
    again = write_transcript(tmp_path / "b.jsonl", bash("1", "x", cwd="/p"), bash("3", "x", cwd="/p"))
    (one,) = read(first, again).calls
    assert (one.times, one.file, one.line) == (3, str(first), 1)


def test_our_own_mark_says_who_refused(tmp_path: Path) -> None:
    asked = list(bash("1", "x", "Refused: no. Rule: Bash(x) (.claude/settings.json:1).", cwd="/p"))
    mark = {"type": "checkrein", "checkrein": {"event": "denied", "toolUseId": "1", "by": "asker"}}
    (one,) = read(write_transcript(tmp_path / "s.jsonl", iter([asked[0], mark, asked[1]]))).calls
    assert one.fate == "refused"


def beside(id: str, tool: str = "Bash", **more: object) -> dict[str, object]:
    fields = {"event": "call", "toolUseId": id, "name": tool, "input": {"command": id}, "verdict": "allow"}
    return {"type": "checkrein", "sessionId": "s", "cwd": "/p", "checkrein": {**fields, **more}}


def test_calls_of_clients_of_the_server_count(tmp_path: Path) -> None:
    rows = [
        beside("ran"),
        beside("ran"),
        beside("failed", is_error=True),
        beside("person", verdict="ask", by="asker"),
        beside("rule", verdict="deny", by="rule"),
        beside("alone", verdict="ask", reason="no rule allows it, and there is nobody to ask"),
        beside("perhaps", verdict="ask", reason="not now"),
        beside("outer", "run_cmd"),
        beside("torn", input=None),
    ]
    found = read(write_transcript(tmp_path / "s.jsonl", iter(rows))).calls
    assert {one.call.input["command"]: one.fate for one in found} == {
        "ran": "ran",
        "failed": "ran",
        "person": "refused",
        "rule": "denied",
        "alone": "denied",
        "perhaps": "refused",
    }
    assert all(one.times == 1 and one.cwd == "/p" for one in found)


def test_torn_lines_and_foreign_files(tmp_path: Path) -> None:
    torn = write_transcript(
        tmp_path / "a.jsonl", bash("1", "x", cwd="/p"), end='{"type":"assistant","uuid":"q","messa'
    )
    odd = tmp_path / "b.jsonl"
    odd.write_bytes(
        b'[1,2]\n\x00\xff\n"text"\nnull\n{"type":7}\n{"type":"assistant","message":{"content":[{"type":"tool_use",'
        b'"id":5,"name":[],"input":"x"}]}}\n' + b"[" * 100_000
    )
    codex = tmp_path / "c.jsonl"
    codex.write_text(json.dumps({"type": "response_item", "payload": {"type": "function_call"}}) + "\n")
    found = read(torn, odd, codex)
    assert [call.call.input["command"] for call in found.calls] == ["x"]
    assert found.damaged
    assert found.empty == [str(odd), str(codex)]


def test_a_link_is_not_read(tmp_path: Path) -> None:
    real = write_transcript(tmp_path / "real" / "a.jsonl", bash("1", "x", cwd="/p"))
    link = tmp_path / "b.jsonl"
    link.symlink_to(real)
    fifo = tmp_path / "c.jsonl"
    os.mkfifo(fifo)
    found = read(link, fifo)
    assert found.calls == []
    assert len(found.unreadable) == 2


def test_calls_of_another_checkout_move_here(tmp_path: Path) -> None:
    file = write_transcript(
        tmp_path / "s.jsonl", exchange("1", "Read", {"file_path": "/home/bob/p/a"}, cwd="/home/bob/p")
    )
    (one,) = read(file).calls
    assert (one.call.input["file_path"], one.cwd) == ("/p/a", "/p")
    assert read(file, within=True).calls == []


def test_long_bodies_are_not_kept(tmp_path: Path) -> None:
    edits = (
        exchange(str(i), "Write", {"file_path": "/p/a", "content": f"{i}" * 50_000}, cwd="/p")
        for i in range(20)
    )
    (one,) = read(write_transcript(tmp_path / "s.jsonl", *edits)).calls
    assert one.times == 20
    assert one.call.input["content"] == ""


def test_a_deep_input_exhausts_nobody(tmp_path: Path) -> None:
    deep: dict[str, object] = {}
    for _ in range(300):
        deep = {"a": deep}
    (one,) = read(write_transcript(tmp_path / "s.jsonl", exchange("1", "mcp__a__b", deep, cwd="/p"))).calls
    assert str(one.call.input).count("a") <= 40


def test_the_transcripts_of_a_project(tmp_path: Path) -> None:
    home = Path(os.environ["HOME"])
    root = tmp_path / "p"
    (root / "sub").mkdir(parents=True)
    name = str(root).replace("/", "-").replace("_", "-").replace(".", "-")
    projects = home / ".claude" / "projects"
    own = write_transcript(projects / name / "a.jsonl", bash("1", "x", cwd=str(root)))
    agents = write_transcript(
        projects / name / "a" / "subagents" / "agent-1.jsonl", bash("2", "x", cwd=str(root))
    )
    below = write_transcript(projects / f"{name}-sub" / "b.jsonl", bash("3", "x", cwd=str(root / "sub")))
    sibling = write_transcript(projects / f"{name}-other" / "c.jsonl", bash("4", "y", cwd=f"{root}-other"))
    native = write_transcript(Path(os.environ["CHECKREIN_HOME"]) / "projects" / name / "d.jsonl")
    found = transcripts_of(str(root), os.environ)
    assert set(found) == {own, agents, below, sibling, native}
    calls = read(*found, root=str(root), within=True).calls
    assert sum(call.times for call in calls if call.call.input["command"] == "x") == 3
    assert all(call.call.input["command"] == "x" for call in calls)
    assert named(str(projects / name)) == [own, agents]


def test_a_person_who_refuses_in_our_session_is_recorded(tmp_path: Path) -> None:
    lay(tmp_path / "p", {".git/": None, ".claude/settings.json": {"permissions": {"ask": ["Bash(touch *)"]}}})
    asker = ScriptedAsker(Answer(verdict="deny", message="no"), Answer(verdict="allow"))
    replies = (call("Bash", command="touch a"), call("Bash", command="touch b"), {"text": "done"})
    with open_session(str(tmp_path / "p"), *replies, asker=asker) as session:
        for _ in session.run("go"):
            pass
    found = read(*transcripts_of(str(tmp_path / "p"), os.environ), root=str(tmp_path / "p"))
    fates = {past.call.input["command"]: past.fate for past in found.calls}
    assert fates == {"touch a": "refused", "touch b": "ran"}
