"""A library of recipes from texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from checkrein.passes.load import load
from checkrein.passes.recipes.library import Library, library_of

Shelf = Callable[[Mapping[str, str]], Library]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """The library of a project. Paths are below `.checkrein/recipes`, or begin with `/`."""

    def made(files: Mapping[str, str]) -> Library:
        (tmp_path / "p" / ".git").mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            path = tmp_path / "p" / (name[1:] if name.startswith("/") else f".checkrein/recipes/{name}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        project = load(
            tmp_path / "p",
            home=str(tmp_path / "home"),
            managed_dir=str(tmp_path / "managed"),
            env={"HOME": str(tmp_path / "home")},
        )
        return library_of(project)

    return made
