"""Protected files come back, whatever a command did to them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.runtime.process.command import Protect
from checkrein.runtime.process.protected import ProtectedFiles, Restored
from checkrein.runtime.process.spawner import Command, Completed, Spawner

SETTINGS = '{"permissions": {"deny": ["Bash(rm *)"]}}'


@pytest.fixture
def guarded_root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".claude" / "hooks").mkdir(parents=True)
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / ".git" / "config").write_text("[core]\n")
    (root / ".claude" / "settings.json").write_text(SETTINGS)
    (root / ".claude" / "hooks" / "check.sh").write_text("exit 2\n")
    (root / ".claude" / "hooks" / "check.sh").chmod(0o755)
    (root / ".envrc").symlink_to("elsewhere")
    return root


class Place:
    def __init__(self, root: Path, spawner: Spawner) -> None:
        self.root, self.spawner = root, spawner
        self.told: list[Restored] = []
        self.protected = ProtectedFiles((str(root),), str(root.parent / "aside"), told=self.told.append)

    def command(self, text: str, *allowed: str) -> Command:
        paths = {os.path.realpath(self.root / name) for name in allowed}
        return Command(
            argv=text,
            cwd=str(self.root),
            origin=Origin("<bundled>", "bundled"),
            purpose="a test",
            env={"PATH": os.environ["PATH"]},
            merge_stderr=True,
            timeout=20,
            protect=Protect(self.protected, paths.__contains__),
        )

    def run(self, text: str, *allowed: str) -> Completed:
        return self.spawner.run(self.command(text, *allowed), Cancel())

    def picture(self) -> dict[str, tuple[int, object]]:
        found: dict[str, tuple[int, object]] = {}
        for directory, folders, files in os.walk(self.root):
            for name in (*folders, *files):
                path = Path(directory, name)
                data = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
                found[str(path.relative_to(self.root))] = (path.lstat().st_mode, data)
        return found


@pytest.fixture
def kept_place(guarded_root: Path) -> Iterator[Place]:
    with Spawner(lambda origin: True) as spawner:
        yield Place(guarded_root, spawner)


CHANGES = {
    "echo '{}' > .claude/settings.json": ".claude/settings.json",
    ": > .claude/settings.json": ".claude/settings.json",
    "rm .claude/settings.json": ".claude/settings.json",
    "sed -i s/rm/xx/ .claude/settings.json": ".claude/settings.json",
    "s=$(stat -c %y .claude/settings.json); sed -i s/rm/xx/ .claude/settings.json; "
    'touch -d "$s" .claude/settings.json': ".claude/settings.json",
    "cp .claude/settings.json x; ln -sf ../x .claude/settings.json; rm x": ".claude/settings.json",
    "rm .claude/settings.json; mkdir .claude/settings.json": ".claude/settings.json",
    "rm -r .claude": ".claude",
    "mv .claude away; mkdir .claude; rm -r away": ".claude/hooks",
    "cp -r .claude away; rm -r .claude; ln -s away .claude; "
    "echo '{}' > away/settings.json; rm -r away": ".claude",
    "chmod 777 .claude/settings.json": ".claude/settings.json",
    "chmod -x .claude/hooks/check.sh": ".claude/hooks/check.sh",
    "echo '{}' > .claude/settings.local.json": ".claude/settings.local.json",
    "echo x > .claude/hooks/new": ".claude/hooks/new",
    "printf '#!/bin/sh\\n' > .git/hooks/pre-commit": ".git/hooks/pre-commit",
    "ln -sf there .envrc": ".envrc",
    "rm .envrc; echo x > .envrc": ".envrc",
    "ln .claude/settings.json x; echo '{}' > x; rm x": ".claude/settings.json",
    "echo '{}' > .mcp.json": ".mcp.json",
    "mkfifo .mcp.json": ".mcp.json",
}


@pytest.mark.parametrize("text", CHANGES)
def test_a_change_is_undone_and_said(text: str, kept_place: Place) -> None:
    before = kept_place.picture()
    done = kept_place.run(text)
    assert kept_place.picture() == before, done.stdout
    assert str(kept_place.root / CHANGES[text]) in [one.path for one in done.restored]
    assert list(done.restored) == kept_place.told
    assert all("was restored" in str(one) for one in done.restored)
    assert kept_place.run("true").restored == ()


def test_what_the_command_put_there_is_kept(kept_place: Place) -> None:
    done = kept_place.run("echo '{\"a\": 1}' > .claude/settings.json; echo x > .claude/hooks/new")
    kept = {os.path.basename(one.path): one.kept for one in done.restored}
    assert Path(kept["settings.json"] or "").read_text() == '{"a": 1}\n'
    assert Path(kept["new"] or "").read_text() == "x\n"


def test_other_files_and_the_configuration_of_git_are_free(kept_place: Place) -> None:
    done = kept_place.run(
        "echo x > file; echo '[user]' >> .git/config; touch .claude/settings.json; "
        "mkdir -p .claude/worktrees/a; echo x > .git/hooks/update.sample"
    )
    assert done.restored == ()
    assert "[user]" in (kept_place.root / ".git/config").read_text()
    assert (kept_place.root / ".claude/worktrees/a").is_dir()


def test_a_new_repository_brings_its_hooks(tmp_path: Path) -> None:
    with Spawner(lambda origin: True) as spawner:
        place = Place(tmp_path, spawner)
        done = place.run("git init -q . && echo x > .git/hooks/post-commit")
        assert done.exit_code == 0
        assert done.restored == ()
        assert place.run("rm .git/hooks/post-commit").restored


def test_an_allowed_change_stays(kept_place: Place) -> None:
    done = kept_place.run("echo '{}' > .claude/settings.json; echo x > .mcp.json", ".claude/settings.json")
    assert [os.path.basename(one.path) for one in done.restored] == [".mcp.json"]
    assert (kept_place.root / ".claude/settings.json").read_text() == "{}\n"
    assert kept_place.run("true").restored == ()


def test_a_change_between_commands_is_the_users(kept_place: Place) -> None:
    kept_place.run("true")
    (kept_place.root / ".claude/settings.json").write_text("{}")
    assert kept_place.run("true").restored == ()
    assert (kept_place.root / ".claude/settings.json").read_text() == "{}"


def test_a_change_of_the_same_size_at_once(kept_place: Place) -> None:
    path = kept_place.root / ".claude/settings.json"
    for turn in range(20):
        path.write_text(f"{turn:04}")
        number = kept_place.protected.begin(lambda path: False)
        path.write_text("9999")
        assert kept_place.protected.check()
        kept_place.protected.end(number)
        assert path.read_text() == f"{turn:04}"


def test_the_background(kept_place: Place) -> None:
    command = kept_place.command("sleep 0.3; echo '{}' > .claude/settings.json; sleep 0.3")
    import msgspec

    running = kept_place.spawner.start(
        msgspec.structs.replace(command, spill=str(kept_place.root.parent / "out"))
    )
    time.sleep(0.45)
    assert kept_place.run("true").restored
    assert (kept_place.root / ".claude/settings.json").read_text() == SETTINGS
    assert running.wait(10) == 0


def test_the_end_of_the_background(kept_place: Place) -> None:
    command = kept_place.command("sleep 0.1; echo '{}' > .claude/settings.json")
    import msgspec

    running = kept_place.spawner.start(
        msgspec.structs.replace(command, spill=str(kept_place.root.parent / "out"))
    )
    assert running.wait(10) == 0
    limit = time.monotonic() + 5
    while not kept_place.told and time.monotonic() < limit:
        time.sleep(0.01)
    assert (kept_place.root / ".claude/settings.json").read_text() == SETTINGS
    assert [one.path for one in kept_place.run("true").restored] == [
        str(kept_place.root / ".claude/settings.json")
    ]


def test_a_tool_changes_it_while_something_runs(kept_place: Place) -> None:
    number = kept_place.protected.begin(lambda path: False)
    path = kept_place.root / ".claude/settings.json"
    path.write_text("{}")
    kept_place.protected.accept(str(path))
    assert kept_place.protected.check() == ()
    kept_place.protected.end(number)
    assert path.read_text() == "{}"


def test_a_linked_directory_of_settings(tmp_path: Path) -> None:
    real, root = tmp_path / "real", tmp_path / "project"
    real.mkdir()
    root.mkdir()
    (real / "settings.json").write_text(SETTINGS)
    (root / ".claude").symlink_to(real)
    with Spawner(lambda origin: True) as spawner:
        place = Place(root, spawner)
        assert place.run("echo x > .claude/settings.json").restored
    assert (real / "settings.json").read_text() == SETTINGS


def test_it_is_cheap(kept_place: Place) -> None:
    for name in range(20):
        (kept_place.root / ".claude/hooks" / f"{name}.sh").write_text("x")
    time.sleep(0.15)
    kept_place.run("true")
    fastest = 1.0
    for _ in range(50):
        began = time.perf_counter()
        number = kept_place.protected.begin(lambda path: False)
        kept_place.protected.check()
        kept_place.protected.end(number)
        fastest = min(fastest, time.perf_counter() - began)
    assert fastest < 0.003
