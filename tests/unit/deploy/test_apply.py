"""Plan, apply, undo: what is touched and what never is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import FileError, PolicyError
from checkrein.deploy import apply as applying
from checkrein.deploy.apply import apply_plan
from checkrein.deploy.deploy import Deployment
from checkrein.deploy.manifest import MANIFEST_PATH, Manifest, load_manifest
from checkrein.deploy.paths import Paths
from checkrein.deploy.plan import make_plan, plan_undo
from checkrein.dialects.generic.written import File, Written
from support.projects import ONE_OF_EVERYTHING

Prepare = Callable[..., Deployment]


pytestmark = pytest.mark.project(ONE_OF_EVERYTHING)


def snapshot(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()
    }


def apply(prepared: Deployment) -> applying.Applied:
    return apply_plan(prepared.paths, prepared.plan)


def undo(root: Path, *targets: str) -> None:
    paths = Paths(root)
    apply_plan(paths, plan_undo(paths, load_manifest(root), targets or None))


def written(files: dict[str, str]) -> Written:
    return Written(tuple(File(path, text.encode()) for path, text in sorted(files.items())), ())


def actions(prepared: Deployment) -> dict[str, str]:
    return {change.path: change.action for change in prepared.plan.changes}


def test_a_second_run_writes_nothing(ready: Prepare, project: Path) -> None:
    first = apply(ready("copilot", "codex", "gemini", "opencode", "cursor", "amp", "kiro", "qwen", "claude"))
    assert len(first.written) > 30
    before = snapshot(project)
    again = ready("copilot", "codex", "gemini", "opencode", "cursor", "amp", "kiro", "qwen", "claude")
    assert not again.plan.stale
    assert apply(again) == applying.Applied((), ())
    assert snapshot(project) == before


def test_the_same_input_gives_the_same_bytes(ready: Prepare) -> None:
    assert ready("all").written == ready("all").written


def test_undo_restores_the_tree(ready: Prepare, project: Path) -> None:
    before = snapshot(project)
    apply(ready("all", prefer="codex", degrade=True))
    assert snapshot(project) != before
    undo(project)
    assert snapshot(project) == before
    assert not (project / ".agents").exists()
    assert not (project / ".checkrein").exists()


def test_undo_of_one_agent_keeps_what_others_share(ready: Prepare, project: Path) -> None:
    apply(ready("codex", "zed"))
    shared = project / ".agents/skills/review/SKILL.md"
    undo(project, "codex")
    assert shared.exists()
    assert not (project / ".codex").exists()
    assert load_manifest(project).files[".agents/skills/review/SKILL.md"].targets == ("zed",)
    undo(project, "zed")
    assert not shared.exists()


def test_sources_are_never_written_over(ready: Prepare, project: Path) -> None:
    before = snapshot(project)
    prepared = ready("claude")
    apply(prepared)
    changed = {path: data for path, data in snapshot(project).items() if before.get(path) != data}
    assert set(changed) <= {MANIFEST_PATH}
    assert all(change.action == "source" for change in prepared.plan.changes)


def test_an_edited_file_stays(ready: Prepare, project: Path) -> None:
    apply(ready("codex"))
    edited = project / ".agents/skills/review/SKILL.md"
    edited.write_text("mine\n")
    (project / ".claude/skills/review/SKILL.md").write_text(
        "---\nname: review\ndescription: New\n---\nNew.\n"
    )
    prepared = ready("codex")
    assert actions(prepared)[".agents/skills/review/SKILL.md"] == "edited"
    assert prepared.plan.stale
    apply(prepared)
    assert edited.read_text() == "mine\n"
    undo(project)
    assert edited.read_text() == "mine\n"


def test_a_file_of_someone_else_stays(ready: Prepare, project: Path) -> None:
    (project / "GEMINI.md").write_text("theirs\n")
    prepared = ready("gemini")
    assert actions(prepared)["GEMINI.md"] == "foreign"
    apply(prepared)
    assert (project / "GEMINI.md").read_text() == "theirs\n"
    assert "GEMINI.md" not in load_manifest(project).files


def test_force_keeps_what_it_writes_over_and_undo_restores_it(ready: Prepare, project: Path) -> None:
    (project / "GEMINI.md").write_text("theirs\n")
    apply(ready("gemini", force=True))
    assert (project / "GEMINI.md").read_text() != "theirs\n"
    undo(project)
    assert (project / "GEMINI.md").read_text() == "theirs\n"
    assert not (project / ".checkrein/kept").exists()


def test_a_removed_source_removes_what_was_made_of_it(ready: Prepare, project: Path) -> None:
    apply(ready("codex", "gemini"))
    (project / ".claude/commands/git/commit.md").unlink()
    applied = apply(ready("codex"))
    assert applied.deleted == (".agents/skills/git-commit/SKILL.md",)
    assert (project / ".gemini/commands/git/commit.toml").exists(), "gemini was not named"


def test_check_sees_a_stale_tree(ready: Prepare, project: Path) -> None:
    assert ready("codex").plan.stale
    apply(ready("codex"))
    assert not ready("codex").plan.stale
    (project / ".claude/commands/git/commit.md").write_text("Other\n")
    assert ready("codex").plan.stale
    apply(ready("codex"))
    (project / ".codex/hooks.json").unlink()
    assert ready("codex").plan.stale


def test_agents_that_share_a_directory_conflict_only_when_they_differ(ready: Prepare, project: Path) -> None:
    assert not ready("codex", "zed", "muse").plan.errors
    path = project / ".claude/skills/review/SKILL.md"
    path.write_text(path.read_text().replace("model: opus", "effort: high"))
    conflict = ready("codex", "zed").plan
    assert [found.code for found in conflict.errors] == ["DEP008"]
    with pytest.raises(PolicyError):
        apply(ready("codex", "zed"))
    assert not (project / ".agents").exists()
    decided = ready("codex", "zed", prefer="zed")
    apply(decided)
    assert "effort" not in (project / ".agents/skills/review/SKILL.md").read_text()


def test_a_share_that_is_not_named_is_a_conflict(ready: Prepare, project: Path) -> None:
    apply(ready("codex", "zed"))
    path = project / ".claude/skills/review/SKILL.md"
    path.write_text(path.read_text() + "More.\n")
    assert [found.code for found in ready("codex").plan.errors] == ["DEP008"]
    assert not ready("codex", "zed").plan.errors


def test_instructions_that_begin_alike_are_shared(ready: Prepare) -> None:
    """Cursor takes the rule as a file of its own, Codex as a section: the longer AGENTS.md serves both."""
    prepared = ready("cursor", "codex")
    assert not prepared.plan.errors
    shared = next(change for change in prepared.plan.changes if change.path == "AGENTS.md")
    assert shared.targets == ("codex", "cursor-agent")
    assert b"Strict types." in shared.content


@pytest.mark.parametrize(
    "path", ["../out", "/abs", "a/../../b", ".git/hooks/pre-commit", "a\x00b", "a\\b", "a//b", "."]
)
def test_paths_that_leave_the_project_are_refused(tmp_path: Path, path: str) -> None:
    plan = make_plan(Paths(tmp_path), {"x": written({path: "boo"})}, Manifest())
    assert [found.code for found in plan.errors] == ["DEP010"]
    assert plan.changes == ()


def test_links_out_of_the_project_are_never_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "file").write_text("theirs")
    (root / "dir").symlink_to(outside)
    (root / "link").symlink_to(outside / "file")
    plan = make_plan(
        Paths(root), {"x": written({"dir/new": "boo"}), "y": written({"link": "boo"})}, Manifest()
    )
    assert [found.code for found in plan.errors] == ["DEP010"]
    assert [(change.path, change.action) for change in plan.changes] == [("link", "foreign")]
    assert [path.name for path in outside.iterdir()] == ["file"]
    assert (outside / "file").read_text() == "theirs"


def test_a_link_that_appears_late_stops_apply(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    paths = Paths(root)
    plan = make_plan(paths, {"x": written({"dir/new": "boo"})}, Manifest())
    (root / "dir").symlink_to(outside)
    with pytest.raises(FileError, match="link"):
        apply_plan(paths, plan)
    assert not list(outside.iterdir())


def test_a_failure_puts_everything_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = Paths(tmp_path)
    apply_plan(paths, make_plan(paths, {"x": written({"a": "1", "b": "1", "c": "1"})}, Manifest()))
    before = snapshot(tmp_path)
    plan = make_plan(paths, {"x": written({"a": "2", "b": "2", "d/e": "2"})}, load_manifest(tmp_path))
    real, calls = applying._put, []

    def failing(full: str, content: bytes, mode: int | None = None, *, executable: bool = False) -> None:
        calls.append(full)
        if len(calls) == 3:
            raise OSError(28, "No space left on device", full)
        real(full, content, mode, executable=executable)

    monkeypatch.setattr(applying, "_put", failing)
    with pytest.raises(FileError, match="No space left"):
        apply_plan(paths, plan)
    assert snapshot(tmp_path) == before


def test_a_tree_that_moved_under_the_plan_is_refused(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    plan = make_plan(paths, {"x": written({"a": "1"})}, Manifest())
    (tmp_path / "a").write_text("meanwhile")
    with pytest.raises(FileError, match="changed while"):
        apply_plan(paths, plan)
    assert (tmp_path / "a").read_text() == "meanwhile"


class KilledError(BaseException):
    pass


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_killed_run_leaves_nothing_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """Nothing is put back when the process dies; the next run still knows every file as ours."""
    paths = Paths(tmp_path)
    apply_plan(paths, make_plan(paths, {"x": written({"a": "1", "b": "1", "gone": "1"})}, Manifest()))
    plan = make_plan(paths, {"x": written({"a": "2", "b": "2", "c": "2"})}, load_manifest(tmp_path))
    real, calls = applying._put, []

    def killed(full: str, content: bytes, mode: int | None = None, *, executable: bool = False) -> None:
        calls.append(full)
        real(full, content, mode, executable=executable)
        if len(calls) == after:
            raise KilledError

    monkeypatch.setattr(applying, "_put", killed)
    monkeypatch.setattr(applying, "_take_back", lambda steps: None)
    save = applying.save_manifest
    monkeypatch.setattr(
        applying, "save_manifest", lambda root, manifest: save(root, manifest) if not calls else None
    )
    with pytest.raises(KilledError):
        apply_plan(paths, plan)
    monkeypatch.undo()
    again = make_plan(paths, {"x": written({"a": "3", "b": "2", "c": "2"})}, load_manifest(tmp_path))
    assert not [change for change in again.changes if change.action in ("edited", "foreign")]
    apply_plan(paths, again)
    undo(tmp_path)
    assert snapshot(tmp_path) == {}


def test_a_file_of_the_user_with_the_same_content_stays_theirs(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    (tmp_path / "a").write_text("1")
    apply_plan(paths, make_plan(paths, {"x": written({"a": "1", "b": "1"})}, Manifest()))
    assert set(load_manifest(tmp_path).files) == {"b"}
    undo(tmp_path)
    assert snapshot(tmp_path) == {"a": b"1"}


def test_a_manifest_that_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    plan = make_plan(paths, {"x": written({"a": "1"})}, Manifest())
    apply_plan(paths, make_plan(paths, {"y": written({"b": "1"})}, Manifest()))
    with pytest.raises(FileError, match="another deploy"):
        apply_plan(paths, plan)


def test_names_that_differ_only_in_case_are_a_conflict(tmp_path: Path) -> None:
    plan = make_plan(Paths(tmp_path), {"x": written({"A": "1", "a": "2"})}, Manifest())
    assert [found.code for found in plan.errors] == ["DEP007"]


@pytest.mark.parametrize("text", ["", "[]", '{"version": 9, "files": {}}', '{"files": {"a": 1}}'])
def test_a_broken_manifest_is_an_error_with_a_hint(tmp_path: Path, text: str) -> None:
    (tmp_path / ".checkrein").mkdir()
    (tmp_path / MANIFEST_PATH).write_text(text)
    with pytest.raises(FileError) as caught:
        load_manifest(tmp_path)
    assert caught.value.kind == "manifest_unreadable"


def test_the_manifest_has_no_clock_in_it(ready: Prepare, project: Path) -> None:
    apply(ready("codex"))
    document: dict[str, Any] = json.loads((project / MANIFEST_PATH).read_text())
    assert set(document) == {"files", "version"}
    assert list(document["files"]) == sorted(document["files"])
    assert {len(entry["sha256"]) for entry in document["files"].values()} == {64}


def test_scripts_stay_executable(project: Path, ready: Prepare) -> None:
    script = project / ".claude/skills/review/scripts/x.sh"
    there = project / ".agents/skills/review/scripts/x.sh"

    def deploy() -> tuple[str, ...]:
        prepared = ready("codex")
        return apply_plan(prepared.paths, prepared.plan).written

    deploy()
    assert os.access(there, os.X_OK)
    assert not os.access(project / ".agents/skills/review/SKILL.md", os.X_OK)
    assert deploy() == ()
    script.chmod(0o644)
    assert deploy() == (".agents/skills/review/scripts/x.sh",), "the bit alone is an update"
    assert not os.access(there, os.X_OK)
    assert load_manifest(project).files[".agents/skills/review/scripts/x.sh"].executable is False
    assert deploy() == ()
    there.chmod(0o755)
    assert ready("codex").plan.stale
    assert deploy() == (".agents/skills/review/scripts/x.sh",)
    assert not os.access(there, os.X_OK)


def test_the_mode_of_a_file_that_is_not_ours_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    (tmp_path / "a").chmod(0o755)
    plan = make_plan(Paths(tmp_path), {"x": written({"a": "1"})}, Manifest())
    assert [change.action for change in plan.changes] == ["unchanged"]


def test_a_copy_that_is_gone_deletes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    paths = Paths(tmp_path)
    apply_plan(paths, make_plan(paths, {"x": written({"a": "1"})}, Manifest(), force=True))
    for copy in (tmp_path / ".checkrein/kept").iterdir():
        copy.unlink()
    with pytest.raises(FileError, match="is gone"):
        apply_plan(paths, plan_undo(paths, load_manifest(tmp_path)))
    assert (tmp_path / "a").read_text() == "1"
