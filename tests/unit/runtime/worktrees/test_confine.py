"""A child that works in a worktree can't change the main checkout: by its text, and in the kernel."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.policy.decide import decide
from checkrein.policy.isolation import Isolation
from checkrein.policy.judge_starts import judge_start, watch
from checkrein.policy.policy import compile_policy
from checkrein.policy.situation import Situation
from checkrein.policy.starts import Answer, Started
from checkrein.policy.values import Call, Decision, KernelLayer, Mode, Verdict
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.process.binder import Binder
from checkrein.runtime.process.guard.guard import Guard
from checkrein.runtime.process.spawner import Command, Completed, Spawner
from checkrein.runtime.session.control import Control
from checkrein.runtime.worktrees.confine import confine
from checkrein.runtime.worktrees.worktree import Worktree
from checkrein.runtime.worktrees.worktrees import Worktrees
from support.calls import rules
from support.repositories import GIT_ENV, git, make_repository

ALL: tuple[KernelLayer, ...] = ("exec", "files", "network")


class Confined:
    def __init__(self, trees: Worktrees, spawner: Spawner) -> None:
        self.trees = trees
        self.tree: Worktree = trees.create("fix", "child", Cancel())
        self.main = Path(trees.repository.root)
        self.path = Path(self.tree.path)
        self.spawner = spawner
        self.binder = Binder((str(self.main),), {})

    def situation(
        self, *texts: str, mode: Mode = "bypassPermissions", layers: tuple[KernelLayer, ...] = ()
    ) -> Situation:
        above = Situation(
            policy=compile_policy(rules(*texts), mode),
            root=str(self.main),
            home="/nonexistent",
            layers=layers,
        )
        return confine(above, self.trees.repository, self.tree)

    def decide(self, tool: str, situation: Situation | None = None, **input: str) -> Decision:
        found = situation or self.situation()
        return found.decide(Call(tool, input), found.context(str(self.path)))

    def bash(self, command: str, situation: Situation | None = None) -> Verdict:
        return self.decide("Bash", situation, command=command).verdict

    def run(self, text: str) -> Completed:
        """With the guard, as an approved command runs."""
        situation = self.situation(layers=ALL)
        policy, context = situation.bound(situation.policy), situation.context(str(self.path))

        class Judge:
            def judge(self, started: Started, cancel: Cancel) -> Answer:
                found = judge_start(policy, started, context)
                return Answer(found is None, found.reason if found else "")

        command = Command(
            argv=text,
            cwd=str(self.path),
            origin=Origin("<bundled>", "bundled"),
            purpose="a test",
            env={**GIT_ENV, "MAIN": str(self.main)},
            merge_stderr=True,
            timeout=60,
            guard=Guard(watch=watch(policy, context), judge=Judge()),
        )
        return self.spawner.run(self.binder.bind(command, policy, context), Cancel())


@pytest.fixture
def confined(trees: Worktrees) -> Iterator[Confined]:
    with Spawner(lambda origin: True) as spawner:
        made = Confined(trees, spawner)
        yield made
        made.binder.close()


def snapshot(root: Path, but: Path) -> dict[str, tuple[int, bytes]]:
    """Every file of the main checkout and of its repository, without objects and other worktrees."""
    found = {}
    for directory, folders, files in os.walk(root):
        here = Path(directory)
        folders[:] = [name for name in folders if here / name != but and name not in ("objects", "fix")]
        for name in files:
            path = here / name
            if path.name not in ("worktree-fix", "stash"):
                found[str(path)] = (path.lstat().st_mode, path.read_bytes())
    return found


def test_edits_stay_in_the_worktree(confined: Confined) -> None:
    wt, main = confined.path, confined.main
    for tool, field in (("Edit", "file_path"), ("Write", "file_path"), ("NotebookEdit", "notebook_path")):
        for path in (
            main / "a.txt",
            main / "new",
            main / ".claude/worktrees/other/x",
            main / ".claude/worktrees/fix2",
            main / ".claude/settings.json",
            main / ".git/config",
            main / ".git/hooks/pre-commit",
            main / ".git/refs/heads/main",
            main / ".git/checkrein/worktrees/fix.json",
            main / ".git/worktrees/fix/commondir",
            wt / ".git",
            wt / "../../../a.txt",
            wt / "sub/../../fix/../../../a.txt",
        ):
            assert confined.decide(tool, **{field: str(path)}).verdict == "deny", path
        assert confined.decide(tool, **{field: str(wt / "a.txt")}).verdict == "allow"
        assert confined.decide(tool, **{field: "sub/new.txt"}).verdict == "allow"
    named = confined.decide("Edit", file_path=str(main / "a.txt"))
    assert named.rule == "the worktree fix"


def test_reading_the_main_checkout_is_allowed(confined: Confined) -> None:
    calm = confined.situation(mode="default")
    assert confined.decide("Read", calm, file_path=str(confined.main / "a.txt")).verdict == "allow"
    assert confined.decide("Read", calm, file_path=str(confined.path / "a.txt")).verdict == "allow"
    assert confined.bash(f"cat {confined.main}/a.txt", calm) == "allow"
    assert confined.bash(f"diff a.txt {confined.main}/a.txt", calm) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "echo x > $MAIN/a.txt",
        "echo x >> ../../../a.txt",
        "cp a.txt $MAIN/b.txt",
        "rm -rf $MAIN/sub",
        "touch $MAIN/new",
        "cd $MAIN && make",
        "cd ../../.. && ls",
        "(cd $MAIN; git commit -am x)",
        "bash -c 'cd $MAIN; touch x'",
        "pushd $MAIN; touch x",
        "env -C $MAIN touch x",
        "git -C $MAIN commit -am x",
        "git -C ../../.. status",
        "git --git-dir=$MAIN/.git log",
        "git --git-dir $MAIN/.git add .",
        "git --work-tree=$MAIN checkout .",
        "git --no-pager -C $MAIN log",
        "GIT_DIR=$MAIN/.git git add .",
        "GIT_WORK_TREE=$MAIN git checkout .",
        "export GIT_DIR=$MAIN/.git; git add .",
        "env GIT_INDEX_FILE=$MAIN/.git/index git add .",
        "git -c core.worktree=$MAIN checkout .",
        "/usr/bin/git -C $MAIN gc",
        "command git -C $MAIN gc",
        "ln -sf x $MAIN/a.txt",
        "mv a.txt $MAIN/b.txt",
        "tee $MAIN/a.txt < a.txt",
        "sed -i s/a/b/ $MAIN/a.txt",
        "timeout 5 git -C $MAIN gc",
        "find . -exec git -C $MAIN gc \\;",
        "git -C sub -C $MAIN/sub gc",
        "read -r GIT_DIR <<< $MAIN/.git; export GIT_DIR; git add .",
        "declare -x GIT_WORK_TREE=$MAIN; git checkout .",
        "nohup sh -c 'cd $MAIN && make' &",
        "echo x > ../fix2",
        "mkdir '../fix\n'",
    ],
)
def test_the_text_of_a_command_is_enough(confined: Confined, text: str) -> None:
    """Even where the mode lets everything run, and no layer holds."""
    text = text.replace("$MAIN", str(confined.main))
    assert confined.bash(text) == "deny", text


@pytest.mark.parametrize(
    "text",
    [
        'cd "$X" && touch y',
        'git -C "$X" gc',
        'python3 -c \'open("$MAIN" + "/a.txt", "w")\'',
        "ln a.txt $MAIN/../$(basename $MAIN)/b.txt",
        "bash ./script.sh",
        "eval $CODE",
        "make",
    ],
)
def test_what_the_text_leaves_open_is_never_allowed_without_the_layers(confined: Confined, text: str) -> None:
    text = text.replace("$MAIN", str(confined.main))
    calm = confined.situation("allow Edit", mode="acceptEdits")
    assert confined.bash(text, calm) != "allow"


@pytest.mark.parametrize(
    "text", ['cd "$X" && touch y', 'git -C "$X" gc', "eval $CODE", "touch {$MAIN,.}/x", "cat <<E > $X/a\nE"]
)
def test_no_mode_lets_pass_what_can_not_be_verified(confined: Confined, text: str) -> None:
    assert confined.bash(text.replace("$MAIN", str(confined.main))) != "allow"


@pytest.mark.parametrize(
    "text",
    [
        "git status",
        "git diff",
        "git log --oneline",
        "git add -A",
        "git commit -m x",
        "git -C sub status",
        "cd sub && ls",
        "echo x > new.txt",
        "rm a.txt",
        "mkdir -p deep/er && touch deep/er/x",
        "python3 x.py",
        "git stash",
        "git stash pop",
        "git checkout -- a.txt",
        "git checkout .",
        "git rebase main",
        "git merge --no-edit main",
        "git branch",
        "git rev-parse HEAD",
        "echo x > /tmp/elsewhere",
        "grep -r GIT_DIR=x .",
        "git commit -m GIT_DIR=x",
    ],
)
def test_normal_work_needs_nothing_more(confined: Confined, text: str) -> None:
    assert confined.bash(text) == "allow"
    assert confined.bash(text, confined.situation(layers=ALL)) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "git update-ref refs/heads/main HEAD",
        "git push . HEAD:main -f",
        "git fetch . HEAD:other -f",
        "git branch -f other HEAD",
        "git checkout -B other",
        "git checkout -fB other",
        "git checkout other && git commit -qam x",
        "git switch -C other",
        "git rebase main other",
        "git stash branch other",
        "git symbolic-ref refs/heads/other refs/heads/main",
        "git tag x",
        "git config user.name evil",
        "git remote add evil /nowhere",
        "git worktree prune",
        "git worktree unlock .",
        "git replace HEAD HEAD~1",
        "git notes add -m x",
        "git gc",
        "git $SUB",
        "git alias-of-somebody",
    ],
)
def test_what_all_checkouts_share_needs_approval_where_no_layer_holds(confined: Confined, text: str) -> None:
    assert confined.bash(text) != "allow"
    assert confined.bash(text, confined.situation(layers=ALL)) == "allow" or "$" in text


def test_denies_hold_in_both_checkouts_and_allows_move(confined: Confined) -> None:
    main, wt = confined.main, confined.path
    anchored = [
        *rules("deny Read(./.env)", "deny Read(secrets/**)", "deny Edit(/sub/b.txt)", "allow Edit(/sub/**)"),
        *rules(f"deny Read(//{str(main)[1:]}/deep/key)"),
    ]
    policy = compile_policy([replace(rule, anchor=str(main)) for rule in anchored])
    above = Situation(policy=policy, root=str(main), home="/nonexistent")
    child = confine(above, confined.trees.repository, confined.tree)
    for root in (main, wt):
        for name in (".env", "secrets/x", "deep/secrets/x", "deep/key"):
            assert confined.decide("Read", child, file_path=str(root / name)).verdict == "deny", name
        assert confined.decide("Edit", child, file_path=str(root / "sub/b.txt")).verdict == "deny"
    assert confined.decide("Edit", child, file_path=str(wt / "sub/c.txt")).verdict == "allow"
    assert confined.decide("Edit", child, file_path=str(main / "sub/c.txt")).verdict == "deny"
    assert confined.decide("Edit", child, file_path=str(wt / "c.txt")).verdict == "ask"


def test_a_grandchild_leaves_the_worktree_above_alone(confined: Confined) -> None:
    inner = confined.trees.create("inner", "grandchild", Cancel())
    child = confined.situation()
    grandchild = confine(child, confined.trees.repository, inner)
    for path, verdict in ((inner.path, "allow"), (confined.tree.path, "deny"), (str(confined.main), "deny")):
        call = Call("Edit", {"file_path": f"{path}/a.txt"})
        policy = grandchild.bound(child.bound(child.policy))
        assert decide(policy, call, grandchild.context(inner.path)).verdict == verdict
    assert isinstance(grandchild.isolation, Isolation)


def test_a_session_in_a_subdirectory(confined: Confined) -> None:
    above = Situation(policy=compile_policy((), "acceptEdits"), root=str(confined.main / "sub"))
    child = confine(above, confined.trees.repository, confined.tree)
    assert child.root == str(confined.path / "sub")


def test_the_gate_of_a_child_keeps_the_fence_whatever_changes(confined: Confined) -> None:
    policy = compile_policy(rules("allow Edit", "allow Bash"), "bypassPermissions")
    above = Situation(policy=policy, root=str(confined.main), home="/nonexistent")
    parent = Gate(above, Control())
    child = Gate(confine(above, confined.trees.repository, confined.tree), Control(), above=parent)
    child.grant_for_turn(rules("allow Edit(//**)"))
    child.set_mode("bypassPermissions")
    parent.set_mode("acceptEdits")
    cwd = str(confined.path)
    assert child.decide("Edit", {"file_path": str(confined.main / "a.txt")}, cwd).verdict == "deny"
    assert child.decide("Edit", {"file_path": str(confined.path / "a.txt")}, cwd).verdict == "allow"
    assert child.decide("Bash", {"command": f"git -C {confined.main} gc"}, cwd).verdict == "deny"
    assert parent.decide("Edit", {"file_path": str(confined.main / "a.txt")}, cwd).verdict == "allow"


needs_guard = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")


@needs_guard
@pytest.mark.parametrize(
    "text",
    [
        "echo x > $MAIN/a.txt",
        "X=$MAIN; cd $X; echo x > a.txt",
        'python3 -c \'import os; open(os.environ["MAIN"] + "/a.txt", "w").write("x")\'',
        'python3 -c \'import os; os.chdir(os.environ["MAIN"]); os.rename("a.txt", "z.txt")\'',
        "mv $MAIN/sub moved; mv $MAIN/.git gone; mv $MAIN elsewhere",
        "ln $MAIN/a.txt hard && echo x > hard",
        "ln -s $MAIN/a.txt soft; echo x > soft",
        "ln -s $MAIN dir; rm -rf dir/sub; touch dir/new",
        "echo x > /proc/self/cwd/../../../a.txt",
        "rm -rf $MAIN/sub $MAIN/.git/hooks $MAIN/.git/config",
        "chmod 000 $MAIN/a.txt",
        "git -C $MAIN commit --allow-empty -qm x",
        "GIT_DIR=$MAIN/.git GIT_WORK_TREE=$MAIN git commit --allow-empty -qm x",
        "GIT_DIR=$MAIN/.git GIT_INDEX_FILE=$PWD/i git commit --allow-empty -qm x",
        "GIT_WORK_TREE=$MAIN git checkout -q --force HEAD~0 -- . ; GIT_WORK_TREE=$MAIN git clean -qfdx",
        "git update-ref refs/heads/main $(git commit-tree -m x HEAD^{tree})",
        "git branch -f other HEAD; git tag t; git config user.name evil",
        "git config core.fsmonitor ./evil; git worktree remove --force .",
        "echo 'gitdir: /nowhere' > .git; rm .git; mv .git x",
        "echo /nowhere > $MAIN/.git/worktrees/fix/commondir",
        "echo /nowhere > $MAIN/.git/worktrees/fix/gitdir; touch $MAIN/.git/worktrees/fix/config.worktree",
        "echo '#!/bin/sh' > $MAIN/.git/hooks/pre-commit",
        "mkdir $'../fix\\n' ../fix.x; echo x > $'../fix\\n/a'",
        "git worktree add -f ../other; git pack-refs --all; git gc -q --prune=now",
    ],
)
def test_the_kernel_holds_it(confined: Confined, text: str) -> None:
    git(confined.main, "branch", "kept")
    before = snapshot(confined.main, confined.path)
    tie = (confined.path / ".git").read_bytes()
    confined.run(text)
    assert snapshot(confined.main, confined.path) == before
    assert (confined.path / ".git").read_bytes() == tie
    ties = confined.main / ".git/worktrees/fix"
    assert not (ties / "config.worktree").exists()
    assert (ties / "commondir").read_text() == "../..\n"
    assert (ties / "gitdir").read_text() == f"{confined.path}/.git\n"


@needs_guard
def test_a_refusal_names_the_worktree(confined: Confined) -> None:
    done = confined.run("echo x > $MAIN/a.txt; git -C $MAIN status")
    assert [(one.effect, one.rule) for one in done.refused] == [("write", "the worktree fix"), ("exec", None)]
    assert "keeps out of" in done.refused[1].reason


@needs_guard
def test_git_works_inside(confined: Confined) -> None:
    done = confined.run(
        "set -e; echo more >> a.txt; git status --short; git diff --stat; git add -A; git commit -qm own;"
        " echo again >> a.txt; git stash -q; git stash list; git stash pop -q; git checkout -q -- a.txt;"
        " echo new > n; git add n; git commit -q --amend -m own2; git log --oneline;"
        " git reset -q --soft HEAD~1; git commit -qm own3; git restore --staged .; git rm -q n;"
        " git commit -qm own4; mkdir d; mv a.txt d/;"
        " git show --stat HEAD; cat $MAIN/a.txt; echo end"
    )
    assert done.exit_code == 0, done.stdout.decode()
    assert done.stdout.decode().endswith("a\nend\n")
    assert git(confined.path, "log", "--format=%s").splitlines() == ["own4", "own3", "first"]
    assert git(confined.main, "log", "--format=%s", "main") == "first"
    assert git(confined.main, "status", "--porcelain") == ""


@needs_guard
def test_a_child_that_breaks_its_own_worktree_loses_nothing(confined: Confined) -> None:
    """What ties the worktree to its repository is compared before git is believed."""
    subprocess.run(["rm", "-rf", confined.tree.path], check=True)
    confined.path.symlink_to(confined.main)
    kept = confined.trees.finish(confined.tree, Cancel())
    assert kept is not None
    assert (confined.main / "a.txt").exists()


def test_git_is_not_led_to_another_repository(confined: Confined, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    fake = make_repository(confined.path / "fake")
    git(fake, "config", "core.fsmonitor", f"touch {ran}")
    (confined.path / ".git").write_text(f"gitdir: {fake}/.git\n")
    kept = confined.trees.finish(confined.tree, Cancel())
    assert kept is not None
    assert kept.reason == "git does not know it"
    assert not ran.exists()
