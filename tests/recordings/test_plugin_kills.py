"""Whoever is killed while a plugin is installed or updated leaves the old version or the new one."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checkrein.base import home_file
from checkrein.cli.main import run
from checkrein.dialects.claude import plugin_places
from checkrein.passes.load import load
from checkrein.runtime.plugins import package_cache, plugin_lock, settings_edit
from checkrein.runtime.plugins.package_tree import content_hash
from support.files import lay
from support.plugins import below, marketplace, plugin

pytestmark = [pytest.mark.project({}, inside="."), pytest.mark.usefixtures("project")]
FILES = 60


def release(shop: Path, version: str) -> None:
    """A version whose every file says which it is."""
    texts = {f"data/{number}.txt": f"{version}\n" * 50 for number in range(FILES)}
    skill = {"skills/s/SKILL.md": f"---\ndescription: d\n---\n{version}\n"}
    lay(shop, below("p", plugin(version=version, files={**texts, **skill})))
    marketplace(shop, {"name": "formatter", "source": "./p"})


def versions(project: Path) -> set[str]:
    """The versions that a session would see: one whole one, or none."""
    found = load(project)
    seen = {one.item.body.strip() for name, one in found.skills.items() if name == "formatter:s"}
    for name, one in found.plugins.items():
        root = Path(one.item.root)
        assert name == "formatter@tools"
        assert content_hash(str(root)) == one.item.hash
        seen |= {file.read_text().split("\n")[0] for file in (root / "data").iterdir()}
        seen.add(str(one.item.version))
        assert len(list((root / "data").iterdir())) == FILES
    return seen


def install(scope: str) -> list[str]:
    return ["plugin", "install", "formatter", "--scope", scope, "--yes"]


class Crashed(BaseException):
    """Stands for a kill: nothing catches it."""


@pytest.mark.parametrize(("scope", "point"), [("project", point) for point in range(5)] + [("user", 1)])
def test_a_crash_at_each_write(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str, point: int
) -> None:
    """The process ends before one of the writes that change anything, the first to the last."""
    shop = tmp_path / "shop"
    release(shop, "1.0.0")
    assert run(["plugin", "marketplace", "add", str(shop)]) == 0
    assert run(install(scope)) == 0
    release(shop, "2.0.0")
    left = point

    def crash(*args: object, **more: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Crashed

    real_rename, real_write = os.rename, plugin_lock.write_atomic
    with monkeypatch.context() as patched, contextlib.suppress(Crashed):
        patched.setattr(package_cache.os, "rename", lambda *a: (crash(), real_rename(*a))[1])
        for module in (plugin_lock, settings_edit, home_file):
            patched.setattr(module, "write_atomic", lambda *a, **k: (crash(), real_write(*a, **k))[1])
        run(["plugin", "update", "--scope", scope, "--yes"])
    assert versions(project) in ({"1.0.0"}, {"2.0.0"})
    assert run(["plugin", "update", "--scope", scope, "--yes"]) == 0
    assert versions(project) == {"2.0.0"}


def kill(times: int, project: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    shop = tmp_path / "shop"
    release(shop, "1.0.0")
    assert run(["plugin", "marketplace", "add", str(shop)]) == 0
    known, number = {"none"}, 0
    for turn in range(times):
        scope = "project"
        verb = install(scope) if turn % 2 == 0 else ["plugin", "update", "--scope", scope, "--yes"]
        number += 1
        release(shop, f"1.{number}.0")
        before = versions(project) or {"none"}
        process = subprocess.Popen(
            [sys.executable, "-m", "checkrein", *verb],
            cwd=project,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(os.environ),
        )
        time.sleep(chance.uniform(0.2, 1.4))
        process.send_signal(signal.SIGKILL)
        process.wait()
        after = versions(project) or {"none"}
        assert len(after) == 1
        assert after in (before, {f"1.{number}.0"}), (turn, before, after)
        known |= after
    cache = plugin_places.cache_dir(os.environ)
    names = os.listdir(cache) if os.path.isdir(cache) else []
    assert sum(name.startswith(".") for name in names) <= times
    assert run(install("project")) == 0
    assert versions(project) == {f"1.{number}.0"}


@pytest.mark.campaign
def test_real_kills(project: Path, tmp_path: Path) -> None:
    """Two moments by a seed; `CHECKREIN_CAMPAIGN=1` takes fifty."""
    kill(50 if os.environ.get("CHECKREIN_CAMPAIGN") else 2, project, tmp_path, 22)
