"""The token of the HTTP server: where it comes from, who can read it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from checkrein.base.errors import CheckreinError
from checkrein.passes.load import load
from checkrein.serve.mcp.token import token


def test_it_is_made_once_for_the_user_alone(project: Path) -> None:
    place = load(str(project)).place
    made, file = token(place, None)
    assert file is not None
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    assert len(made) >= 40
    assert token(place, None) == (made, file)
    other = project / "own.token"
    assert token(place, str(other))[0] != made
    assert stat.S_IMODE(other.stat().st_mode) == 0o600


def test_the_configured_one_wins_and_a_project_can_not_set_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = load(str(project)).place
    (project / "checkrein.toml").write_text('[serve]\ntoken = "chosen-by-the-project-0"\n')
    assert token(place, None)[0] != "chosen-by-the-project-0"
    monkeypatch.setenv("CHECKREIN_SERVE__TOKEN", "chosen-by-the-user-0")
    assert token(place, None) == ("chosen-by-the-user-0", None)


@pytest.mark.parametrize("weak", ["", "short", "has space in it 0123456789", "ümlaut-0123456789"])
def test_a_weak_one_is_refused_and_not_shown(project: Path, weak: str) -> None:
    file = project / "weak.token"
    file.write_text(weak)
    with pytest.raises(CheckreinError) as refused:
        token(load(str(project)).place, str(file))
    assert not weak or weak not in str(refused.value)
