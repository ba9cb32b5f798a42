"""Two machines that share a database and a remote: one dies, the other goes on from its last step."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checkrein.serve.recipes.house import open_house
from support.recipe_staff import Shop

RECIPE = """
name: build
summary: three steps in a repository of their own
kitchen_rules: ["Only routes decide."]
workspace: file://{remote}
steps:
  one:
    tool: run_cmd
    effect: pure
    with: {{cmd: "echo one > one.txt"}}
    on_success: two
  two:
    tool: run_cmd
    effect: pure
    with:
      cmd: |
        touch half.txt && cat one.txt && echo $CHECKREIN_HOME > {mark} && sleep ${{SLOW:-0}}
        mv half.txt two.txt
    on_success: done
"""


def git(*arguments: str, cwd: Path) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    done = subprocess.run(("git", *who, *arguments), cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout


def worker(home: Path, url: str, project: Path, **more: str) -> subprocess.Popen[bytes]:
    env = {**os.environ, "CHECKREIN_HOME": str(home), "CHECKREIN_RECIPES__DATABASE": f'"{url}"', **more}
    command = (sys.executable, "-m", "checkrein", "recipe", "worker", "--trust", "--allow", "Bash")
    out = subprocess.DEVNULL
    return subprocess.Popen((*command, "-C", str(project)), env=env, stdout=out, stderr=out)


def test_the_other_machine_goes_on_from_the_branch(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from checkrein.serve.recipes.house import Ask
    from checkrein.serve.recipes.project_recipes import plan_of

    project, remote, mark = tmp_path / "p", tmp_path / "remote.git", tmp_path / "mark"
    (project / ".checkrein" / "recipes").mkdir(parents=True)
    git("init", "-q", "-b", "main", cwd=project)
    text = RECIPE.format(remote=remote, mark=mark)
    (project / ".checkrein" / "recipes" / "build.yaml").write_text(text)
    git("add", ".", cwd=project)
    git("commit", "-qm", "first", cwd=project)
    git("clone", "-q", "--bare", str(project), str(remote), cwd=tmp_path)
    monkeypatch.setenv("CHECKREIN_RECIPES__DATABASE", f'"{postgres}"')
    first, second = tmp_path / "first", tmp_path / "second"
    running = [worker(first, postgres, project, SLOW="300")]
    try:
        with open_house(str(project)) as house:
            run = house.add(plan_of("build", str(project), {}), str(project), Ask())
        limit = time.monotonic() + 60
        while not mark.exists():
            assert time.monotonic() < limit
            time.sleep(0.05)
        running[0].kill()
        running.append(worker(second, postgres, project))
        shop = Shop(tmp_path / "watch", postgres)
        assert shop.settled(run, 60) == "done", shop.desk.view(run)
        shop.close()
    finally:
        for one in running:
            one.kill()
            one.wait()
    assert mark.read_text().strip() == str(second)
    files = git("ls-tree", "--name-only", f"checkrein/{run}", cwd=remote).split()
    assert {"one.txt", "two.txt"} <= set(files)
    assert "half.txt" not in files
