"""What belongs to the project, whatever links lead there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from checkrein.base.origin import Origin
from checkrein.passes.load import load
from checkrein.runtime.trust.ownership import project_content


@pytest.mark.project({"inner/plugin/a.md": "x", "inner/plugin/b.md": "x"}, inside=".")
def test_links_to_files_and_folders_are_followed(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "own.md").write_text("x")
    (outside / "file.md").symlink_to(project / "inner/plugin/a.md")
    (outside / "folder").symlink_to(project / "inner")
    (outside / "chain").symlink_to("folder")
    (outside / "loop").symlink_to("loop")
    is_project = project_content(load(project).place)
    found = {
        name: is_project(Origin(os.path.join(outside, name), "plugin"))
        for name in ("own.md", "file.md", "folder/plugin/a.md", "chain/plugin/b.md", "loop/x", "gone/x")
    }
    assert [name for name, inside in found.items() if inside] == [
        "file.md",
        "folder/plugin/a.md",
        "chain/plugin/b.md",
    ]
