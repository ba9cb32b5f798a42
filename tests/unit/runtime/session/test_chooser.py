"""The models of a session: shared where they hold connections, closed with it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from checkrein.passes.load import load
from checkrein.runtime.session.chooser import Chooser
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.runtime.trust import standing
from checkrein.testing import ScriptedServer

ENV = {**os.environ, "ANTHROPIC_API_KEY": "k"}


def chooser(project: Path) -> Any:
    return Chooser(standing(load(project, env=ENV, detect=False), trusted=True), ENV)


def test_one_name_is_one_model(project: Path) -> None:
    choose = chooser(project)
    first, second, other = choose("anthropic:a"), choose("anthropic:a"), choose("anthropic:b")
    assert first[0] is second[0]
    assert other[0] is not first[0]


def test_a_script_begins_with_each_conversation(project: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('{"text": "one"}\n')
    choose = chooser(project)
    assert choose(f"scripted:{script}")[0] is not choose(f"scripted:{script}")[0]


def test_a_session_leaves_no_connection(project: Path) -> None:
    with ScriptedServer([{"text": "done", "repeat": 0}]) as server:
        env = {**ENV, "ANTHROPIC_BASE_URL": server.url, "NO_PROXY": "*"}
        with Session(project, model="anthropic:a", options=Options(trust=True), env=env) as session:
            list(session.run("go"))
            wire = session.conversation.models.model._wire  # type: ignore[attr-defined]
            assert len(wire._kept) == 1
        assert wire._kept == []
