"""Entries go into the files of users and projects; every other byte stays."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from checkrein.base.errors import CheckreinError
from checkrein.model.project import Place
from checkrein.passes.load import load
from checkrein.runtime.mcp import scopes

ENTRY = {"command": "tracker-mcp", "args": ["--stdio"]}
STATE = '{\n\t"numStartups": 7,\n\t"projects": {"/elsewhere": {"history": ["\\u00e9"]}},\n\t"last": null\n}'


def place(project: Path) -> Place:
    return load(project, detect=False).place


@pytest.mark.parametrize("scope", scopes.WRITTEN_SCOPES)
def test_what_is_added_is_read_and_removal_restores_the_bytes(
    project: Path, scope: scopes.WrittenScope
) -> None:
    state = Path.home() / ".claude.json"
    state.write_text(STATE)
    state.chmod(0o640)
    origin = scopes.add(place(project), scope, "tracker", ENTRY)
    found = load(project, detect=False).servers["tracker"].item
    assert (found.origin, found.command, found.origin.scope) == (origin, "tracker-mcp", scope)
    if scope != "project":
        assert state.read_text().startswith(STATE.split('"projects"')[0])
        assert '"\\u00e9"' in state.read_text()
        assert state.stat().st_mode & 0o777 == 0o640
    scopes.add(place(project), scope, "other", ENTRY)
    scopes.remove(place(project), scope, "other")
    scopes.remove(place(project), scope, "tracker")
    assert not load(project, detect=False).servers
    assert json.loads(state.read_text())["numStartups"] == 7


def test_a_new_state_file_is_private_and_a_project_file_is_not(project: Path) -> None:
    scopes.add(place(project), "user", "a", ENTRY)
    scopes.add(place(project), "project", "b", ENTRY)
    assert (Path.home() / ".claude.json").stat().st_mode & 0o777 == 0o600
    assert (project / ".mcp.json").stat().st_mode & 0o044


def test_the_moved_config_directory_holds_the_state(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "moved"))
    origin = scopes.add(place(project), "user", "a", ENTRY)
    assert origin.file == str(tmp_path / "moved" / ".claude.json")
    assert "a" in load(project, detect=False).servers


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n "mcpServers": {},\n}', 3),
        ("", 1),
        ("[]", None),
        ('{\n"mcpServers": []}', 2),
        ('{"mcpServers": {}, "mcpServers": {}}', None),
        ('{"a": 1} trailing', 1),
    ],
)
def test_a_broken_file_is_never_written(project: Path, write, text: str, line: int | None) -> None:
    file = write(".mcp.json", text)
    with pytest.raises(CheckreinError) as caught:
        scopes.add(place(project), "project", "a", ENTRY)
    assert caught.value.kind == "config_broken"
    assert caught.value.origin is not None
    assert caught.value.origin.line == line
    assert file.read_text() == text


def test_servers_without_a_frame_stay_servers(project: Path, write) -> None:
    write(".mcp.json", {"wiki": {"command": "wiki-mcp"}})
    scopes.add(place(project), "project", "tracker", ENTRY)
    assert set(load(project, detect=False).servers) == {"wiki", "tracker"}


@pytest.mark.project(home={".claude.json": '\ufeff{"mcpServers": {"a": {"command": "x"}}}'})
def test_a_mark_at_the_start_stays(project: Path) -> None:
    scopes.add(place(project), "user", "b", ENTRY)
    assert (Path.home() / ".claude.json").read_bytes().startswith(b"\xef\xbb\xbf{")
    assert set(load(project, detect=False).servers) == {"a", "b"}


def test_links_of_the_user_are_kept_and_those_of_a_project_do_not_lead_out(
    project: Path, tmp_path: Path
) -> None:
    dotfiles = tmp_path / "dotfiles.json"
    dotfiles.write_text("{}")
    (Path.home() / ".claude.json").symlink_to(dotfiles)
    scopes.add(place(project), "user", "a", ENTRY)
    assert (Path.home() / ".claude.json").is_symlink()
    assert "a" in json.loads(dotfiles.read_text())["mcpServers"]
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    (project / ".mcp.json").symlink_to(outside)
    with pytest.raises(CheckreinError):
        scopes.add(place(project), "project", "a", ENTRY)
    assert outside.read_text() == "{}"


def test_a_dangling_link_of_a_project_is_not_filled(project: Path, tmp_path: Path) -> None:
    (project / ".mcp.json").symlink_to(tmp_path / "later.json")
    with pytest.raises(CheckreinError):
        scopes.add(place(project), "project", "a", ENTRY)
    assert not os.path.exists(tmp_path / "later.json")


def test_many_writers_lose_nothing(project: Path) -> None:
    where = place(project)
    names = [f"s{number}" for number in range(12)]
    threads = [
        threading.Thread(target=scopes.add, args=(where, "user", name, {"command": name})) for name in names
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(load(project, detect=False).servers) == set(names)


@pytest.mark.project(home={"managed/managed-mcp.json": {"mcpServers": {}}})
def test_an_administrator_fixes_the_servers(project: Path) -> None:
    where = load(project, detect=False, managed_dir=str(Path.home() / "managed")).place
    with pytest.raises(CheckreinError) as caught:
        scopes.add(where, "user", "a", ENTRY)
    assert caught.value.kind == "servers_managed"
    assert "managed-mcp.json" in caught.value.message


@pytest.mark.project({"sub/.mcp.json": {"mcpServers": {"near": ENTRY}}, "sub/other/": None})
def test_the_file_of_the_working_directory_comes_first(project: Path) -> None:
    assert scopes.remove(place(project / "sub"), "project", "near").file == str(project / "sub/.mcp.json")
    added = scopes.add(place(project / "sub/other"), "project", "a", ENTRY)
    assert added.file == str(project / ".mcp.json")


@pytest.mark.parametrize("name", ["a-b", "__proto__", "x" * 300])
def test_names_that_need_care(project: Path, name: str) -> None:
    for scope in scopes.WRITTEN_SCOPES:
        scopes.add(place(project), scope, name, ENTRY)
        assert scopes.held(place(project), scope).entries[name] == ENTRY
        scopes.remove(place(project), scope, name)
        assert scopes.held(place(project), scope).entries == {}


@pytest.mark.project(home={".claude.json": '{"projects": {}, "mcpServers": {"a": {"command": "x"}}}'})
def test_a_file_on_one_line_stays_on_one_line(project: Path) -> None:
    state = Path.home() / ".claude.json"
    before = state.read_text()
    scopes.add(place(project), "user", "b", ENTRY)
    assert "\n" not in state.read_text()
    scopes.remove(place(project), "user", "b")
    assert state.read_text() == before
