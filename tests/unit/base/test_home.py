from __future__ import annotations

import sys
from pathlib import Path

import pytest

from checkrein.base.home import checkrein_home, private_dir


@pytest.mark.parametrize(
    ("platform", "env", "home"),
    [
        ("linux", {"HOME": "/home/ada"}, "/home/ada/.local/share/checkrein"),
        ("linux", {"HOME": "/home/ada", "XDG_DATA_HOME": "/data"}, "/data/checkrein"),
        ("darwin", {"HOME": "/Users/ada"}, "/Users/ada/Library/Application Support/checkrein"),
        ("win32", {"HOME": "/c/ada"}, "/c/ada/AppData/Local/checkrein"),
        ("win32", {"HOME": "/c/ada", "LOCALAPPDATA": "/c/local"}, "/c/local/checkrein"),
        ("linux", {"HOME": "/home/ada", "CHECKREIN_HOME": "/elsewhere"}, "/elsewhere"),
    ],
)
def test_the_home_of_each_platform(
    platform: str, env: dict[str, str], home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert checkrein_home(env) == Path(home)


def test_a_relative_home_is_below_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert checkrein_home({"CHECKREIN_HOME": "mine"}) == tmp_path / "mine"


def test_a_private_directory_is_the_users_alone(tmp_path: Path) -> None:
    made = private_dir(tmp_path / "a" / "b")
    assert made.stat().st_mode & 0o777 == 0o700
