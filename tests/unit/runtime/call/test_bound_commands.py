"""Commands of a conversation under its rules: what starts, what they may write, whom the rules bind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from checkrein.base.origin import Origin, Scope
from checkrein.llm.port import Cancel
from checkrein.policy.patterns import compile_command
from checkrein.policy.values import KERNEL_LAYERS
from checkrein.runtime.call.bound_commands import BoundCommands
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.process.binder import Binder
from checkrein.runtime.process.command import Command, Completed
from checkrein.runtime.process.git import quiet_env
from checkrein.runtime.process.guard.availability import guard_status
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.session.control import Question
from checkrein.runtime.session.events import PermissionDenied
from support.calls import ENV, make_gate

pytestmark = pytest.mark.skipif(not guard_status().holds, reason=guard_status().why)

Gated = Callable[..., Gate]


@pytest.fixture
def binder(tmp_path: Path) -> Iterator[Binder]:
    made = Binder((str(tmp_path),), ENV)
    yield made
    made.close()


@pytest.fixture
def gated(tmp_path: Path) -> Gated:
    return lambda *rules, **more: make_gate(*rules, root=str(tmp_path), layers=KERNEL_LAYERS, **more)


def command(text: str, cwd: Path, scope: Scope = "bundled") -> Command:
    return Command(
        argv=text, cwd=str(cwd), origin=Origin("x", scope), purpose="a test", env=ENV, timeout=20.0
    )


def judged_run(
    spawner: Spawner, binder: Binder, gate: Gate, text: str, cwd: Path
) -> tuple[Completed, list[PermissionDenied]]:
    """What happens to an allowed call, and what the session is told."""
    told: list[PermissionDenied] = []
    question = Question(tool="Bash", input={"command": text}, call_id="c1", reason="")
    judgement = gate.judge(question, str(cwd), (), None, Cancel())
    assert judgement.allowed, judgement.reason
    bind = BoundCommands(spawner, lambda: binder, gate).of_call(judgement, "c1", Cancel(), told.append)
    return spawner.run(bind(command(text, cwd)), Cancel()), told


def test_a_denied_program_does_not_start_and_the_session_hears_of_it(
    spawner: Spawner, binder: Binder, gated: Gated, tmp_path: Path
) -> None:
    (tmp_path / "victim").touch()
    gate = gated("allow Bash", "deny Bash(rm *)")
    done, (told,) = judged_run(spawner, binder, gate, "X=$(echo rm); $X victim; echo on", tmp_path)
    assert (tmp_path / "victim").exists()
    assert done.stdout == b"on\n"
    assert (told.by, told.denial.rule) == ("start", "Bash(rm *)")
    assert told.denial.tool_input == {"command": "rm victim"}
    assert told.denial.origin is not None


def test_a_command_that_only_reads_writes_nothing_and_starts_nothing_else(
    spawner: Spawner, binder: Binder, gated: Gated, tmp_path: Path
) -> None:
    text = """awk "$(echo 'BEGIN{system(\"touch made\"); print 1 > \"n\"}')"; echo on"""
    done, told = judged_run(spawner, binder, gated(), text, tmp_path)
    assert sorted(tmp_path.iterdir()) == []
    assert b"on" in done.stdout
    assert told


def test_a_reader_that_writes_an_approved_file_is_not_held_to_reading(
    spawner: Spawner, binder: Binder, gated: Gated, tmp_path: Path
) -> None:
    gate = gated(mode="acceptEdits")
    judged_run(spawner, binder, gate, "echo one > log; echo two >> log", tmp_path)
    assert (tmp_path / "log").read_text() == "one\ntwo\n"


def test_an_unknown_file_is_read_in_the_working_directories_only(
    spawner: Spawner, binder: Binder, gated: Gated, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "secret"
    elsewhere.write_text("marigold")
    (tmp_path / "a.txt").write_text("inside")
    text = f"cat $(echo a.txt) $(echo {elsewhere})"
    done, _ = judged_run(spawner, binder, gated(), text, tmp_path)
    assert done.stdout.startswith(b"inside")
    assert b"marigold" not in done.stdout


def test_in_plan_mode_everything_is_held_to_reading(
    spawner: Spawner, binder: Binder, gated: Gated, tmp_path: Path
) -> None:
    gate = gated("allow Bash", mode="plan")
    judged_run(spawner, binder, gate, "X=$(echo touch); $X made", tmp_path)
    assert sorted(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("scope", "there"), [("project", True), ("user", False), ("managed", False)])
def test_hooks_of_the_project_are_bound_and_those_of_the_user_are_not(
    spawner: Spawner, binder: Binder, gated: Gated, tmp_path: Path, scope: Scope, there: bool
) -> None:
    (tmp_path / "victim").touch()
    commands = BoundCommands(spawner, lambda: binder, gated("deny Bash(rm *)"))
    commands.run(command("rm victim", tmp_path, scope), Cancel())
    assert (tmp_path / "victim").exists() is there


def test_a_program_that_the_user_excepts_runs_unguarded(
    spawner: Spawner, binder: Binder, gated: Gated, tmp_path: Path
) -> None:
    gate = gated("allow Bash", "deny Bash(rm *)", unguarded=(compile_command("env *"),))
    bound = BoundCommands(spawner, lambda: binder, gate)
    for text, guarded in (("env true", False), ("env true; true", True)):
        question = Question(tool="Bash", input={"command": text}, call_id="c1", reason="")
        judgement = gate.judge(question, str(tmp_path), (), None, Cancel())
        bind = bound.of_call(judgement, "c1", Cancel(), lambda event: None)
        assert (bind(command(text, tmp_path)).guard is not None) is guarded


def test_what_runs_unguarded_is_judged_strictly(gated: Gated, tmp_path: Path) -> None:
    rules = ("allow Bash", "deny Bash(rm *)")
    unguarded = gated(*rules, unguarded=(compile_command("env *"),))
    text = {"command": "env perl -e 'exec chr(114).chr(109), \"victim\"'"}
    assert gated(*rules).decide("Bash", text, str(tmp_path)).verdict == "allow"
    assert unguarded.decide("Bash", text, str(tmp_path)).verdict == "ask"


@pytest.mark.parametrize(
    "setting", ["diff.external=no-such", "diff.x.command=no-such", "diff.x.textconv=no-such"]
)
def test_a_plain_diff_takes_the_place_of_an_external_one(
    spawner: Spawner, binder: Binder, gated: Gated, tmp_path: Path, setting: str
) -> None:
    """The programs that replace those of the repository may start in a command that only reads."""
    name, value = setting.split("=")
    prepare = (
        "git init -q . && echo '*.txt diff=x filter=y' > .gitattributes && echo old > a.txt && git add . && "
        f"git config {name} {value} && git config filter.y.clean no-such && echo new > a.txt"
    )
    assert spawner.run(command(prepare, tmp_path), Cancel()).exit_code == 0
    gate = gated()
    question = Question(tool="Bash", input={"command": "git diff"}, call_id="c1", reason="")
    judgement = gate.judge(question, str(tmp_path), (), None, Cancel())
    bind = BoundCommands(spawner, lambda: binder, gate).of_call(judgement, "c1", Cancel(), lambda told: None)
    env = quiet_env(ENV, str(tmp_path), spawner, Cancel())
    done = spawner.run(bind(replace(command("git diff", tmp_path), env=env)), Cancel())
    assert (b"+new" in done.stdout, done.refused) == (True, ()), done
