"""`--plugin-dir` and `--plugin-url`: directories, archives, addresses; and an administrator's no."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import CheckreinError
from checkrein.cli import parser
from checkrein.cli.run_options import project_of
from checkrein.cli.word_order import ordered
from checkrein.facts import claude
from support.files import lay
from support.plugins import below, plugin, served, zipped

pytestmark = [pytest.mark.project({}, inside="."), pytest.mark.usefixtures("project")]


def skills(*argv: str) -> set[str]:
    _, values = parser.root().main(args=ordered(("-p", "hi", *argv)), prog_name="c", standalone_mode=False)
    found: Any = project_of(dict(values)).project
    assert all(one.item.marketplace == "inline" for one in found.plugins.values())
    return set(found.skills)


def test_directories_archives_and_addresses(tmp_path: Path) -> None:
    lay(tmp_path / "a", plugin("a"))
    (tmp_path / "b.zip").write_bytes(zipped(below("b-1.0", plugin("b"))))
    with served() as site:
        site.pages["/c.zip"] = zipped(plugin("c"))
        flags = (
            "--plugin-dir",
            str(tmp_path / "a"),
            str(tmp_path / "b.zip"),
            "--plugin-url",
            f"{site.url}/c.zip",
        )
        assert skills(*flags) == {"a:a", "b:b", "c:c"}


@pytest.mark.parametrize(
    "flags",
    [("--plugin-url", "http://example.com/x.zip"), ("--plugin-dir", "x.zip")],
)
def test_what_can_not_be_loaded_ends_the_run(project: Path, flags: tuple[str, ...]) -> None:
    (project / "x.zip").write_bytes(zipped({"../evil": "x"}))
    with pytest.raises(CheckreinError):
        skills(*flags)


def test_an_administrator_forbids_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path / "managed", {"managed-settings.json": {"disableSideloadFlags": True}})
    monkeypatch.setattr(claude, "managed_dir", lambda: str(tmp_path / "managed"))
    lay(tmp_path / "a", plugin("a"))
    with pytest.raises(CheckreinError, match="disableSideloadFlags"):
        skills("--plugin-dir", str(tmp_path / "a"))
