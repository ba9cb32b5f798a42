"""`checkrein recipe list|show|check|graph|card|migrate`, as a user calls them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run
from checkrein.passes.checks.recipe_examples import TEST, ingredients, recipe

Ask = Callable[..., Any]

SUB = recipe(TEST.replace("over", "done").replace("failed", "escalate"), name="prepare", ends="")
GATE = ingredients('careful: {description: Prepare first, default: "false"}', "task: {required: true}")
BUILD = recipe(
    "  prepare: {sub_recipe: prepare, gate: careful, on_success: test, on_failure: failed}\n",
    TEST.replace("path: .", 'path: "${{ inputs.task }}"'),
    head=GATE,
)
OLD = """\
name: old  # a comment
autoskillit_version: "0.8.0"
kitchen_rules: [NEVER use Bash]
steps:
  test:
    tool: test_check
    with: {worktree_path: "{{AUTOSKILLIT_TEMP}}/x"}
    retry:
      max_attempts: 2
      on_exhausted: over
    on_failure: over
    on_result:
      field: passed
      routes:
        "true": over
        "it's": over
  flow: {tool: test_check, retry: {max_attempts: 1}, on_success: over}  # keep me
  over: {action: stop, message: The end.}
"""


@pytest.fixture
def kitchen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two recipes, one of them broken."""
    folder = tmp_path / "p" / ".checkrein" / "recipes"
    (folder / "sub-recipes").mkdir(parents=True)
    (tmp_path / "p" / ".git").mkdir()
    (folder / "build.yaml").write_text(BUILD)
    (folder / "sub-recipes" / "prepare.yaml").write_text(SUB)
    (folder / "bad.yaml").write_text(recipe(TEST.replace("failed", "faild"), name="bad"))
    (folder / "broken.yaml").write_text("name: [")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "p")
    return folder


def test_list(kitchen: Path, ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    answer = ask("recipe", "list", status=0)
    rows = {row["name"]: row for row in answer["recipes"]}
    assert "prepare" not in rows
    assert (rows["build"]["errors"], rows["bad"]["errors"]) == (0, 1)
    assert rows["build"]["inputs"] == ["task"]
    assert "prepare" in {row["name"] for row in ask("recipe", "list", "--all")["recipes"]}
    assert run(["recipe", "list"]) == 0
    told = capsys.readouterr()
    assert "Build and test. (needs task)" in told.out
    assert "broken.yaml:2: The file is not YAML" in told.err


def test_show_has_the_steps_behind_an_open_gate(
    kitchen: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ask("recipe", "show", "build", status=0)
    assert [step["name"] for step in data["steps"]] == ["test", "over", "failed"]
    data = ask("recipe", "show", "build", "--input", "careful=yes", status=0)
    assert [step["name"] for step in data["steps"]] == ["prepare_test", "test", "over", "failed"]
    assert data["parts"] == ["prepare"]
    assert data["steps"][0]["routes"] == [["success", "test"], ["failure", "failed"]]
    assert run(["recipe", "show", str(kitchen / "build.yaml")]) == 0
    shown = capsys.readouterr().out
    assert "task (required)" in shown
    assert "test  test_check [pure]" in shown


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("buidl", "There is no recipe 'buidl'. Did you mean 'build'?"),
        ("broken", "can't be read: The file is not"),
    ],
)
def test_a_name_that_leads_nowhere(kitchen: Path, ask: Ask, name: str, said: str) -> None:
    error = ask("recipe", "show", name, status=1)
    assert error["kind"] == "recipe_not_found"
    assert said in error["message"]


def test_inputs_have_names(kitchen: Path, ask: Ask) -> None:
    assert "NAME=VALUE" in ask("recipe", "show", "build", "--input", "x", status=2)["message"]


def test_check(kitchen: Path, ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    data = ask("recipe", "check", status=1)
    assert [(one["code"], one["origin"]["file"].rpartition("/")[2]) for one in data["findings"]] == [
        ("RCP008", "bad.yaml"),
        ("RECIPE001", "broken.yaml"),
    ]
    assert data["invalid"] == ["bad"]
    assert ask("recipe", "check", "build", status=0)["findings"] == []
    assert run(["recipe", "check", "bad"]) == 1
    assert "can't run: bad" in capsys.readouterr().out


def test_what_is_wrong_elsewhere_is_not_about_recipes(kitchen: Path, ask: Ask) -> None:
    (kitchen.parents[1] / "CLAUDE.md").symlink_to("nowhere")
    (kitchen / "broken.yaml").unlink()
    (kitchen / "bad.yaml").unlink()
    assert ask("recipe", "check", status=0)["findings"] == []
    data = ask("recipe", "show", str(kitchen / "build.yaml"), status=0)
    assert (data["scope"], data.get("shadows")) == ("project", None)


def test_the_project_check_and_show_read_recipes_too(kitchen: Path, ask: Ask) -> None:
    data = ask("check", "--no-cache", status=1)
    assert {one["code"] for one in data["findings"]} == {"RCP008", "RECIPE001"}
    assert data["examined"]["counts"]["recipes"] == 3
    only = ask("check", "--no-cache", str(kitchen / "bad.yaml"), status=1)
    assert {one["code"] for one in only["findings"]} == {"RCP008"}
    assert [row["name"] for row in ask("show", "recipes", status=0)["rows"]] == [
        "prepare",
        "bad",
        "build",
    ]
    assert ask("show", "build", status=0)["items"][0]["kind"] == "recipe"


def test_graphs(kitchen: Path, ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    mermaid = ask("recipe", "graph", "build", "--form", "mermaid", status=0)["graph"]
    assert mermaid.startswith("flowchart TD\n")
    assert '  s0["test<br/>test_check"]' in mermaid
    assert '  s0 -.->|"failure"| s2' in mermaid
    assert run(["recipe", "graph", "build"]) == 0
    assert "  test: test_check\n    success -> over\n    failure -> failed\n" in capsys.readouterr().out


def test_a_written_diagram_and_card_become_stale(kitchen: Path, ask: Ask) -> None:
    assert ask("recipe", "graph", "build", "--write", status=0)["written"].endswith("diagrams/build.md")
    first = (kitchen / "diagrams/build.md").read_bytes()
    ask("recipe", "graph", "build", "--write", status=0)
    assert (kitchen / "diagrams/build.md").read_bytes() == first
    ask("recipe", "card", "build", "--write", status=0)
    assert ask("recipe", "check", "build", status=0)["findings"] == []
    (kitchen / "build.yaml").write_text(BUILD.replace("test_check\n", "test_check\n    block: gate\n"))
    found = ask("recipe", "check", "build", status=0)["findings"]
    assert [(one["code"], one["severity"]) for one in found] == [("RCP022", "warning"), ("RCP023", "warning")]
    assert "block_composition_drift" in found[0]["message"]
    stale = ask("recipe", "card", "build", status=0)["stale"]
    assert [one["reason"] for one in stale] == ["block_composition_drift"]


def test_nothing_is_written_through_a_link(kitchen: Path, ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (kitchen / "diagrams").symlink_to(tmp_path / "elsewhere")
    assert ask("recipe", "graph", "build", "--write", status=1)["kind"] == "recipe_not_own"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_migrate_shows_a_diff_and_writes_only_when_told(
    kitchen: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("bad.yaml", "broken.yaml"):
        (kitchen / name).unlink()
    file = kitchen / "old.yaml"
    file.write_text(OLD)
    found = ask("recipe", "check", "old", status=1)["findings"]
    assert {one["code"] for one in found if one["severity"] == "error"} == {"RECIPE004"}
    data = ask("recipe", "migrate", status=0)
    assert [one["applied"] for one in data["changes"]] == [
        ["retry-block", "result-list", "temp-name", "version"]
    ]
    assert file.read_text() == OLD
    assert run(["recipe", "migrate", "--write"]) == 0
    assert "+    retries: 2" in capsys.readouterr().out
    after = file.read_text()
    assert "name: old  # a comment\n" in after
    assert "flow: {tool: test_check, retries: 1, on_success: over}  # keep me\n" in after
    assert "    retries: 2\n    on_exhausted: over\n" in after
    assert """- {when: "${{ result.passed }} == 'it\\\\'s'", route: over}""" in after
    assert "AUTOSKILLIT" not in after
    assert ask("recipe", "check", "old", status=0)["counts"]["error"] == 0
    assert ask("recipe", "migrate", "--write", status=0)["changes"] == []
