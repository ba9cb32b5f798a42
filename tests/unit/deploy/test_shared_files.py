"""Settings files of other agents that are there already: deploy adds its keys and takes out only those."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from checkrein.base.jsonc import strict
from checkrein.cli.main import run
from checkrein.deploy.apply import apply_plan
from checkrein.deploy.deploy import Deployment
from checkrein.deploy.manifest import MANIFEST_PATH, load_manifest
from checkrein.deploy.paths import Paths
from checkrein.deploy.plan import Plan, plan_undo
from checkrein.facts.agents import comments_in, targets
from support.projects import ONE_OF_EVERYTHING

Prepare = Callable[..., Deployment]
TARGETS = ("copilot", "codex", "gemini", "opencode", "cursor", "kiro", "qwen", "amp")
THEIRS = {
    ".vscode/mcp.json": '{\n\t"inputs": [],\n\t"servers": {\n\t\t"own": {"command": "x"}\n\t}\n}\n',
    ".codex/config.toml": '# mine\nmodel = "o"\n\n[mcp_servers.own]\ncommand = "x"\n',
    ".gemini/settings.json": '{"theme": "dark", "hooks": {"BeforeTool": [{"hooks": []}]}}',
    "opencode.json": '{\n  "$schema": "https://opencode.ai/config.json",\n  "permission": {}\n}',
    ".cursor/mcp.json": "{}\n",
    ".kiro/settings/mcp.json": '{ "mcpServers": { } }',
    ".qwen/settings.json": '{\r\n    "vimMode": true\r\n}\r\n',
    ".amp/settings.json": '{"amp.permissions": [{"tool": "Read", "action": "allow"}]}',
}


pytestmark = pytest.mark.project(ONE_OF_EVERYTHING)


@pytest.fixture
def theirs(project: Path) -> Path:
    for path, text in THEIRS.items():
        file = project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return project


def held(root: Path) -> dict[str, str]:
    return {path: (root / path).read_bytes().decode() for path in THEIRS}


def deploy(ready: Prepare, **how: bool) -> Plan:
    prepared = ready(*TARGETS, **how)
    assert not prepared.plan.errors, prepared.plan.errors
    apply_plan(prepared.paths, prepared.plan)
    return prepared.plan


def undo(root: Path) -> Plan:
    paths = Paths(root)
    plan = plan_undo(paths, load_manifest(root))
    apply_plan(paths, plan)
    return plan


def test_keys_go_in_and_out_of_every_file(theirs: Path, ready: Prepare) -> None:
    plan = deploy(ready)
    assert {change.path for change in plan.changes if change.shared and change.action == "update"} == set(
        THEIRS
    )
    for path, before in THEIRS.items():
        now = (theirs / path).read_bytes().decode()
        assert now != before
        assert "gh-mcp" in now
        if path.endswith(".json"):
            assert set(json.loads(before)) <= set(json.loads(now))
    assert json.loads((theirs / ".gemini/settings.json").read_text())["hooks"]["BeforeTool"][0] == {
        "hooks": []
    }
    assert len(json.loads((theirs / ".gemini/settings.json").read_text())["hooks"]["BeforeTool"]) == 2
    undo(theirs)
    assert held(theirs) == THEIRS
    assert not (theirs / MANIFEST_PATH).exists()


def test_a_second_run_writes_nothing(theirs: Path, ready: Prepare) -> None:
    deploy(ready)
    again = ready(*TARGETS).plan
    assert again.pending == ()
    assert not again.stale
    assert again.manifest == again.previous


def test_keys_that_the_user_adds_stay_and_are_no_conflict(theirs: Path, ready: Prepare) -> None:
    deploy(ready)
    file = theirs / "opencode.json"
    value = json.loads(file.read_text())
    value = {"first": 1, **value, "last": [1]}
    value["mcp"]["own"] = {"type": "local", "command": ["y"]}
    file.write_text(json.dumps(value, indent=2))
    assert not ready(*TARGETS).plan.stale
    undo(theirs)
    left = json.loads(file.read_text())
    assert left == {
        "first": 1,
        "$schema": "https://opencode.ai/config.json",
        "permission": {},
        "mcp": {"own": {"type": "local", "command": ["y"]}},
        "last": [1],
    }


def test_a_file_that_deploy_made_goes_unless_the_user_added_to_it(project: Path, ready: Prepare) -> None:
    deploy(ready)
    value = json.loads((project / "opencode.json").read_text())
    (project / "opencode.json").write_text(json.dumps({**value, "theme": "dark"}))
    with (project / ".codex/config.toml").open("a") as file:
        file.write('\n[tools]\nweb = "live"\n')
    undo(project)
    assert json.loads((project / "opencode.json").read_text()) == {"theme": "dark"}
    assert (project / ".codex/config.toml").read_text() == '\n[tools]\nweb = "live"\n'
    assert not (project / ".cursor/mcp.json").exists()
    assert not (project / ".gemini").exists()


def test_an_edited_key_is_a_conflict(theirs: Path, ready: Prepare) -> None:
    deploy(ready)
    file = theirs / ".cursor/mcp.json"
    file.write_text(file.read_text().replace("gh-mcp", "mine"))
    plan = ready(*TARGETS).plan
    assert plan.stale
    assert [change.held for change in plan.changes if change.held] == [("/mcpServers/gh",)]
    assert [(found.code, found.origin.file) for found in plan.diagnostics if found.code == "DEP014"] == [
        ("DEP014", ".cursor/mcp.json")
    ]
    apply_plan(Paths(theirs), plan)
    assert "mine" in file.read_text()
    undone = undo(theirs)
    assert "mine" in file.read_text()
    assert "DEP014" in {found.code for found in undone.diagnostics}


def test_force_writes_over_a_taken_key_and_undo_restores_it(project: Path, ready: Prepare) -> None:
    file = project / ".cursor/mcp.json"
    file.parent.mkdir()
    mine = '{"mcpServers": {"gh": {"command": "mine"}}}'
    file.write_text(mine)
    assert deploy(ready).blocked
    assert file.read_text() == mine
    deploy(ready, force=True)
    assert "gh-mcp" in file.read_text()
    assert not ready(*TARGETS).plan.stale
    undo(project)
    assert file.read_text() == mine


def test_a_broken_file_is_left_alone(project: Path, ready: Prepare) -> None:
    file = project / ".cursor/mcp.json"
    file.parent.mkdir()
    file.write_text('{\n  // my servers\n  "mcpServers": {]\n}\n')
    plan = deploy(ready)
    assert "gh-mcp" not in file.read_text()
    remark = next(found for found in plan.diagnostics if found.code == "DEP013")
    assert (remark.origin.file, remark.origin.line) == (".cursor/mcp.json", 3)
    assert plan.blocked


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            ".vscode/mcp.json",
            '{\n  // mine\n  "servers": {\n    "own": {"command": "x"}, // one\n  },\n}\n',
        ),
        ("opencode.json", '/* mine */ {\n  "theme": "a", // dark\n}\n'),
        (".gemini/settings.json", '{\n  "theme": "a" // dark\n  /* and */\n}'),
        (".cursor/mcp.json", '{\n  // my servers\n  "mcpServers": {}, // none yet\n}\n'),
        (".qwen/settings.json", '{ // mine\r\n  "vimMode": true\r\n}'),
    ],
)
def test_comments_stay_where_the_agent_takes_them(
    project: Path, ready: Prepare, path: str, text: str
) -> None:
    file = project / path
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode())
    plan = deploy(ready)
    now = file.read_bytes().decode()
    assert not [found for found in plan.diagnostics if found.code == "DEP013"]
    assert "gh-mcp" in now
    assert "gh-mcp" in json.dumps(json.loads(strict(now)))
    for note in re.findall(r"//[^\r\n]*|/\*.*?\*/", text):
        assert note in now
    assert {change.action for change in deploy(ready).changes} == {"unchanged"}
    undo(project)
    assert file.read_bytes().decode() == text


def test_import_reads_what_stands_among_comments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = '{\n  // mine\n  "mcp": {"own": {"type": "local", "command": ["x"]},},\n}\n'
    (tmp_path / "opencode.json").write_text(text)
    run(["import", "--from", "opencode", "--project", str(tmp_path), "--dry-run", "--json"])
    assert json.loads(capsys.readouterr().out)["data"]["counts"]["servers"] == 1


def test_the_mode_of_a_file_stays(theirs: Path, ready: Prepare) -> None:
    for path in THEIRS:
        os.chmod(theirs / path, 0o600)
    deploy(ready)
    assert {stat.S_IMODE((theirs / path).stat().st_mode) for path in THEIRS} == {0o600}
    undo(theirs)
    assert {stat.S_IMODE((theirs / path).stat().st_mode) for path in THEIRS} == {0o600}


def test_a_manifest_without_keys_is_understood(project: Path, ready: Prepare) -> None:
    """Deployed whole by an older version: the hash says that all of the file is ours."""
    deploy(ready)
    manifest = json.loads((project / MANIFEST_PATH).read_text())
    for entry in manifest["files"].values():
        entry.pop("merge", None)
    (project / MANIFEST_PATH).write_text(json.dumps(manifest))
    plan = ready(*TARGETS).plan
    assert plan.pending == ()
    apply_plan(Paths(project), plan)
    assert load_manifest(project).files["opencode.json"].merge is not None
    undo(project)
    assert not (project / "opencode.json").exists()


def test_a_killed_run_is_finished_by_the_next(
    theirs: Path, ready: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    from checkrein.deploy import apply as applying

    class KilledError(BaseException):
        pass

    def killed(*args: object, **more: object) -> None:
        raise KilledError

    prepared = ready(*TARGETS)
    saved = []
    save = applying.save_manifest
    with monkeypatch.context() as patched:
        patched.setattr(applying, "_put", killed)
        patched.setattr(applying, "save_manifest", lambda *a: saved or (save(*a), saved.append(1)))
        with pytest.raises(KilledError):
            apply_plan(prepared.paths, prepared.plan)
    assert held(theirs) == THEIRS
    assert load_manifest(theirs).files["opencode.json"].before is not None
    plan = deploy(ready)
    assert not plan.blocked
    assert "gh-mcp" in (theirs / ".gemini/settings.json").read_text()
    undo(theirs)
    assert held(theirs) == THEIRS


def test_the_command_says_it(theirs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["deploy", "--project", str(theirs), "--to", "opencode,gemini"]
    assert run([*argv, "--diff"]) == 0
    said = capsys.readouterr().out
    assert "+++ b/opencode.json" in said
    assert '-  "permission": {}' in said
    assert run([*argv, "--check"]) == 1
    capsys.readouterr()
    assert run(argv) == 0
    assert "~ opencode.json" in capsys.readouterr().out
    assert run([*argv, "--check"]) == 0
    assert run(["deploy", "--project", str(theirs), "--undo"]) == 0
    assert (theirs / "opencode.json").read_bytes().decode() == THEIRS["opencode.json"]


def test_a_held_key_fails_the_command(theirs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = theirs / ".cursor/mcp.json"
    file.write_text('{"mcpServers": {"gh": {"command": "mine"}}}')
    argv = ["deploy", "--project", str(theirs), "--to", "cursor"]
    assert run([*argv, "--json"]) == 1
    data = json.loads(capsys.readouterr().out)["data"]
    assert [step["held"] for step in data["steps"] if "held" in step] == [["/mcpServers/gh"]]
    assert run(argv) == 1
    assert "DEP014" in capsys.readouterr().out


def test_import_reads_the_users_keys_only(theirs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["deploy", "--project", str(theirs), "--to", "cursor,gemini"]) == 0
    (theirs / ".cursor/mcp.json").write_text(
        (theirs / ".cursor/mcp.json").read_text().replace('"gh": {', '"own": {"command": "y"}, "gh": {', 1)
    )
    capsys.readouterr()
    run(["import", "--from", "cursor", "--project", str(theirs), "--dry-run", "--json"])
    assert json.loads(capsys.readouterr().out)["data"]["counts"]["servers"] == 1


def test_agents_that_share_a_file_take_the_same_comments() -> None:
    forms = [form for row in targets().values() for form in (row.servers, row.rules) if form is not None]
    assert {form.file for form in forms if form.comments != "none"}
    for form in forms:
        assert comments_in(form.file) == form.comments, form.file
    assert {
        row.hooks.file for row in targets().values() if row.hooks and comments_in(row.hooks.file) != "none"
    }
