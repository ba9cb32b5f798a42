"""Directories for Claude Code. Its layouts and flags are literals here, never our constants."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from checkrein.base.errors import CheckreinError, UsageError
from checkrein.facts.claude_launch import ClaudeFlag
from checkrein.model.project import SessionMode
from checkrein.model.view import View
from checkrein.passes.load import load, session_view
from checkrein.passes.visibility.bundled_skills import PLUGIN, bundled_skills
from checkrein.runtime.skills.claude_session import ClaudeTerms, overrides, words
from checkrein.runtime.skills.launch_dirs import AddDir, LayoutError, PluginDir
from checkrein.runtime.skills.session_dirs import choose_root, session_dir, silenced, sweep

Write = Callable[[str, object], Path]
BUNDLED = {
    "audit-tests",
    "diagnose-ci",
    "lens-boundaries",
    "open-pull-request",
    "implement-task",
    "mend-test",
    "review-changes",
}


def view_of(project: Path, mode: SessionMode = "cook", target: str | None = None) -> View:
    return session_view(load(project, bundled=True), mode, target=target)


def held(root: Path) -> set[str]:
    return {path.parent.name for path in root.glob(".claude/skills/*/SKILL.md")}


def test_flags_are_the_literals_of_claude_code() -> None:
    assert {flag.name: str(flag) for flag in ClaudeFlag} == {
        "ADD_DIR": "--add-dir",
        "PLUGIN_DIR": "--plugin-dir",
        "SETTINGS": "--settings",
        "RESUME": "--resume",
        "SESSION_ID": "--session-id",
        "PRINT": "--print",
        "PERMISSION_MODE": "--permission-mode",
        "MODEL": "--model",
    }


def test_cc_001_a_session_directory_has_the_layout_of_add_dir(project: Path, tmp_path: Path) -> None:
    with session_dir(view_of(project), "s1", tmp_path) as made:
        assert made is not None
        assert made.words == ("--add-dir", str(tmp_path / "s1"))
        assert (tmp_path / "s1" / ".claude" / "skills" / "diagnose-ci" / "SKILL.md").is_file()
        assert not (tmp_path / "s1" / "diagnose-ci").exists()
        assert held(tmp_path / "s1") == BUNDLED
    assert held(tmp_path / "s1") == BUNDLED, "it stays for a resumed session"


def test_cc_002_tier_1_and_tier_2_the_plugin_shows_only_its_entry_skills() -> None:
    assert (PLUGIN / "skills" / "open-kitchen" / "SKILL.md").is_file()
    assert (PLUGIN / ".claude-plugin" / "plugin.json").is_file()
    made = PluginDir.at(PLUGIN)
    assert made.words == ("--plugin-dir", str(PLUGIN))
    assert made.names() == ("close-kitchen", "open-kitchen", "orchestration-rules")
    plugin = load(PLUGIN.parent, plugin_dirs=[str(PLUGIN)]).skills
    assert {name for name in plugin if name.startswith("checkrein:")} == {
        f"checkrein:{name}" for name in made.names()
    }


def test_tier_5_both_directories_are_read_and_no_name_is_in_both(tmp_path: Path) -> None:
    assert {one.name for one in bundled_skills()} == BUNDLED | set(PluginDir.at(PLUGIN).names())
    for part in ("skills", "skills_extended"):
        (tmp_path / part / "one").mkdir(parents=True)
        (tmp_path / part / "one" / "SKILL.md").write_text("x")
    with pytest.raises(CheckreinError, match="one"):
        bundled_skills(tmp_path)


def test_meta_1_the_manifest_has_the_version_and_the_counts() -> None:
    import checkrein
    from checkrein.facts.kitchen import kitchen_tools

    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["version"] == checkrein.__version__
    for count in ("3 skills", f"{len(kitchen_tools())} tools"):
        assert count in manifest["description"]


@pytest.mark.parametrize("made", [AddDir, PluginDir])
def test_a_directory_without_skills_is_refused(made: type[AddDir] | type[PluginDir], tmp_path: Path) -> None:
    with pytest.raises(LayoutError):
        made.at(tmp_path / "nowhere")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "SKILL.md").write_text("flat: nobody finds it")
    with pytest.raises(LayoutError):
        made.at(tmp_path)
    with pytest.raises(TypeError):
        made()


def test_vis_3_a_worker_gets_no_skill_of_a_disabled_subset(
    project: Path, write: Write, tmp_path: Path
) -> None:
    write(".claude/skills/work/SKILL.md", "---\nactivate_deps: [audit-tests]\n---\nW")
    write("checkrein.toml", '[subsets]\ndisabled = ["github"]\n')
    with session_dir(view_of(project, "headless", "work"), "w", tmp_path):
        assert held(tmp_path / "w") == {"audit-tests", "lens-boundaries"}
    quiet = (tmp_path / "w/.claude/skills/lens-boundaries/SKILL.md").read_text()
    assert "\ndisable-model-invocation: true\n" in quiet
    assert "disable-model-invocation" not in (tmp_path / "w/.claude/skills/audit-tests/SKILL.md").read_text()


def test_an_override_in_our_directory_is_copied_with_its_files(
    project: Path, write: Write, tmp_path: Path
) -> None:
    write(".checkrein/skills/diagnose-ci/SKILL.md", "OURS")
    write(".checkrein/skills/diagnose-ci/scripts/look.sh", "#!/bin/sh\n").chmod(0o755)
    (project / ".checkrein/skills/diagnose-ci/passwd").symlink_to("/etc/passwd")
    with session_dir(view_of(project), "s", tmp_path):
        copy = tmp_path / "s/.claude/skills/diagnose-ci"
        assert (copy / "SKILL.md").read_text() == "OURS"
        assert os.access(copy / "scripts" / "look.sh", os.X_OK)
        assert not (copy / "passwd").exists()


def test_a_linked_file_is_read_within_the_project_and_no_further(
    project: Path, write: Write, tmp_path: Path
) -> None:
    write("shared.md", "SHARED")
    (tmp_path / "secret.md").write_text("SECRET")
    for name, target in (("inside", project / "shared.md"), ("outside", tmp_path / "secret.md")):
        (project / ".checkrein" / "skills" / name).mkdir(parents=True)
        (project / ".checkrein" / "skills" / name / "SKILL.md").symlink_to(target)
    write("checkrein.toml", '[skills]\ntier2 = ["inside"]\n')
    with session_dir(view_of(project, "headless"), "s", tmp_path):
        made = tmp_path / "s" / ".claude" / "skills"
        assert "SHARED" in (made / "inside" / "SKILL.md").read_text()
        assert "disable-model-invocation: true" in (made / "inside" / "SKILL.md").read_text()
        assert not (made / "outside").exists()


def test_an_override_that_claude_code_finds_itself_is_not_copied(
    project: Path, write: Write, tmp_path: Path
) -> None:
    write(".claude/skills/diagnose-ci/SKILL.md", "OURS")
    with session_dir(view_of(project), "s", tmp_path):
        assert held(tmp_path / "s") == BUNDLED - {"diagnose-ci"}


def test_a_resumed_session_gets_its_directory_as_the_rules_are_now(
    project: Path, write: Write, tmp_path: Path
) -> None:
    with session_dir(view_of(project), "s", tmp_path):
        pass
    write(".claude/skills/diagnose-ci/SKILL.md", "OURS")
    with session_dir(view_of(project), "s", tmp_path):
        assert "diagnose-ci" not in held(tmp_path / "s")


@pytest.mark.parametrize("session", ["", ".", "..", "a/b", "a\\b", "a\0b", "-rf", "../x", "x" * 200])
def test_a_session_can_t_lead_its_directory_elsewhere(project: Path, tmp_path: Path, session: str) -> None:
    with pytest.raises(UsageError), session_dir(view_of(project), session, tmp_path):
        pass
    assert list(tmp_path.iterdir()) == [project]


def test_the_sweep_takes_old_directories_that_nobody_uses(project: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "foreign").mkdir()
    with session_dir(view_of(project), "old", root), session_dir(view_of(project), "new", root):
        pass
    later = time.time() + 71 * 3600
    assert sweep(root, now=later) == []
    os.utime(root / "old" / ".checkrein-session", (0, 0))
    with session_dir(view_of(project), "used", root):
        os.utime(root / "used" / ".checkrein-session", (0, 0))
        assert sweep(root) == ["old"]
    assert sorted(path.name for path in root.iterdir()) == ["foreign", "new", "used"]


def test_the_root_is_private(tmp_path: Path) -> None:
    runtime, home = tmp_path / "run", tmp_path / "home"
    runtime.mkdir()
    env = {"XDG_RUNTIME_DIR": str(runtime), "CHECKREIN_HOME": str(home)}
    assert choose_root(env) == runtime / "checkrein" / "sessions"
    (runtime / "checkrein" / "sessions").chmod(0o777)
    assert choose_root(env) == home / "session-dirs"
    assert (home / "session-dirs").stat().st_mode & 0o077 == 0
    assert choose_root({"CHECKREIN_HOME": str(home), "XDG_RUNTIME_DIR": "relative"}) == home / "session-dirs"


@pytest.mark.parametrize(
    "text",
    [
        "no frontmatter\n---\nx",
        "---\nname: a\n---\nbody\n",
        "---\nname: a\ndisable-model-invocation: false\n---\nbody\n",
        "---\r\nname: a\r\n'disable-model-invocation': no\r\n---\r\nbody\r\n",
        "\ufeff---\nname: a\n---\n",
        "",
    ],
)
def test_a_silenced_skill_is_for_users_only(text: str, tmp_path: Path) -> None:
    from checkrein.dialects.codes import Log
    from checkrein.dialects.skills import read_skill

    (tmp_path / "SKILL.md").write_text(silenced(text))
    found = read_skill(str(tmp_path / "SKILL.md"), str(tmp_path), "a", "project", Log())
    assert found is not None
    assert not found.model_invocable
    assert silenced(text).count("disable-model-invocation") == 1


def test_tier_3_and_req_tier_011_cook_passes_the_plugin_and_the_directory(
    project: Path, tmp_path: Path
) -> None:
    view = view_of(project)
    with session_dir(view, "s", tmp_path) as extra:
        line = words(view, ClaudeTerms(prompt="-go"), "s", extra)
    assert line == (
        *("--plugin-dir", str(PLUGIN)),
        *("--add-dir", str(tmp_path / "s")),
        *("--session-id", "s", "--", "-go"),
    )


def test_req_tier_012_no_flag_skips_permissions(project: Path) -> None:
    for mode in (None, "plan", "acceptEdits"):
        line = words(view_of(project), ClaudeTerms(mode=mode, resume="r"), "r", None)
        assert not any("dangerously" in word for word in line)
    with pytest.raises(UsageError, match="never skips"):
        words(view_of(project), ClaudeTerms(mode="bypassPermissions"), "s", None)


def test_skills_that_claude_code_finds_are_hidden_by_a_setting(project: Path, write: Write) -> None:
    write(".claude/skills/two/SKILL.md", "2")
    write(".claude/skills/three/SKILL.md", "3")
    write("checkrein.toml", '[skills]\ntier2 = ["two"]\ntier3 = ["three"]\n')
    assert overrides(view_of(project)) == {}
    assert overrides(view_of(project, "headless")) == {"two": "user-invocable-only", "three": "off"}
    assert overrides(view_of(project, "plain")) == {"two": "off", "three": "off"}
