"""Asking once: what is remembered, when it stops counting, and who may write it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import FileError, PolicyError
from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.model.project import Project
from checkrein.passes.load import load
from checkrein.policy.situation import situation
from checkrein.policy.values import Call
from checkrein.runtime.hooks.ports import Surroundings
from checkrein.runtime.process.spawner import Command, Spawner
from checkrein.runtime.trust import TrustStore, revoke, standing, status, trust, trusted_origin
from support.hooks import Fired

HOOK = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": ".claude/hooks/guard.sh"}]}]}}


class Place:
    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "project"
        (self.root / ".git").mkdir(parents=True)
        (base / "home").mkdir()
        self.store = TrustStore(base / "checkrein")

    def write(self, name: str, content: Any) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def load(self, path: Path | None = None) -> Project:
        env = {"HOME": str(self.base / "home")}
        return load(path or self.root, env=env, managed_dir=str(self.base / "managed"))

    def trusted(self) -> bool:
        return status(self.load(), store=self.store).trusted


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.write(".claude/settings.json", HOOK)
    made.write(".claude/hooks/guard.sh", "exit 0\n").chmod(0o755)
    return made


def test_from_unknown_to_trusted_and_back(place: Place) -> None:
    before = status(place.load(), store=place.store)
    assert (before.trusted, before.by, before.changes) == (False, "nobody", ())
    after = trust(place.load(), store=place.store)
    assert (after.trusted, after.by) == (True, "store")
    assert place.trusted()
    assert revoke(place.load().place, store=place.store)
    assert not revoke(place.load().place, store=place.store)
    assert not place.trusted()


def test_nothing_to_run_needs_no_trust(place: Place) -> None:
    place.write(".claude/settings.json", {})
    assert status(place.load(), store=place.store).by == "nothing to run"
    trust(place.load(), store=place.store)
    assert not place.store.path.exists()


def test_consents_of_the_command_line(place: Place) -> None:
    project = place.load()
    assert status(project, store=place.store, flag=True).trusted
    assert status(project, store=place.store, setting_sources=["user", "project"]).trusted
    assert not status(project, store=place.store, setting_sources=["user"]).trusted
    assert not status(project, store=place.store, setting_sources=[]).trusted
    assert not place.trusted(), "none of them is remembered"


Change = Callable[[Place], object]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda p: p.write(".claude/hooks/guard.sh", "evil\n"),
            [("changed", "script .claude/hooks/guard.sh")],
        ),
        (lambda p: p.write(".claude/hooks/lib.py", "evil\n"), [("added", "script .claude/hooks/lib.py")]),
        (lambda p: p.write(".claude/settings.json", HOOK | {"env": {"A": "1"}}), [("added", "env A=1")]),
        (
            lambda p: p.write(".claude/settings.json", HOOK | {"permissions": {"allow": ["Bash"]}}),
            [("added", "allow rule Bash")],
        ),
        (
            lambda p: p.write(".claude/skills/s/SKILL.md", "---\ndescription: d\n---\n!`id`\n"),
            [("added", "shell line s: id")],
        ),
        (
            lambda p: p.write(".mcp.json", {"mcpServers": {"m": {"command": "x"}}}),
            [("added", "server m: x")],
        ),
        (
            lambda p: p.write(".claude/settings.json", {"apiKeyHelper": "x"}),
            [
                ("added", "helper apiKeyHelper: x"),
                ("removed", "hook PreToolUse: .claude/hooks/guard.sh"),
                ("removed", "script .claude/hooks/guard.sh"),
            ],
        ),
    ],
)
def test_a_change_asks_again_and_says_what(place: Place, change: Change, told: list[tuple[str, str]]) -> None:
    trust(place.load(), store=place.store)
    change(place)
    found = status(place.load(), store=place.store)
    assert not found.trusted
    assert [(one.change, one.label) for one in found.changes] == told
    assert all(one.origin is not None for one in found.changes if one.change != "removed")


def test_a_secret_value_that_changes_is_a_change(place: Place) -> None:
    place.write(".claude/settings.json", {"env": {"API_TOKEN": "first-value"}})
    trust(place.load(), store=place.store)
    place.write(".claude/settings.json", {"env": {"API_TOKEN": "other-value"}})
    found = status(place.load(), store=place.store)
    assert [one.change for one in found.changes] == ["changed"]
    assert "first-value" not in place.store.path.read_text()


def test_lines_order_and_narrowing_do_not_matter(place: Place) -> None:
    trust(place.load(), store=place.store)
    narrowed = {"permissions": {"deny": ["Bash"], "ask": ["Read"]}, "model": "x"} | HOOK
    place.write(".claude/settings.json", "\n\n" + json.dumps(narrowed, indent=4))
    place.write("CLAUDE.md", "words")
    assert place.trusted()


def test_going_back_to_what_was_trusted(place: Place) -> None:
    trust(place.load(), store=place.store)
    place.write(".claude/hooks/guard.sh", "exit 1\n")
    trust(place.load(), store=place.store)
    place.write(".claude/hooks/guard.sh", "exit 0\n")
    assert place.trusted()


def test_trust_is_by_real_path(place: Place) -> None:
    trust(place.load(), store=place.store)
    link = place.base / "link"
    link.symlink_to(place.root)
    assert status(place.load(link), store=place.store).trusted
    copy = place.base / "copy"
    subprocess.run(["cp", "-r", place.root, copy], check=True)
    assert not status(place.load(copy), store=place.store).trusted


def test_a_script_reached_by_a_link(place: Place) -> None:
    target = place.base / "outside.sh"
    target.write_text("exit 0\n")
    script = place.root / ".claude/hooks/guard.sh"
    script.unlink()
    script.symlink_to(target)
    trust(place.load(), store=place.store)
    assert place.trusted()
    target.write_text("evil\n")
    assert not place.trusted()


class TestStore:
    def test_is_for_the_user_alone(self, place: Place) -> None:
        trust(place.load(), store=place.store)
        assert place.store.path.stat().st_mode & 0o777 == 0o600
        assert place.store.path.parent.stat().st_mode & 0o777 == 0o700

    @pytest.mark.parametrize("content", ["", "{", "[]", '{"projects": 3}', "[" * 100_000, "\xff"])
    def test_a_broken_file_is_not_believed_and_not_lost(self, place: Place, content: str) -> None:
        trust(place.load(), store=place.store)
        place.store.path.write_text(content, encoding="latin-1")
        found = status(place.load(), store=place.store)
        assert not found.trusted
        assert "broken" in (found.problem or "")
        trust(place.load(), store=place.store)
        assert place.trusted()
        assert place.store.path.with_suffix(".broken").read_text(encoding="latin-1") == content

    def test_a_file_others_can_write_is_not_believed(self, place: Place) -> None:
        trust(place.load(), store=place.store)
        place.store.path.chmod(0o666)
        found = status(place.load(), store=place.store)
        assert not found.trusted
        assert "others can write" in (found.problem or "")

    def test_a_directory_in_its_place(self, place: Place) -> None:
        place.store.path.mkdir(parents=True)
        assert not place.trusted()

    def test_a_home_that_can_not_be_written(self, place: Place) -> None:
        (place.base / "checkrein").write_text("a file")
        with pytest.raises(FileError) as error:
            trust(place.load(), store=place.store)
        assert error.value.kind == "trust_store_unwritable"

    def test_old_approvals_go(self, place: Place) -> None:
        for number in range(40):
            place.store.approve("/p", str(number), {})
        assert [one.surface for one in place.store.record("/p").approvals] == [str(n) for n in range(8, 40)]
        place.store.approve("/p", "20", {})
        assert len(place.store.record("/p").approvals) == 32
        assert place.store.record("/p").approvals[-1].surface == "20"

    def test_two_processes_write(self, place: Place) -> None:
        script = (
            "import sys; from pathlib import Path; from checkrein.runtime.trust import TrustStore\n"
            "store = TrustStore(Path(sys.argv[1]))\n"
            "for n in range(25): store.approve(f'/{sys.argv[2]}/{n}', 'd', {'a': 'b'})\n"
        )
        home = str(place.base / "checkrein")
        writers = [
            subprocess.Popen([sys.executable, "-c", script, home, name]) for name in ("one", "two", "three")
        ]
        assert [writer.wait(30) for writer in writers] == [0, 0, 0]
        assert len(place.store.roots()) == 75
        assert not list((place.base / "checkrein").glob("*.tmp"))


class TestSpawning:
    USER = Origin("/home/settings.json", "user")

    def test_untrusted(self, place: Place) -> None:
        project = place.load()
        trusts = trusted_origin(status(project, store=place.store), project.place)
        assert not trusts(project.hooks[0].origin)
        assert trusts(self.USER)

    def test_only_what_was_approved(self, place: Place) -> None:
        project = place.load()
        trusts = trusted_origin(trust(project, store=place.store), project.place)
        assert trusts(project.hooks[0].origin)
        assert not trusts(Origin(str(place.root / ".claude/skills/new/SKILL.md"), "project"))

    def test_a_script_rewritten_during_the_session_is_not_run(self, place: Place) -> None:
        other = {"type": "command", "command": "echo fine"}
        settings = {"hooks": {"PreToolUse": [*HOOK["hooks"]["PreToolUse"], {"hooks": [other]}]}}
        place.write(".claude/settings.json", settings)
        project = place.load()
        trusts = trusted_origin(trust(project, store=place.store), project.place)
        place.write(".claude/hooks/guard.sh", "touch evil\n")
        assert not trusts(project.hooks[0].origin)
        assert trusts(project.hooks[1].origin)

    def test_the_spawner_refuses(self, place: Place) -> None:
        project = place.load()
        found = standing(project, store=place.store)
        with Spawner(found.trusts) as spawner, pytest.raises(PolicyError) as error:
            spawner.run(
                Command(argv="true", cwd="/", origin=project.hooks[0].origin, purpose="a hook", env={}),
                Cancel(),
            )
        assert error.value.kind == "untrusted_origin"


class TestStanding:
    def test_a_hook_that_was_skipped_makes_its_calls_a_question(self, place: Place) -> None:
        found = standing(place.load(), store=place.store)
        assert not found.trusted
        assert found.project.hooks == ()
        assert [hook.command for hook in found.skipped_hooks] == [".claude/hooks/guard.sh"]
        assert [one.code for one in found.skipped] == ["TRUST001"]
        met = situation(place.load(), found)
        decision = met.decide(Call("Bash", {"command": "ls"}), met.context())
        assert decision.verdict == "ask"
        assert ".claude/settings.json" in decision.reason

    def test_trusted_it_is_whole_and_runs(self, place: Place) -> None:
        place.write(".claude/hooks/guard.sh", "#!/bin/sh\necho no >&2; exit 2\n").chmod(0o755)
        trust(place.load(), store=place.store)
        project = place.load()
        found = standing(project, store=place.store)
        assert (found.trusted, found.project, found.skipped, found.skipped_hooks) == (True, project, (), ())
        env = {"PATH": os.environ.get("PATH", os.defpath)}
        around = Surroundings(project_dir=str(place.root), session_id="s", env=env)
        with Spawner(found.trusts) as spawner:
            runner = Fired(found.project.hooks, spawner=spawner, around=around)
            outcome = runner.fire("PreToolUse", {"tool_name": "Bash", "cwd": str(place.root)})
        assert outcome.verdict == "deny"

    def test_lifted(self, place: Place) -> None:
        assert standing(place.load(), trusted=True, store=place.store).trusted

    def test_guarded_variables_need_a_name_of_their_own(self, place: Place) -> None:
        place.write(".claude/settings.json", {"env": {"PATH": "/evil", "FOO": "1"}})
        trust(place.load(), store=place.store)
        assert standing(place.load(), store=place.store).approved_env == ()
        trust(place.load(), store=place.store, env=("PATH",))
        assert standing(place.load(), store=place.store).approved_env == ("PATH",)
        place.write(".claude/settings.json", {"env": {"PATH": "/other", "FOO": "1"}})
        assert standing(place.load(), trusted=True, store=place.store).approved_env == ()
