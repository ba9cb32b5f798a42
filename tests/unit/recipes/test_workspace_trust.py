"""A recipe's workspace is cloned and pushed to as the user: only trust lets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.base.errors import PolicyError
from checkrein.passes.load import load
from checkrein.runtime.session.options import Options
from checkrein.runtime.trust.status import status, trust
from checkrein.serve.recipes.project_recipes import plan_of
from checkrein.serve.recipes.workspace_trust import require_trust

RECIPE = """
name: build
kitchen_rules: ["Only routes decide."]
workspace: {address}
steps:
  over: {{action: stop, message: Over.}}
"""


@pytest.fixture
def cloner(tmp_path: Path) -> Path:
    folder = tmp_path / "p"
    (folder / ".checkrein" / "recipes").mkdir(parents=True)
    (folder / ".git").mkdir()
    write(folder, "ssh://git@host/app.git")
    return folder


def write(cloner: Path, address: str, file: str = "build.yaml") -> None:
    (cloner / ".checkrein" / "recipes" / file).write_text(RECIPE.format(address=address))


def test_a_workspace_is_part_of_what_a_project_runs(cloner: Path) -> None:
    (item,) = status(load(str(cloner))).items
    assert (item.kind, item.label) == ("workspace", "build: ssh://git@host/app.git")
    assert item.origin.line == 4


@pytest.mark.parametrize("address", ['"s\\x73h://git@host/app.git"', "https://u:secret@host/app.git"])
def test_however_it_is_written(address: str, cloner: Path) -> None:
    write(cloner, address)
    (item,) = status(load(str(cloner))).items
    assert "host/app.git" in item.label
    assert "secret" not in item.label


def test_without_trust_nothing_is_cloned(cloner: Path) -> None:
    plan = plan_of("build", str(cloner), {})
    with pytest.raises(PolicyError, match="not trusted"):
        require_trust(plan, str(cloner), Options())
    require_trust(plan, str(cloner), Options(trust=True))
    trust(load(str(cloner)))
    require_trust(plan, str(cloner), Options())
    with pytest.raises(PolicyError):
        require_trust(plan, None, Options())


def test_trust_ends_when_the_address_changes(cloner: Path) -> None:
    trust(load(str(cloner)))
    write(cloner, "file:///elsewhere.git")
    with pytest.raises(PolicyError):
        require_trust(plan_of("build", str(cloner), {}), str(cloner), Options())


def test_a_plan_that_calls_itself_bundled_is_not_believed(cloner: Path, tmp_path: Path) -> None:
    from msgspec.structs import replace

    plan = plan_of("build", str(cloner), {})
    trust(load(str(cloner)))
    forged = replace(plan, origin=replace(plan.origin, file=str(tmp_path / "other.yaml"), scope="bundled"))
    with pytest.raises(PolicyError):
        require_trust(forged, str(cloner), Options())
