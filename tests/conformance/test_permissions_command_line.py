"""The observed and documented permission rows through the whole command line, with tools that really run.

Each row is one `checkrein -p` with a scripted model in a project of its own. A call that must be refused
finds a spawner that starts nothing: a wrong approval is seen, never executed. A call that must run is run,
and its effect is looked at. `bench/permissions_cli.py` does the same with every row.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from checkrein.runtime.process.spawner import Command, Completed, Spawner

DATA = Path(__file__).parent / "data"
SAMPLE = 100
LATER = {
    "Agent": "subagents come with a later part",
    "WebSearch": "there is no search backend to run it on",
    "mcp__github__get_issue": "needs a connected MCP server of that name",
}
STRICTER = {"P518": "ask"}
"""Observed rows that the documentation contradicts (row 134): the stricter answer holds."""
QUESTION = {"question": "q?", "header": "q", "multiSelect": False}
QUESTION["options"] = [{"label": "a", "description": "a"}, {"label": "b", "description": "b"}]
FILES = (
    "a a.py f foo x README.md sub/b.txt .env sub/.env .env.local secrets/k.txt secrets/deep/k2.txt src/x.ts"
    " src/lib/y.ts src/a.py src/app.ts src/a/b.ts config/prod.json docs/r.md docs/a.md vendor/pkg/src/lib.js"
    " x/src/components/a x/secrets/k secrets-1/config.json a/b/.env s/k .mcp.json .claude/docs/a.md"
    " .claude/worktrees/w/a packages/api/p app/p project/plain"
)
STUBS = "npm npx node docker curl wget sudo lsof devbox watch sleep ssh kubectl brew pip pip3 make man"
"""Programs that are absent, slow or reach out: in their place stands one that writes down that it ran."""


class Row:
    """One call under rules, in one form for both tables."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.observed = "want" in raw
        self.id = str(raw["id"]) if self.observed else f"D{raw['id']:03}"
        self.want = STRICTER.get(self.id) or (raw["want"] if self.observed else raw["verdict"])
        self.tool: str = raw["tool"]
        self.input: dict[str, Any] = raw["input"]
        self.mode: str = raw["mode"]
        self.args: list[str] = raw.get("args", [])
        self.cwd: str | None = raw.get("cwd")
        lists = raw["permissions"] if self.observed else raw
        self.rules = {name: lists[name] for name in ("allow", "ask", "deny") if lists.get(name)}

    @property
    def reason_to_skip(self) -> str | None:
        return LATER.get(self.tool)

    @property
    def runs(self) -> bool:
        return self.want == "allow"


def rows() -> list[Row]:
    found = []
    for name in ("permissions.jsonl", "permissions-docs.jsonl"):
        lines = (json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines())
        found += [Row(line) for line in lines if "_meta" not in line]
    return found


def sample(count: int) -> list[Row]:
    """The same rows every time, spread over both tables."""
    usable = [row for row in rows() if row.reason_to_skip is None]
    return sorted(usable, key=lambda row: hashlib.sha256(row.id.encode()).digest())[:count]


class World:
    """A project, a home and a place outside both, made for one row."""

    def __init__(self, base: Path, row: Row) -> None:
        self.base = base
        self.root = base / "p"
        self.home = base / "h"
        self.row = row
        for folder in (self.home / "Documents", base / "opt" / "x", base / "tmp", base / "q", base / "bin"):
            folder.mkdir(parents=True)
        shutil.copytree(repository(base.parent), self.root)
        for name in FILES.split():
            path = self.root / name
            if name in ("a", "x") or path.exists():
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{name} old\n")
        (self.root / "a.txt").write_text("a\n")
        (self.root / "package.json").write_text("{}\n")
        with (self.root / ".git/config").open("a") as config:
            config.write("# old\n")
        for name in ("n/a.ipynb", "s/k.ipynb"):
            self._notebook(self.root / name)
        for path in (self.home / ".zshrc", base / "opt/x/a", base / "tmp/scratch.txt"):
            path.write_text("outside old\n")
        for name in STUBS.split():
            self._stub(name)
        for skill in ("commit", "review-pr", "deploy", "other"):
            folder = self.root / ".claude/skills" / skill
            folder.mkdir(parents=True)
            (folder / "SKILL.md").write_text(f"---\ndescription: {skill}\n---\nDo {skill}.\n")

    @staticmethod
    def _notebook(path: Path) -> None:
        cell = {"cell_type": "code", "id": "c1", "source": ["old"], "outputs": [], "metadata": {}}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"cells": [cell], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))

    def _stub(self, name: str) -> None:
        path = self.base / "bin" / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> "{self.base}/ran"\n')
        path.chmod(0o755)

    def placed(self, value: Any) -> Any:
        """The paths of the tables, moved below this world."""
        if isinstance(value, list):
            return [self.placed(item) for item in value]
        if isinstance(value, dict):
            return {key: self.placed(item) for key, item in value.items()}
        if not isinstance(value, str):
            return value
        value = value.replace("@PROJ@", str(self.root))
        value = re.sub(r"/tmp/x_", f"{self.base}/tmp/x_", value)
        if self.row.observed:
            return value
        value = re.sub(r"(?<=\()//(opt|tmp)/", rf"/{self.base}/\1/", value)
        return re.sub(r"(?<![\w./~*)-])/(p|h|q|opt|tmp)(?=/|$|\s)", rf"{self.base}/\1", value)

    def call(self) -> dict[str, Any]:
        """The row's call, with what its input leaves out."""
        given = self.placed(self.row.input)
        match self.row.tool:
            case "Edit":
                given = {"old_string": "old", "new_string": "new"} | given
            case "Write":
                given = {"content": "x"} | given
            case "NotebookEdit":
                given = {"new_source": "new", "cell_id": "c1"} | given
            case "Grep":
                given = {"pattern": "old"} | given
            case "Glob":
                given = {"pattern": "*.ts"} | given
            case "AskUserQuestion":
                given = {"questions": [QUESTION]}
        for key in ("file_path", "path"):
            if " -> " in str(given.get(key, "")):
                given[key] = self._link(*given[key].split(" -> "))
        return given

    def _link(self, link: str, target: str) -> str:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        if not Path(target).exists():
            Path(target).write_text("behind a link\n")
        Path(link).unlink(missing_ok=True)
        Path(link).symlink_to(target)
        return link

    def script(self) -> Path:
        call = self.call()
        turns: list[Any] = []
        if self.row.cwd is not None:
            turns.append([{"name": "Bash", "input": {"command": "cd sub"}}])
        path = call.get("file_path") or call.get("notebook_path")
        if self.row.runs and path and self.row.tool != "Read" and os.path.exists(path):
            turns.append([{"name": "Read", "input": {"file_path": path}}])
        turns.append([{"name": self.row.tool, "input": call, "id": "the_call"}])
        lines = [{"tool_calls": calls} for calls in turns] + [{"text": "done"}]
        file = self.base / "script.jsonl"
        file.write_text("\n".join(json.dumps(line) for line in lines))
        return file

    def argv(self) -> list[str]:
        row = self.row
        rules = {"permissions": self.placed(row.rules)}
        argv = ["-p", "go", "--model", f"scripted:{self.script()}", "--output-format", "stream-json"]
        argv += ["--permission-mode", row.mode, "-C", str(self.root)]
        if row.observed:
            return [*argv, "--settings", json.dumps(rules), *row.args]
        (self.root / ".claude/settings.json").write_text(json.dumps(rules))
        return [*argv, "--trust", *row.args]


def repository(base: Path) -> Path:
    """A repository with one commit and a branch `main`, made once."""
    made = base / "repository"
    if not made.exists():
        made.mkdir()
        (made / "a.txt").write_text("a\n")
        env = {**os.environ, "HOME": str(base), "GIT_CONFIG_NOSYSTEM": "1"}
        identity = ["-c", "user.name=n", "-c", "user.email=e@localhost"]
        for words in (["init", "-q", "-b", "main"], ["add", "."], [*identity, "commit", "-qm", "first"]):
            subprocess.run(["git", *words], cwd=made, env=env, check=True)
    return made


class Played:
    """What one command line printed and started."""

    def __init__(self, frames: list[dict[str, Any]], started: list[str], status: int) -> None:
        self.started = started
        self.status = status
        self.tools: list[str] = frames[0]["tools"]
        self.result = frames[-1]
        self.answer = ""
        self.is_error = False
        for frame in frames:
            for block in frame["message"]["content"] if frame["type"] == "user" else ():
                if isinstance(block, dict) and block.get("tool_use_id") == "the_call":
                    self.answer, self.is_error = str(block["content"]), bool(block["is_error"])

    @property
    def denied(self) -> bool:
        return any(one["tool_use_id"] == "the_call" for one in self.result["permission_denials"])


@contextmanager
def surroundings(world: World) -> Iterator[list[str]]:
    """No network, a home and a search path of its own, and a spawner that runs only what has to run."""
    started: list[str] = []
    real_run = Spawner.run

    def run(self: Spawner, command: Command, cancel: Any, **how: Any) -> Completed:
        if command.purpose.startswith("Bash") and isinstance(command.argv, str):
            started.append(command.argv)
            if not world.row.runs and command.argv != "cd sub":
                return Completed(exit_code=0)
        return real_run(self, command, cancel, **how)

    def start(self: Spawner, command: Command) -> Any:
        started.append(str(command.argv))
        raise OSError("nothing is started in the background here")

    def lookup(host: str, *more: Any, **named: Any) -> Any:
        started.append(f"lookup {host}")
        raise socket.gaierror(-2, "no network in this test")

    home = str(world.home)
    environment = {
        "HOME": home,
        "CHECKREIN_HOME": f"{home}/checkrein",
        "PATH": f"{world.base}/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "CHECKREIN_GUARD__ENABLED": "false",  # the rows were observed without layers
    }
    before = os.getcwd()
    with ExitStack() as stack:
        stack.enter_context(patch.dict(os.environ, environment, clear=True))
        stack.enter_context(patch.object(Spawner, "run", run))
        stack.enter_context(patch.object(Spawner, "start", start))
        stack.enter_context(patch.object(socket, "getaddrinfo", lookup))
        stack.enter_context(patch.object(sys, "stdin", stack.enter_context(open(os.devnull))))
        os.chdir(world.root)
        try:
            yield started
        finally:
            os.chdir(before)


def play(world: World, argv: list[str]) -> Played:
    from checkrein.cli.main import run

    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with surroundings(world) as started, redirect_stdout(out), redirect_stderr(err):
        status = run(argv)
    printed = out.buffer.getvalue().decode()  # type: ignore[attr-defined]  # it is the BytesIO from above
    frames = [json.loads(line) for line in printed.splitlines()]
    assert frames, err.getvalue()
    assert frames[-1]["type"] == "result"
    return Played(frames, started, status)


def problem(row: Row, world: World) -> str | None:
    """What differs from the row, in words; None when nothing does."""
    argv = world.argv()
    snapshot = contents(world)
    played = play(world, argv)
    if played.status != 0:
        return f"exit status {played.status}"
    if row.want == "removed":
        return "the tool was offered" if row.tool in played.tools else untouched(played, world, snapshot)
    if row.runs:
        return not_run(row, world, played)
    gone = row.want == "deny" and row.tool not in played.tools
    if not gone and not played.denied:
        return f"it was not refused: {played.answer}"
    asks = "there is nobody to ask" in played.answer
    if asks != (row.want == "ask"):
        return f"refused as {'ask' if asks else 'deny'}: {played.answer}"
    return untouched(played, world, snapshot)


def not_run(row: Row, world: World, played: Played) -> str | None:
    """Why a call that had to run did not, or left no trace of it."""
    if played.denied or played.answer.startswith("Refused"):
        return f"it was refused: {played.answer}"
    given = world.call()
    match row.tool:
        case "Bash":
            text = given["command"]
            return None if any(text in one for one in played.started) else "bash was not started"
        case "Write":
            return None if Path(given["file_path"]).read_text() == "x" else "nothing was written"
        case "Edit":
            changed = given["new_string"] in Path(given["file_path"]).read_text()
            return None if changed else f"nothing was changed: {played.answer}"
        case "Read":
            path = world.root / given["file_path"]
            lines = path.read_text("utf-8").split() if path.exists() else []
            return (
                None
                if all(word in played.answer for word in lines)
                else f"not what the file holds: {played.answer}"
            )
        case "WebFetch":
            return None if any("lookup" in one for one in played.started) else "no host was looked up"
    return None if played.answer else "there is no answer"


def untouched(played: Played, world: World, snapshot: dict[str, bytes]) -> str | None:
    if [one for one in played.started if one != "cd sub"]:
        return f"something was started: {played.started}"
    now = contents(world)
    changed = [name for name in {*snapshot, *now} if snapshot.get(name) != now.get(name)]
    return f"files changed: {changed}" if changed else None


def contents(world: World) -> dict[str, bytes]:
    """Every file of the world that a refused call could have changed."""
    found = {}
    for folder in (world.root, world.base / "opt", world.base / "tmp", world.base / "q"):
        for path in folder.rglob("*"):
            if path.is_file() and path.name != "settings.json":
                found[str(path)] = path.read_bytes()
    return found


@pytest.mark.parametrize("row", sample(SAMPLE), ids=lambda row: row.id)
def test_row(row: Row, tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.getbasetemp() / f"row-{row.id}"
    base.mkdir()
    try:
        assert problem(row, World(base, row)) is None
    finally:
        shutil.rmtree(base, ignore_errors=True)


def test_the_sample_is_large_and_wide() -> None:
    chosen = sample(SAMPLE)
    assert len({row.id for row in chosen}) == SAMPLE
    assert {row.want for row in chosen} >= {"allow", "ask", "deny"}
    assert {row.tool for row in chosen} >= {"Bash", "Read", "Write", "Edit"}
    assert len([row for row in rows() if row.reason_to_skip]) < 30
