"""What trust is asked for: found whole, with its place, and gone whole when it is not given."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from checkrein.base.origin import Origin
from checkrein.model.project import Project
from checkrein.passes.load import load
from checkrein.policy.trust import SurfaceItem
from checkrein.runtime.trust import surface, untrusted_view
from checkrein.runtime.trust.gitindex import is_tracked
from checkrein.runtime.trust.ownership import project_content
from checkrein.runtime.trust.scripts import fingerprint, named_files

Build = Callable[..., Project]
SKILL = """---
description: d
allowed-tools: Bash(git *)
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: echo skill
---
Status: !`git status`

```!
ls -l
```

KEY=!`not this`
"""
AGENT = """---
name: helper
description: d
hooks:
  Stop:
    - hooks:
        - type: command
          command: echo agent
---
Help.
"""
SETTINGS: dict[str, Any] = {
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [{"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'}],
            }
        ]
    },
    "env": {"FOO": "bar", "API_TOKEN": "hunter2hunter2"},
    "apiKeyHelper": "./key.sh",
    "statusLine": {"type": "command", "command": "node status.js"},
    "permissions": {
        "allow": ["Bash(ls *)"],
        "ask": ["Bash(rm *)"],
        "deny": ["Read(.env)"],
        "additionalDirectories": ["../other"],
        "defaultMode": "acceptEdits",
    },
    "disableAllHooks": True,
    "sandbox": {"enabled": False, "filesystem": {"denyRead": ["/x"]}},
    "model": "haiku",
}


@pytest.fixture
def build(tmp_path: Path) -> Build:
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)

    def build(
        files: dict[str, Any] | None = None, user: dict[str, Any] | None = None, git: bool = True
    ) -> Project:
        root = tmp_path / "project"
        root.mkdir(exist_ok=True)
        if git:
            (root / ".git").mkdir(exist_ok=True)
        for name, content in (files or {}).items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
        if user is not None:
            (home / ".claude" / "settings.json").write_text(json.dumps(user))
        return load(root, env={"HOME": str(home)}, managed_dir=str(tmp_path / "managed"))

    return build


WHOLE = {
    ".claude/settings.json": SETTINGS,
    ".claude/hooks/guard.sh": "exit 0\n",
    ".claude/hooks/lib.py": "x = 1\n",
    ".claude/hooks/notes.txt": "not a script\n",
    "key.sh": "echo key\n",
    "tools/server.js": "//\n",
    ".mcp.json": {"mcpServers": {"m": {"command": "node", "args": ["tools/server.js"], "env": {"K": "v"}}}},
    ".claude/skills/s/SKILL.md": SKILL,
    ".claude/agents/helper.md": AGENT,
}


def items(project: Project) -> tuple[SurfaceItem, ...]:
    return surface(project.place, project.sources).items


def labels(project: Project) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in items(project):
        found.setdefault(item.kind, []).append(item.label)
    return found


@pytest.mark.parametrize("name", ["test_check", '"test_check"', '"test\\u005fcheck"'])
@pytest.mark.parametrize("file", ["checkrein.toml", "pyproject.toml"])
def test_a_command_of_the_configuration_is_found_however_it_is_written(
    build: Build, file: str, name: str
) -> None:
    section = name if file == "checkrein.toml" else f"tool.checkrein.{name}"
    assert labels(build({file: f"[{section}]\ncommand = 'sh tests.sh'\n"})) == {
        "helper": ["test_check.command: sh tests.sh"]
    }
    assert labels(build({file: "[project]\nname = 'x'\n"})) == {}


def test_everything_is_found(build: Build) -> None:
    assert labels(build(WHOLE)) == {
        "hook": [
            'PreToolUse (Bash): "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh',
            "PreToolUse (Bash): echo skill",
            "Stop: echo agent",
        ],
        "server": ["m: node tools/server.js"],
        "env": ["FOO=bar", "API_TOKEN=‹redacted›"],
        "helper": [
            "apiKeyHelper: ./key.sh",
            "statusLine.type: command",
            "statusLine.command: node status.js",
        ],
        "allow rule": ["Bash(ls *)"],
        "directory": ["../other"],
        "setting": [
            "permissions.defaultMode: acceptEdits",
            "disableAllHooks: True",
            "sandbox.enabled: False",
        ],
        "allowed tools": ["s: Bash(git *)"],
        "shell line": ["s: git status", "s: ls -l"],
        "script": [".claude/hooks/guard.sh", ".claude/hooks/lib.py", "key.sh", "tools/server.js"],
    }


def test_each_has_its_place(build: Build) -> None:
    project = build(WHOLE)
    by_label = {item.label: item.origin for item in items(project)}
    skill = os.path.join(project.place.root, ".claude/skills/s/SKILL.md")
    assert (by_label["s: git status"].file, by_label["s: git status"].line) == (skill, 11)
    assert by_label["s: ls -l"].line == 13
    assert by_label["s: Bash(git *)"].line == 3
    text = Path(by_label["FOO=bar"].file).read_text().splitlines()
    assert '"FOO"' in text[(by_label["FOO=bar"].line or 0) - 1]
    assert '"Bash(ls *)"' in text[(by_label["Bash(ls *)"].line or 0) - 1]


def test_a_project_of_words_has_no_surface(build: Build) -> None:
    plain = {
        "CLAUDE.md": "Be kind.",
        ".claude/settings.json": {"permissions": {"deny": ["Bash"]}, "model": "x"},
    }
    project = build(plain)
    assert items(project) == ()
    assert untrusted_view(project) == (project, ())


def test_the_users_own_things_are_not_asked_about(build: Build) -> None:
    project = build({}, user=SETTINGS | {"disableAllHooks": False})
    assert project.hooks
    assert items(project) == ()


def test_an_untrusted_project_keeps_what_narrows(build: Build) -> None:
    user = {
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]},
        "permissions": {"allow": ["Bash(make *)"], "defaultMode": "plan"},
        "env": {"FOO": "own"},
    }
    project = build(WHOLE, user)
    reduced, skipped = untrusted_view(project)
    assert [hook.command for hook in reduced.hooks] == ["mine"]
    assert {(rule.verdict, rule.text) for rule in reduced.rules} == {
        ("allow", "Bash(make *)"),
        ("ask", "Bash(rm *)"),
        ("deny", "Read(.env)"),
    }
    assert reduced.servers == {}
    assert reduced.setting("env") == {"FOO": "own"}
    assert reduced.setting("permissions.additionalDirectories") is None
    assert reduced.setting("permissions.defaultMode") == "plan"
    assert reduced.setting("disableAllHooks") is None
    assert reduced.setting("sandbox") == {"filesystem": {"denyRead": ["/x"]}}
    assert reduced.setting("apiKeyHelper") is None
    assert reduced.setting("model") == "haiku"
    assert reduced.skills["s"].item.allowed_tools == ()
    assert reduced.skills["s"].item.hooks == ()
    assert reduced.skills["s"].item.body == project.skills["s"].item.body
    assert reduced.agents["helper"].item.hooks == ()
    assert len(skipped) == len([item for item in items(project) if item.kind != "script"])
    assert {found.code for found in skipped} == {"TRUST001"}
    assert all(found.origin.file.startswith(project.place.root) for found in skipped)
    assert "hunter2" not in str(skipped)


def test_what_is_kept_has_no_surface_left(build: Build) -> None:
    reduced, _ = untrusted_view(build(WHOLE))
    kept = [item for item in items(reduced) if item.kind != "script"]
    assert {item.kind for item in kept} == {"shell line"}, "the text stays; the Spawner refuses to run it"


class TestLocalSettings:
    """settings.local.json is the user's own only where git ignores it and does not track it."""

    LOCAL: ClassVar[dict[str, Any]] = {".claude/settings.local.json": {"permissions": {"allow": ["Bash(x)"]}}}
    IGNORE: ClassVar[dict[str, Any]] = {".gitignore": ".claude/settings.local.json\n"}

    def test_ignored(self, build: Build) -> None:
        assert items(build({**self.LOCAL, **self.IGNORE})) == ()

    def test_not_ignored(self, build: Build) -> None:
        assert labels(build(self.LOCAL)) == {"allow rule": ["Bash(x)"]}

    def test_no_repository(self, build: Build) -> None:
        assert labels(build({**self.LOCAL, **self.IGNORE}, git=False)) == {"allow rule": ["Bash(x)"]}

    @pytest.mark.parametrize("version", [2, 4])
    def test_ignored_but_tracked(self, build: Build, version: int) -> None:
        project = build({**self.LOCAL, **self.IGNORE})
        index = Path(project.place.root, ".git", "index")
        index.write_bytes(git_index(version, [".claude/settings.json", ".claude/settings.local.json", "z"]))
        assert labels(build()) == {"allow rule": ["Bash(x)"]}
        index.write_bytes(git_index(version, [".claude/settings.json", ".claude/settings.local.jso", "z"]))
        assert items(build()) == ()

    def test_a_broken_index_proves_nothing(self, build: Build) -> None:
        project = build({**self.LOCAL, **self.IGNORE})
        for data in (b"", b"DIRC", b"DIRC\0\0\0\x04\0\0\0\x09", b"DIRC\0\0\0\x07\0\0\0\0", b"nonsense" * 9):
            Path(project.place.root, ".git", "index").write_bytes(data)
            assert labels(build()) == {"allow rule": ["Bash(x)"]}, data

    def test_a_linked_directory(self, build: Build, tmp_path: Path) -> None:
        project = build({**self.IGNORE})
        root = Path(project.place.root)
        for folder in (root / "inside", tmp_path / "elsewhere"):
            folder.mkdir()
            (folder / "settings.local.json").write_text(json.dumps(self.LOCAL[".claude/settings.local.json"]))
        os.symlink(root / "inside", root / ".claude")
        assert labels(build()) == {"allow rule": ["Bash(x)"]}
        (root / ".claude").unlink()
        os.symlink(tmp_path / "elsewhere", root / ".claude")
        assert labels(build()) == {}

    def test_a_worktree_has_its_index_elsewhere(self, tmp_path: Path) -> None:
        real = tmp_path / "real"
        real.mkdir()
        (real / "index").write_bytes(git_index(2, ["a"]))
        tree = tmp_path / "tree"
        tree.mkdir()
        (tree / ".git").write_text(f"gitdir: {real}\n")
        assert is_tracked(str(tree / "a"), str(tree))
        assert not is_tracked(str(tree / "b"), str(tree))
        (tree / ".git").write_text("gitdir: /no/where\n")
        assert is_tracked(str(tree / "b"), str(tree))


def git_index(version: int, names: list[str]) -> bytes:
    """A small index as git writes it."""
    data = b"DIRC" + version.to_bytes(4, "big") + len(names).to_bytes(4, "big")
    last = b""
    for name in (text.encode() for text in names):
        data += bytes(60) + len(name).to_bytes(2, "big")
        if version == 4:
            common = next(
                (i for i, (a, b) in enumerate(zip(last, name)) if a != b), min(len(last), len(name))
            )
            data += bytes([len(last) - common]) + name[common:] + b"\0"
            last = name
        else:
            data += name + bytes(8 - (62 + len(name)) % 8)
    return data + bytes(20)


def test_a_plugin_inside_the_project_is_the_projects(build: Build) -> None:
    project = build()
    is_project = project_content(project.place)
    inside = os.path.join(project.place.root, ".claude/skills/p/hooks/hooks.json")
    assert is_project(Origin(inside, "plugin"))
    assert not is_project(Origin("/elsewhere/hooks.json", "plugin"))
    assert not is_project(Origin("/etc/managed.json", "managed"))
    assert not is_project(Origin(inside, "cli"))
    assert is_project(Origin("/elsewhere/added.json", "project"))


class TestScripts:
    @pytest.mark.parametrize(
        "command",
        [
            "tools/x.sh",
            "./tools/x.sh --flag",
            "bash tools/x.sh",
            "cd tools && ./x.sh",
            '"$CLAUDE_PROJECT_DIR"/tools/x.sh',
            "${CLAUDE_PROJECT_DIR}/tools/x.sh",
            "$CLAUDE_PROJECT_DIR/tools/x.sh",
            "FOO=tools/x.sh run",
            "sh -c 'tools/x.sh; true'",
            "echo $(tools/x.sh)",
            "true;tools/x.sh|cat",
            "cat <tools/x.sh",
            "unclosed 'tools/x.sh",
        ],
    )
    def test_words_that_lead_to_a_file(self, command: str, build: Build) -> None:
        project = build({"tools/x.sh": "x"})
        assert named_files([command], project.place) == (os.path.join(project.place.root, "tools/x.sh"),)

    def test_a_name_with_blanks(self, build: Build) -> None:
        project = build({"my tools/x y.sh": "x"})
        assert len(named_files(["bash 'my tools/x y.sh'"], project.place)) == 1

    def test_task_files(self, build: Build) -> None:
        project = build({"package.json": "{}", "Makefile": "all:\n"})
        found = [
            os.path.basename(file) for file in named_files(["npm run lint && /usr/bin/make"], project.place)
        ]
        assert found == ["Makefile", "package.json"]

    def test_files_outside_are_the_systems(self, build: Build, tmp_path: Path) -> None:
        (tmp_path / "out.sh").write_text("x")
        project = build()
        assert named_files([f"/bin/sh {tmp_path}/out.sh ../out.sh"], project.place) == ()

    def test_a_link_out_of_the_project_counts_with_what_it_leads_to(
        self, build: Build, tmp_path: Path
    ) -> None:
        (tmp_path / "a.sh").write_text("same")
        (tmp_path / "b.sh").write_text("same")
        project = build()
        link = Path(project.place.root, "x.sh")
        link.symlink_to(tmp_path / "a.sh")
        assert named_files(["./x.sh"], project.place) == (str(link),)
        before = fingerprint(str(link), project.place.root)
        (tmp_path / "a.sh").write_text("other")
        changed = fingerprint(str(link), project.place.root)
        link.unlink()
        link.symlink_to(tmp_path / "b.sh")
        moved = fingerprint(str(link), project.place.root)
        assert len({before, changed, moved}) == 3

    def test_odd_files(self, build: Build) -> None:
        project = build()
        root = Path(project.place.root)
        os.mkfifo(root / "pipe")
        (root / "loop").symlink_to("loop")
        (root / "gone").symlink_to("nowhere")
        (root / "secret").write_text("x")
        (root / "secret").chmod(0)
        words = "cat pipe loop gone secret \0 " + "x" * 5000
        assert [os.path.basename(file) for file in named_files([words], project.place)] == ["secret"]
        assert fingerprint(str(root / "gone"), str(root)) != fingerprint(str(root / "secret"), str(root))


@pytest.mark.parametrize("blank", [" ", "  ", "\t", "\r\n", " \t\n "])
def test_words_without_quotes_end_where_a_shell_ends_them(blank: str, tmp_path: Path) -> None:
    script = tmp_path / "a=b,c\x0bd.sh"
    script.write_text("true\n")
    place = load(tmp_path).place
    assert named_files((f"{blank}sh{blank}./{script.name}{blank}",), place) == (str(script),)
