"""A run's git repository, on two machines that share only the remote."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from checkrein.base.errors import RunError
from checkrein.recipes.artifacts import LARGEST, kept
from checkrein.recipes.git_workspace import GitWorkspace
from checkrein.recipes.outcome import Outcome
from checkrein.recipes.port import Task


def git(*arguments: str, cwd: Path) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    return subprocess.run(
        ("git", *who, *arguments), cwd=cwd, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    seed, bare = tmp_path / "seed", tmp_path / "remote.git"
    seed.mkdir()
    git("init", "-q", "-b", "main", cwd=seed)
    (seed / "a.txt").write_text("one\n")
    git("add", ".", cwd=seed)
    git("commit", "-qm", "first", cwd=seed)
    git("clone", "-q", "--bare", str(seed), str(bare), cwd=tmp_path)
    return bare


def task(path: str, branch: str = "") -> Task:
    return Task(
        run_id="r-1",
        path=path,
        key=f"r-1/{path}",
        step=path,
        tool="run_cmd",
        arguments={},
        effect="pure",
        branch=branch,
    )


def machine(tmp_path: Path, remote: Path, name: str) -> GitWorkspace:
    return GitWorkspace("r-1", f"file://{remote}", tmp_path / name, lambda: None)


def work(workspace: GitWorkspace, where: Task, file: str, text: str) -> None:
    with workspace.visit(where) as cwd:
        (Path(cwd) / file).write_text(text)


def die_in(workspace: GitWorkspace, where: Task) -> None:
    with workspace.visit(where) as cwd:
        (Path(cwd) / "half.txt").write_text("half")
        raise KeyboardInterrupt


def test_another_machine_goes_on_from_the_last_step_that_ended(tmp_path: Path, remote: Path) -> None:
    here, there = machine(tmp_path, remote, "here"), machine(tmp_path, remote, "there")
    work(here, task("build"), "b.txt", "two")
    with pytest.raises(KeyboardInterrupt):
        die_in(here, task("test"))
    with there.visit(task("test")) as cwd:
        assert sorted(one.name for one in Path(cwd).iterdir() if one.name != ".git") == ["a.txt", "b.txt"]
    with here.visit(task("again")) as cwd:
        assert not (Path(cwd) / "half.txt").exists()
    assert "build" in git("log", "--format=%s", "checkrein/r-1", cwd=remote)
    assert git("show", "main:a.txt", cwd=remote) == "one\n"


def test_branches_have_worktrees_and_come_together(tmp_path: Path, remote: Path) -> None:
    here, there = machine(tmp_path, remote, "here"), machine(tmp_path, remote, "there")
    work(here, task("plan"), "plan.txt", "p")
    work(here, task("both/left/a", "both/left"), "left.txt", "l")
    work(there, task("both/right/b", "both/right"), "right.txt", "r")
    with here.visit(task("both/left/c", "both/left")) as cwd:
        assert (Path(cwd) / "plan.txt").exists()
        assert not (Path(cwd) / "right.txt").exists()
    assert there.merge("r-1", "", ["both/left", "both/right", "both/idle"]) is None
    with here.visit(task("last")) as cwd:
        assert {"left.txt", "right.txt", "plan.txt"} <= {one.name for one in Path(cwd).iterdir()}


def test_branches_that_contradict_each_other_are_a_failure(tmp_path: Path, remote: Path) -> None:
    here = machine(tmp_path, remote, "here")
    work(here, task("both/left/a", "both/left"), "a.txt", "left\n")
    work(here, task("both/right/b", "both/right"), "a.txt", "right\n")
    problem = here.merge("r-1", "", ["both/left", "both/right"])
    assert problem is not None
    assert "both/right" in problem
    with here.visit(task("mend")) as cwd:
        assert (Path(cwd) / "a.txt").read_text() == "one\n", "nothing of a merge that failed stays"


@pytest.mark.parametrize(
    "url", ["ext::sh -c true", "-oProxyCommand=x", "relative/path", "https://h/r --upload"]
)
def test_only_addresses_are_taken(url: str, tmp_path: Path) -> None:
    with pytest.raises(RunError):
        GitWorkspace("r-1", url, tmp_path, lambda: None)


def test_a_remote_that_is_not_there_is_a_failure_with_its_name(tmp_path: Path) -> None:
    with (
        pytest.raises(RunError, match="clone failed"),
        machine(tmp_path, tmp_path / "no", "here").visit(task("a")),
    ):
        pass


def test_a_large_result_becomes_a_file(tmp_path: Path) -> None:
    whole = Outcome(state="success", result={"stdout": "x" * LARGEST + "end", "exit_code": 0})
    short = kept(whole, task("a/b[1]"), str(tmp_path / "f"))
    assert short.result["stdout"].endswith("xend")
    assert len(short.result["stdout"]) < LARGEST
    assert Path(short.result["artifact"]).stat().st_size > LARGEST
    assert kept(whole, task("a"), None) is whole


def test_results_of_two_steps_never_share_a_file_and_long_paths_have_one(tmp_path: Path) -> None:
    whole = Outcome(state="success", result={"stdout": "x" * LARGEST})
    paths = ("each[1]/x", "each-1-x", "a" * 300, "b" + "a" * 299)
    files = {kept(whole, task(path), str(tmp_path)).result["artifact"] for path in paths}
    assert len(files) == len(paths)


def test_a_link_in_the_workspace_leads_no_result_out_of_it(tmp_path: Path) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "outside"
    tree.mkdir()
    outside.mkdir()
    (tree / ".checkrein").symlink_to(outside)
    whole = Outcome(state="success", result={"stdout": "x" * LARGEST})
    with pytest.raises(RunError, match="leads out"):
        kept(whole, task("a"), str(tree / ".checkrein" / "artifacts"), str(tree))
    assert not list(outside.iterdir())


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_git_never_reads_a_repository_that_a_step_put_there(kind: str, tmp_path: Path, remote: Path) -> None:
    """A filter in its configuration would run outside of every rule."""
    here, ran = machine(tmp_path, remote, "here"), tmp_path / "ran"
    evil = tmp_path / "evil"
    git("init", "-q", str(evil), cwd=tmp_path)
    git("config", "filter.x.clean", f"touch {ran}; cat", cwd=evil)

    def swap() -> None:
        with here.visit(task("a")) as cwd:
            tree = Path(cwd)
            (tree / ".gitattributes").write_text("* filter=x\n")
            (tree / ".git").unlink()
            if kind == "folder":
                (evil / ".git").rename(tree / ".git")
            elif kind == "file":
                (tree / ".git").write_text(f"gitdir: {evil}/.git\n")
            else:
                (tree / ".git").symlink_to(evil / ".git")

    with pytest.raises(RunError, match="is not kept"):
        swap()
    assert not ran.exists()
    work(here, task("b"), "b.txt", "two")
    assert git("show", "checkrein/r-1:b.txt", cwd=remote) == "two"
