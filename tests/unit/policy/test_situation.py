"""Project, trust and terms in; policy, context and verdicts out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.model.project import Project
from checkrein.passes.load import load
from checkrein.policy.confined import Confined
from checkrein.policy.patterns import compile_command
from checkrein.policy.reasons import explain
from checkrein.policy.situation import Situation, Terms, situation
from checkrein.policy.trust import assumed
from checkrein.policy.values import Call, Decision
from checkrein.runtime.trust import TrustStore, standing

Make = Callable[..., Project]
MAKE = Call("Bash", {"command": "make x"})
HOOK = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(settings: dict[str, Any], user: dict[str, Any] | None = None) -> Project:
        for root, values in ((tmp_path / "p", settings), (tmp_path / "home", user or {})):
            (root / ".claude").mkdir(parents=True, exist_ok=True)
            (root / ".claude" / "settings.json").write_text(json.dumps(values, indent=1))
        (tmp_path / "p" / ".git").mkdir(exist_ok=True)
        home = str(tmp_path / "home")
        return load(tmp_path / "p", env={"HOME": home}, home=home, managed_dir=str(tmp_path / "managed"))

    return made


def met(project: Project, tmp_path: Path, *, trusted: bool = False, **terms: Any) -> Situation:
    trust = standing(project, trusted=trusted, store=TrustStore(tmp_path / "store"))
    return situation(project, trust, Terms(**terms))


def told(found: Situation, call: Call = MAKE) -> Decision:
    return explain(found, call, found.context())


def allow(*rules: str, **more: Any) -> dict[str, Any]:
    return {"permissions": {"allow": list(rules), **more}}


def test_without_trust_the_rule_that_would_allow_is_named(make: Make, tmp_path: Path) -> None:
    project = make(allow("Bash(make *)"))
    decision = told(met(project, tmp_path))
    assert decision.verdict == "ask"
    place = "Bash(make *) (.claude/settings.json:4)"
    assert decision.notes == (
        f"It would be allowed by {place}, but this project is not trusted (`checkrein trust`).",
    )
    trusted = told(met(project, tmp_path, trusted=True))
    assert (trusted.verdict, trusted.rule, trusted.notes) == ("allow", "Bash(make *)", ())


def test_what_trust_does_not_change_is_not_blamed_on_it(make: Make, tmp_path: Path) -> None:
    project = make({"permissions": {"allow": ["Bash(make *)"], "deny": ["Bash(make x)"]}})
    assert told(met(project, tmp_path)).notes == ()
    assert told(met(project, tmp_path), Call("Bash", {"command": "touch a"})).notes == ()


def test_the_users_own_rules_need_no_trust(make: Make, tmp_path: Path) -> None:
    project = make(allow("Bash(npm *)"), user=allow("Bash(make *)"))
    assert told(met(project, tmp_path)).verdict == "allow"


def test_directories_and_modes_need_trust(make: Make, tmp_path: Path) -> None:
    project = make(allow(additionalDirectories=["/opt/d"], defaultMode="acceptEdits"))
    read, write = Call("Read", {"file_path": "/opt/d/a"}), Call("Write", {"file_path": "a", "content": ""})
    found = met(project, tmp_path)
    assert found.mode == "default"
    assert [told(found, call).verdict for call in (read, write)] == ["ask", "ask"]
    assert "it is in a working directory, but" in told(found, read).notes[0]
    assert "the mode is acceptEdits, but" in told(found, write).notes[0]
    assert [told(found.trusting, call).verdict for call in (read, write)] == ["allow", "allow"]  # type: ignore[arg-type]


def test_a_changed_project_says_so(make: Make, tmp_path: Path) -> None:
    from checkrein.runtime.trust import trust

    store = TrustStore(tmp_path / "store")
    trust(make(allow("Bash(npm *)")), store=store)
    assert "has changed since you trusted it" in told(met(make(allow("Bash(make *)")), tmp_path)).notes[1]


def test_the_mode_is_named_where_it_decides(make: Make, tmp_path: Path) -> None:
    project = make(allow("Edit", defaultMode="plan"))
    write = Call("Write", {"file_path": "a", "content": ""})
    decision = told(met(project, tmp_path, trusted=True), write)
    assert decision.verdict == "ask"
    (note,) = decision.notes
    assert note == "The mode is plan (.claude/settings.json:6); in the mode default the verdict is allow."
    assert told(met(project, tmp_path, trusted=True, mode="default"), write).notes == ()
    denied = told(met(project, tmp_path, trusted=True, mode="dontAsk"))
    assert denied.notes == ("The mode is dontAsk; in the mode default the verdict is ask.",)


def test_a_mode_that_is_not_entered_is_named(make: Make, tmp_path: Path) -> None:
    off = make(allow(disableBypassPermissionsMode="disable"))
    notes = told(met(off, tmp_path, trusted=True, mode="bypassPermissions")).notes
    assert notes == ("The mode is default: the settings switch the mode bypassPermissions off.",)
    auto = make(allow(defaultMode="auto"))
    (note,) = told(met(auto, tmp_path, trusted=True)).notes
    assert note == "The mode is default: project settings may not choose `auto` (.claude/settings.json:4)."


def test_hooks_are_named_and_missed(make: Make, tmp_path: Path) -> None:
    project = make({**allow("Bash(make *)"), "hooks": HOOK})
    trusted = told(met(project, tmp_path, trusted=True))
    assert trusted.verdict == "allow"
    assert "PreToolUse hook at .claude/settings.json:" in trusted.notes[0]
    listing = Call("Bash", {"command": "ls"})
    skipped = told(met(project, tmp_path), listing)
    assert skipped.verdict == "ask"
    assert "did not judge this call" in skipped.reason
    assert "would be allowed because it only reads" in skipped.notes[0]
    assert told(met(project, tmp_path, hooks=False), listing).verdict == "allow"
    assert told(met(project, tmp_path), Call("Read", {"file_path": "a"})).verdict == "allow"


def test_rules_of_the_caller_hold_in_any_project(make: Make, tmp_path: Path) -> None:
    project = make(allow("Bash(make *)"))
    assert told(met(project, tmp_path, allowed=("Bash(make *)",))).verdict == "allow"
    assert told(met(project, tmp_path, trusted=True, disallowed=("Bash(make *)",))).verdict == "deny"


def test_the_sandbox_speaks(make: Make, tmp_path: Path) -> None:
    project = make({})
    inside = Confined(active=True, approves=True, may_leave=True, excluded=(compile_command("npm *"),))
    assert told(met(project, tmp_path, confined=inside)).verdict == "allow"
    assert told(met(project, tmp_path, confined=inside, mode="plan")).verdict == "ask"
    for leaves in ({"command": "npm i"}, {"command": "ls", "dangerouslyDisableSandbox": True}):
        assert told(met(project, tmp_path, confined=inside), Call("Monitor", leaves)).verdict == "ask"
    assert told(met(project, tmp_path, confined=inside), Call("Bash", {"command": "npm i"})).verdict == "ask"
    outside = Call("Bash", {"command": "make x", "dangerouslyDisableSandbox": True})
    assert told(met(project, tmp_path, confined=inside), outside).verdict == "ask"
    assert told(met(project, tmp_path, confined=Confined(approves=True))).verdict == "ask"


def test_an_alias_of_a_tool_meets_its_hooks(make: Make, tmp_path: Path) -> None:
    hooks = {"PreToolUse": [{"matcher": "Agent", "hooks": [{"type": "command", "command": "true"}]}]}
    project = make({**allow("Agent"), "hooks": hooks}, user=allow("Agent"))
    call = Call("Task", {"subagent_type": "x", "prompt": "x"})
    assert "did not judge" in told(met(project, tmp_path), call).reason


def test_assumed_trust_counts_everything(make: Make) -> None:
    project = make(allow("Bash(make *)"))
    found = situation(project, assumed(project))
    assert (found.trusted, found.trusting) == (True, None)
    assert found.decide(MAKE, found.context()).verdict == "allow"


def test_where_a_call_is_made(make: Make) -> None:
    found = situation(project := make({}), assumed(project))
    context = found.context("/elsewhere", {"/a": "/b"})
    assert (context.cwd, context.root, context.links) == ("/elsewhere", project.place.cwd, {"/a": "/b"})
    assert found.context().cwd == project.place.cwd
