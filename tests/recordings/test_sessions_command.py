"""`checkrein sessions list|search`: what earlier runs left, as a table and as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from checkrein.runtime.store import SessionStore
from checkrein.testing import ScriptedServer, Turn
from support.lines import MODELS, checkrein, service

Write = Callable[[str, object], Path]


@pytest.fixture
def talked(project: Path, write: Write) -> Path:
    """Two sessions of a project whose instructions hold the word `needle` too."""
    write("CLAUDE.md", "The needle of the instructions.")
    replies = (Turn(text="A reply with a NEEDLE in it"), Turn(text="nothing here"))
    with ScriptedServer(replies) as server:
        for prompt in (
            "find the haystack",
            "second prompt with api_key=sk-ant-api03-abcdefghijklmnopqrstuvwx",
        ):
            ran = checkrein(project, "-p", prompt, "--model", MODELS["anthropic"], env=service(server))
            assert ran.status == 0, ran.err
    return project


def test_the_list_is_newest_first(talked: Path, tmp_path: Path) -> None:
    ran = checkrein(talked, "sessions", "list", "--json")
    (envelope,) = ran.frames
    assert (envelope["command"], envelope["exit_code"]) == ("sessions list", 0)
    rows = envelope["data"]["sessions"]
    assert [row["summary"][:6] for row in rows] == ["second", "find t"]
    assert envelope["data"]["total"] == 2
    assert [(row["prompts"], row["stopped"], row["kind"]) for row in rows] == [(1, True, "print")] * 2
    assert "abcdefghijkl" not in ran.out
    text = checkrein(talked, "sessions", "list", "--limit", "1")
    head, line, more = text.out.splitlines()
    assert head.startswith("id ")
    assert line.startswith(rows[0]["session_id"][:8])
    assert "1 more" in more
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert "No sessions here" in checkrein(elsewhere, "sessions", "list").out
    assert "find the haystack" in checkrein(elsewhere, "sessions", "list", "--all").out


def test_a_listed_id_resumes(talked: Path) -> None:
    line = checkrein(talked, "sessions", "list").out.splitlines()[2]
    with ScriptedServer((Turn(text="resumed"),)) as server:
        words = ("-p", "more", "--resume", line.split()[0], "--model", MODELS["anthropic"])
        ran = checkrein(talked, *words, env=service(server))
    assert (ran.out, ran.status) == ("resumed\n", 0)


def test_a_search_finds_prompts_and_replies_and_nothing_else(talked: Path) -> None:
    ran = checkrein(talked, "sessions", "search", "needle", "--json")
    (envelope,) = ran.frames
    (hit,) = envelope["data"]["hits"]
    assert (hit["role"], hit["excerpt"]) == ("assistant", "A reply with a NEEDLE in it")
    assert ran.status == 0
    text = checkrein(talked, "sessions", "search", "HAYSTACK")
    assert "prompt  find the haystack" in text.out
    none = checkrein(talked, "sessions", "search", "no such words")
    assert (none.status, none.out) == (1, "Nothing holds 'no such words'.\n")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("list", "--project", "/no/such"), 1, "is not a directory"),
        (("search", " "), 2, "at least one word"),
        (("list", "--limit", "-1"), 2, "0 or more"),
        (("search",), 2, "TEXT"),
    ],
)
def test_what_it_refuses(project: Path, words: tuple[str, ...], status: int, said: str) -> None:
    ran = checkrein(project, "sessions", *words)
    assert (ran.status, said in ran.err) == (status, True)


def test_a_title_can_not_write_to_the_terminal(project: Path) -> None:
    with SessionStore().create(project) as session:
        session.user("\x1b]0;owned\x07 prompt\x1b[2J")
    ran = checkrein(project, "sessions", "list")
    assert "\x1b" not in ran.out
    assert "prompt" in ran.out


@pytest.mark.untraced
def test_a_thousand_sessions(project: Path) -> None:
    store = SessionStore()
    for number in range(1000):
        with store.create(project) as session:
            session.user(f"prompt {number}")
            session.assistant({"id": f"m{number}", "content": [{"type": "text", "text": f"reply {number}"}]})
    checkrein(project, "sessions", "list")
    began = time.monotonic()
    listed = json.loads(checkrein(project, "sessions", "list", "--json").out)
    found = json.loads(checkrein(project, "sessions", "search", "reply 77", "--json", "--limit", "5").out)
    assert time.monotonic() - began < 6
    assert (listed["data"]["total"], len(listed["data"]["sessions"])) == (1000, 20)
    assert (len(found["data"]["hits"]), found["data"]["more"]) == (5, True)
