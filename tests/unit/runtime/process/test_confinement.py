"""The sandbox in the gate: who may switch it off, what runs outside, what it approves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.model.project import Project
from checkrein.passes.load import load
from checkrein.policy.situation import Terms, situation
from checkrein.policy.trust import assumed
from checkrein.policy.values import HookVerdict
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.process import confinement as confining
from checkrein.runtime.process.confinement import Confinement, confinement
from checkrein.runtime.process.sandbox import SandboxStatus
from checkrein.runtime.session.control import Answer, Control, Question

Settings = dict[str, Any]
FILES = {
    "user": "home/.claude/settings.json",
    "project": "p/.claude/settings.json",
    "local": "p/.claude/settings.local.json",
    "managed": "managed/managed-settings.json",
}


@pytest.fixture(autouse=True)
def enforced(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is decided does not depend on what the machine under test can enforce."""
    monkeypatch.setattr(confining, "detect", lambda: SandboxStatus(kind="landlock", enforced=(), missing=()))


def project(root: Path, **scopes: Settings) -> Project:
    (root / "p" / ".git").mkdir(parents=True, exist_ok=True)
    for scope, settings in scopes.items():
        path = root / FILES[scope]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))
    return load(root / "p", home=str(root / "home"), managed_dir=str(root / "managed"), env={})


def on(**more: Any) -> Settings:
    return {"sandbox": {"enabled": True, **more}}


def confined(found: Project, *, wanted: bool = False) -> Confinement:
    return confinement(found, wanted=wanted)[0]


def gate(found: Project, *, mode: str | None = None) -> Gate:
    terms = Terms(mode=mode, confined=confined(found))
    return Gate(situation(found, assumed(found), terms), Control())


def verdict(
    found: Project, command: str, mode: str | None = None, hooks: tuple[HookVerdict, ...] = (), **input: Any
) -> str:
    made = gate(found, mode=mode)
    return made.decide("Bash", {"command": command, **input}, found.place.cwd, hooks).verdict


ALLOW = {"permissions": {"allow": ["Bash"]}}
OUT = {"dangerouslyDisableSandbox": True}


def test_a_project_can_not_switch_off_what_the_user_switched_on(tmp_path: Path) -> None:
    off = {"sandbox": {"enabled": False}}
    assert confined(project(tmp_path / "a", user=on(), project=off)).policy is not None
    assert confined(project(tmp_path / "b", user=on(), local=off)).policy is not None
    assert confined(project(tmp_path / "c", user=on(), managed=off)).policy is None
    assert confined(project(tmp_path / "d", user=off, project=on())).policy is not None
    assert confined(project(tmp_path / "e", user=off)).policy is None


def test_an_unsandboxed_run_is_asked_for_whatever_is_allowed(tmp_path: Path) -> None:
    found = project(tmp_path, user={**on(), **ALLOW})
    assert verdict(found, "make deploy") == "allow"
    assert verdict(found, "make deploy", **OUT) == "ask"
    assert verdict(found, "make deploy", "bypassPermissions", **OUT) == "ask"
    assert verdict(found, "make deploy", hooks=(HookVerdict("allow"),), **OUT) == "ask"
    assert verdict(found, "make deploy", "dontAsk", **OUT) == "deny"
    assert gate(found).runs_outside({"command": "make deploy", **OUT})


def test_without_a_sandbox_the_input_means_nothing(tmp_path: Path) -> None:
    found = project(tmp_path, user=ALLOW)
    assert verdict(found, "make deploy", **OUT) == "allow"
    assert not gate(found).runs_outside({"command": "make", **OUT})


@pytest.mark.parametrize("value", ["true", 1, None, "yes"])
def test_only_true_is_true(tmp_path: Path, value: object) -> None:
    made = gate(project(tmp_path, user=on()))
    assert not made.runs_outside({"command": "make", "dangerouslyDisableSandbox": value})


def test_unsandboxed_runs_may_be_ruled_out_by_anyone(tmp_path: Path) -> None:
    never = {"allowUnsandboxedCommands": False}
    for at, scopes in enumerate(
        (
            {"user": {**on(**never), **ALLOW}},
            {"user": {**on(), **ALLOW}, "project": {"sandbox": never}},
            {"user": {**on(**never), **ALLOW}, "project": {"sandbox": {"allowUnsandboxedCommands": True}}},
        )
    ):
        found = project(tmp_path / str(at), **scopes)
        assert not gate(found).runs_outside({"command": "make", **OUT})
        assert verdict(found, "make", **OUT) == "allow", "it runs, and inside"


def test_excluded_commands_run_outside_and_are_asked_for(tmp_path: Path) -> None:
    found = project(tmp_path, user={**on(excludedCommands=["docker", "npm run e2e:*"]), **ALLOW})
    made = gate(found)
    for text in (
        "docker ps",
        "docker run x",
        "npm run e2e",
        "npm run e2e -- --fast",
        "docker ps && docker images",
    ):
        assert made.runs_outside({"command": text}), text
        assert verdict(found, text) == "ask", text
    for text in (
        "docker ps && make",
        "docker ps | sh",
        "docker ps $(make)",
        "docker ps; $X",
        "dockerx ps",
        "sudo docker ps",
        "X=1; docker() { make; }; docker ps",
        "docker <<< $(make)",
        "make",
        "(docker ps",
        "",
    ):
        assert not made.runs_outside({"command": text}), text


@pytest.mark.parametrize("scope", ["project", "local"])
def test_a_project_excludes_nothing(tmp_path: Path, scope: str) -> None:
    found = project(tmp_path, user=on(), **{scope: {"sandbox": {"excludedCommands": ["make"]}}})
    assert not gate(found).runs_outside({"command": "make"})


def test_inside_the_users_sandbox_commands_are_approved(tmp_path: Path) -> None:
    rules = {"permissions": {"deny": ["Bash(rm *)"], "ask": ["Bash(make deploy *)"]}}
    found = project(tmp_path, user={**on(), **rules})
    assert verdict(found, "make") == "allow"
    assert verdict(found, "make", "dontAsk") == "allow"
    assert verdict(found, "make; rm x") == "deny"
    assert verdict(found, "make deploy now") == "ask"
    assert verdict(found, "rm -rf /") == "deny"
    assert verdict(found, "rmdir /") == "ask"
    assert verdict(found, "$X") == "ask"
    assert verdict(found, "echo x > .git/config") == "ask"
    assert verdict(found, "touch x", "plan") == "ask"
    assert verdict(found, "make", "auto") == "ask"
    assert verdict(found, "make", **OUT) == "ask"


def test_who_can_take_the_approval_away(tmp_path: Path) -> None:
    asks = {"autoAllowBashIfSandboxed": False}
    assert verdict(project(tmp_path / "a", user=on(**asks)), "make") == "ask"
    assert verdict(project(tmp_path / "b", user=on(), project={"sandbox": asks}), "make") == "ask"
    both = project(tmp_path / "c", user=on(**asks), project={"sandbox": {"autoAllowBashIfSandboxed": True}})
    assert verdict(both, "make") == "ask"


def test_what_only_a_project_or_a_flag_switched_on_approves_nothing(tmp_path: Path) -> None:
    assert verdict(project(tmp_path / "a", project=on(autoAllowBashIfSandboxed=True)), "make") == "ask"
    plain = project(tmp_path / "b")
    assert confined(plain, wanted=True).policy is not None
    assert not confined(plain, wanted=True).approves


def test_an_open_network_approves_nothing(tmp_path: Path) -> None:
    found = project(tmp_path, user=on(network={"allowedDomains": ["*"]}))
    assert verdict(found, "make") == "ask"


def test_a_bare_ask_rule_goes_before_the_sandbox(tmp_path: Path) -> None:
    assert verdict(project(tmp_path, user={**on(), "permissions": {"ask": ["Bash"]}}), "make") == "ask"


def test_nobody_to_ask_is_a_refusal(tmp_path: Path) -> None:
    found = project(tmp_path, user={**on(), **ALLOW})
    question = Question(tool="Bash", input={"command": "make", **OUT}, call_id="1", reason="")

    def no_hooks(_: dict[str, Any]) -> Answer | None:
        return None

    judged = gate(found).judge(question, found.place.cwd, (), no_hooks, Cancel())
    assert not judged.allowed
    assert "outside the sandbox" in judged.reason


def test_other_tools_are_not_spoken_of(tmp_path: Path) -> None:
    made = gate(project(tmp_path, user=on()))
    assert made.decide("Write", {"file_path": "a", "content": ""}, "/").verdict == "ask"
