"""`checkrein recipe ...` from outside: a process that dies, a person who answers, a machine that goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run as cli

RECIPE = """
name: demo
summary: build, pay, ask
kitchen_rules: ["Only routes decide."]
ingredients:
  who: {description: Whom to greet, default: world}
steps:
  hello:
    tool: run_cmd
    effect: pure
    with: {cmd: "echo hello ${{ inputs.who }}"}
    capture: {said: "${{ result.stdout | trim }}"}
    on_success: pay
  pay:
    tool: run_cmd
    with: {cmd: "echo $CHECKREIN_IDEMPOTENCY_KEY >> paid; touch paying; sleep ${SLOW:-0}"}
    on_success: ask
  ask:
    action: confirm
    message: "Ship ${{ context.said }}?"
    on_success: finish
    on_failure: escalate_stop
  finish: {action: stop, message: "Shipped ${{ context.said }}"}
  escalate_stop: {action: stop, message: "Not shipped"}
"""


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    folder = tmp_path / "p"
    (folder / ".checkrein" / "recipes").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".checkrein" / "recipes" / "demo.yaml").write_text(RECIPE)
    return folder


def start(*words: str, **more: str) -> subprocess.Popen[bytes]:
    command = (sys.executable, "-m", "checkrein", "recipe", *words)
    out = subprocess.DEVNULL
    return subprocess.Popen(
        command, env={**os.environ, **more}, stdout=out, stderr=out, start_new_session=True
    )


def appears(file: Path, process: subprocess.Popen[bytes]) -> None:
    limit = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < limit, process.poll()
        time.sleep(0.05)


RIGHTS = ("--trust", "--allow", "Bash")
Ask = Callable[..., Any]


def test_a_killed_run_goes_on_and_asks_what_became_of_its_effect(
    kitchen: Path, ask: Ask, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGKILL in the middle of a payment: its program dies too, and only a person says whether it counts."""
    monkeypatch.setenv("CHECKREIN_USER", "ann")
    here = ("-C", str(kitchen))
    first = start("run", "demo", *RIGHTS, "-i", "who=you", *here, SLOW="287")
    appears(kitchen / "paying", first)
    first.kill()
    first.wait()
    run = ask("recipe", "status", *here)["runs"][0]["run_id"]
    found = ask("recipe", "resume", run, *RIGHTS, *here)
    assert (found["state"], found["waits"][0]["kind"]) == ("waiting", "reconcile")
    assert "sleep 287" not in subprocess.run(("ps", "axo", "args"), capture_output=True, text=True).stdout
    ask("recipe", "reconcile", run, "pay", *here, status=2)
    ask("recipe", "reconcile", run, "pay", "--done", *here)
    ask("recipe", "reconcile", run, "pay", "--again", *here, status=1)
    found = ask("recipe", "resume", run, *RIGHTS, *here)
    assert (found["state"], found["waits"][0]["shown"]) == ("waiting", "Ship hello you?")
    ask("recipe", "approve", run, "ask", *here)
    found = ask("recipe", "resume", run, *RIGHTS, *here)
    assert (found["state"], found["message"]) == ("stopped", "Shipped hello you")
    assert (kitchen / "paid").read_text() == f"{run}/pay\n"
    capsys.readouterr()
    cli(["recipe", "logs", run, *here])
    entries = [json.loads(line)["entry"] for line in capsys.readouterr().out.splitlines()]
    assert {one["path"]: one.get("by") for one in entries if one.get("by")} == {"pay": "ann", "ask": "ann"}


def test_hooks_hear_of_a_question_and_a_once_effect_has_its_key(kitchen: Path, ask: Ask) -> None:
    hook = {"type": "command", "command": "cat >> heard"}
    (kitchen / ".claude").mkdir()
    settings = {"hooks": {"Notification": [{"hooks": [hook]}]}}
    (kitchen / ".claude" / "settings.json").write_text(json.dumps(settings))
    found = ask("recipe", "run", "demo", *RIGHTS, "-C", str(kitchen))
    assert found["state"] == "waiting"
    heard = json.loads((kitchen / "heard").read_text())
    assert heard["notification_type"] == "recipe_confirm"
    assert f"checkrein recipe approve {found['run_id']} ask" in heard["message"]
    assert (kitchen / "paid").read_text() == f"{found['run_id']}/pay\n"


def test_what_the_rules_refuse_does_not_run(kitchen: Path, ask: Ask) -> None:
    rights = ("--trust", "--deny", "Bash(echo *)", "--allow", "Bash")
    found = ask("recipe", "run", "demo", *rights, "-C", str(kitchen), status=1)
    assert found.get("state") == "failed", found
    assert "Bash(echo *)" in found["message"]
    assert not (kitchen / "paid").exists()


def test_a_worker_takes_a_detached_run_and_hands_over_when_it_stops(kitchen: Path, ask: Ask) -> None:
    here = ("-C", str(kitchen))
    view = ask("recipe", "run", "demo", "--detach", *here)
    assert view["state"] == "queued"
    worker = start("worker", *RIGHTS, *here, SLOW="3")
    appears(kitchen / "paying", worker)
    worker.terminate()
    assert worker.wait(60) == 0
    found = ask("recipe", "status", view["run_id"], *here)["runs"][0]
    assert (found["state"], found["waits"][0]["kind"]) == ("waiting", "handover")
    assert [one["entry"]["path"] for one in found["steps"]] == ["hello", "pay", "pay"]


@pytest.mark.parametrize(
    ("words", "kind", "status"),
    [
        (("run", "nothing"), "recipe_not_found", 1),
        (("run", "demo", "-i", "who"), "usage", 2),
        (("run", "demo", "--detach", "--queue", "none"), "usage", 2),
        (("run", "demo", "-i", "whom=x"), "recipe_invalid", 1),
        (("resume", "r-none"), "run_not_found", 1),
    ],
)
def test_mistakes_have_names(words: tuple[str, ...], kind: str, status: int, kitchen: Path, ask: Ask) -> None:
    found = ask("recipe", *words, "-C", str(kitchen), status=status)
    assert found["kind"] == kind
