"""Install, update, freeze and remove a plugin from each kind of source, on this machine alone."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from checkrein.dialects.claude.plugin_places import records
from checkrein.passes.load import load
from support.files import lay
from support.plugins import Site, below, commit, marketplace, plugin, served, zipped

Ask = Callable[..., Any]
Release = Callable[[str, str], Mapping[str, Any] | str]
"""Puts a version with a text in place; gives the source for the marketplace's entry."""
pytestmark = [pytest.mark.project({}, inside="."), pytest.mark.usefixtures("project")]
NPM = """#!/bin/sh
for word; do spec=$word; done
version=${spec##*@}
[ -d {files}/$version ] || version=$(cat {files}/latest)
while [ "$1" != --pack-destination ]; do shift; done
tar -czf "$2/formatter-$version.tgz" -C {files}/$version package
"""


def content(version: str, text: str) -> dict[str, object]:
    return plugin(version=version, files={"notes.txt": text})


@pytest.fixture
def host() -> Iterator[Site]:
    with served() as running:
        yield running


@pytest.fixture
def release(
    request: pytest.FixtureRequest, tmp_path: Path, host: Site, monkeypatch: pytest.MonkeyPatch
) -> Release:
    """How the kind of source that the test names releases a version."""
    repo, shop = tmp_path / "repo", tmp_path / "shop"

    def path(version: str, text: str) -> str:
        lay(shop, below("p", content(version, text)))
        return "./p"

    def git(version: str, text: str) -> dict[str, str]:
        commit(lay(repo, content(version, text)))
        return {"source": "url", "url": f"file://{repo}"}

    def subdir(version: str, text: str) -> dict[str, str]:
        commit(lay(repo, below("deep/p", content(version, text))))
        return {"source": "git-subdir", "url": f"file://{repo}", "path": "deep/p"}

    def github(version: str, text: str) -> dict[str, str]:
        """The user's own configuration of git leads the address elsewhere."""
        address = "https://github.com/acme/formatter.git"
        lay(Path(os.environ["HOME"]), {".gitconfig": f'[url "file://{repo}"]\n  insteadOf = {address}\n'})
        git(version, text)
        return {"source": "github", "repo": "acme/formatter"}

    def archive(version: str, text: str) -> dict[str, str]:
        host.pages[f"/{version}.zip"] = zipped(below("formatter", content(version, text)))
        return {"source": "archive", "url": f"{host.url}/{version}.zip"}

    def npm(version: str, text: str) -> dict[str, str]:
        packed = {**content(version, text), "package.json": {"name": "formatter", "version": version}}
        files = lay(tmp_path / "npm", {**below(f"{version}/package", packed), "latest": version})
        lay(tmp_path, {"bin/npm": NPM.replace("{files}", str(files))})
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
        return {"source": "npm", "package": "formatter"}

    def command(version: str, text: str) -> dict[str, str]:
        lay(tmp_path / "made", content(version, text))
        return {"source": "command", "command": f"echo {tmp_path}/made"}

    kinds: dict[str, Release] = {
        "path": path,
        "url": git,
        "git-subdir": subdir,
        "github": github,
        "archive": archive,
        "npm": npm,
        "command": command,
    }
    return kinds[request.param]


def list_in(place: Path | Site, source: Mapping[str, Any] | str) -> str:
    """Write the marketplace; gives what to add."""
    entry = {"name": "formatter", "source": source}
    if isinstance(place, Path):
        return str(marketplace(place, entry))
    listed = {"name": "tools", "owner": {"name": "Ann"}, "plugins": [entry]}
    place.pages["/marketplace.json"] = json.dumps(listed).encode()
    return f"{place.url}/marketplace.json"


def forget() -> None:
    """Another machine: nothing is installed here."""
    shutil.rmtree(Path(os.environ["CHECKREIN_HOME"]) / "plugins")


@pytest.mark.parametrize(
    ("release", "returns"),
    [
        ("path", False),
        ("url", True),
        ("git-subdir", True),
        ("github", True),
        ("archive", True),
        ("npm", True),
        ("command", False),
    ],
    indirect=["release"],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_kind(
    ask: Ask, tmp_path: Path, project: Path, host: Site, release: Release, returns: bool
) -> None:
    """`returns`: the source still has the locked version when a newer one is out."""

    def installed() -> set[str | None]:
        return {one.item.version for one in load(project).plugins.values() if one.item.enabled}

    source = release("1.0.0", "one")
    place = host if isinstance(source, dict) and source["source"] == "archive" else tmp_path / "shop"
    ask("plugin", "marketplace", "add", list_in(place, source), status=0)
    install = ("plugin", "install", "formatter", "--scope", "project", "--yes", "--accept-command")
    ask(*install, status=0)
    assert installed() == {"1.0.0"}

    list_in(place, release("2.0.0", "two"))
    if returns:
        forget()
        ask("plugin", "install", "--frozen", status=0)
        assert installed() == {"1.0.0"}
        ask("plugin", "marketplace", "add", list_in(place, release("2.0.0", "two")), status=0)
    ask("plugin", "update", "formatter", "--scope", "project", "--yes", status=0)
    assert installed() == {"2.0.0"}

    lock = project / "checkrein.lock"
    before = lock.read_bytes()
    written = json.loads(before)
    written["plugins"]["installed"]["formatter@tools"]["hash"] = f"sha256:{'0' * 64}"
    lock.write_text(json.dumps(written))
    frozen = ("plugin", "install", "--frozen", "--accept-command")
    assert ask(*frozen, status=1)["kind"] == "lock_mismatch"
    lock.write_bytes(before)

    list_in(place, release("2.0.0", "twO"))
    forget()
    if "commit" in written["plugins"]["installed"]["formatter@tools"]:
        ask(*frozen, status=0)
        assert installed() == {"2.0.0"}
    else:
        assert ask(*frozen, status=1)["kind"] == "lock_mismatch"
        ask("plugin", "marketplace", "add", list_in(place, release("2.0.0", "two")), status=0)
        ask(*frozen, status=0)
    ask("plugin", "remove", "formatter", "--scope", "project", status=0)
    assert installed() == set()
    assert records(os.environ).plugins == {}
