"""The policy of a project, from its settings files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from checkrein.model.project import Project
from checkrein.passes.load import load
from checkrein.policy.decide import decide
from checkrein.policy.project import policy_of
from checkrein.policy.values import Call, Context


def project(path: Path, settings: dict[str, Any], user: dict[str, Any] | None = None) -> Project:
    home = path / "home"
    for root, values in ((path / "p", settings), (home, user or {})):
        (root / ".claude").mkdir(parents=True)
        (root / ".claude" / "settings.json").write_text(json.dumps(values))
    (path / "p" / ".git").mkdir()
    return load(path / "p", env={"HOME": str(home)}, home=str(home), managed_dir=str(path / "managed"))


def verdict(found: Project, call: Call, *, trusted: bool = True) -> str:
    place = found.place
    context = Context(cwd=place.cwd, root=place.cwd, home=place.home, trusted=trusted)
    return decide(policy_of(found), call, context).verdict


def test_rules_mode_and_directories(tmp_path: Path) -> None:
    permissions = {
        "allow": ["Bash(npm test)", "Edit(/docs/**)"],
        "deny": ["Read(.env)"],
        "additionalDirectories": ["/opt/d", "~/x"],
        "defaultMode": "acceptEdits",
    }
    found = project(tmp_path, {"permissions": permissions})
    here = found.place.cwd
    assert verdict(found, Call("Bash", {"command": "npm test"})) == "allow"
    assert verdict(found, Call("Bash", {"command": "npm test"}), trusted=False) == "ask"
    assert verdict(found, Call("Read", {"file_path": ".env"}), trusted=False) == "deny"
    assert verdict(found, Call("Read", {"file_path": "/opt/d/a"})) == "allow"
    assert verdict(found, Call("Read", {"file_path": "~/x/a"})) == "allow"
    assert verdict(found, Call("Read", {"file_path": "/opt/d/a"}), trusted=False) == "ask"
    assert verdict(found, Call("Write", {"file_path": f"{here}/a"})) == "allow"
    assert verdict(found, Call("Write", {"file_path": f"{here}/a"}), trusted=False) == "ask"


def test_a_denial_names_file_and_line(tmp_path: Path) -> None:
    found = project(tmp_path, {"permissions": {"deny": ["Bash(rm *)"]}})
    context = Context(cwd=found.place.cwd, home=found.place.home)
    decision = decide(policy_of(found), Call("Bash", {"command": "sudo rm x"}), context)
    assert decision.origin is not None
    assert decision.origin.file.endswith("p/.claude/settings.json")
    assert decision.origin.line is not None


def test_modes_that_are_not_entered(tmp_path: Path) -> None:
    auto = project(tmp_path / "a", {"permissions": {"defaultMode": "auto"}})
    assert policy_of(auto).layers[0].mode == "default"
    switched_off = {"permissions": {"disableBypassPermissionsMode": "disable"}}
    off = project(tmp_path / "b", switched_off, {"permissions": {"defaultMode": "bypassPermissions"}})
    assert policy_of(off).layers[0].mode == "default"
    assert policy_of(off, mode="bypassPermissions").layers[0].mode == "default"
    mine = project(tmp_path / "c", {}, {"permissions": {"defaultMode": "auto"}})
    assert policy_of(mine).layers[0].mode == "auto"
    assert policy_of(mine, mode="plan").layers[0].mode == "plan"
    odd = project(tmp_path / "d", {}, {"permissions": {"defaultMode": "strange"}})
    assert policy_of(odd).layers[0].mode == "default"
