from __future__ import annotations

from typing import Any

from bridle.base.origin import Origin, Scope
from bridle.model.items import Hook, Setting
from bridle.model.project import Candidate, Detection, Effective, Place, Project, Sources
from bridle.runtime.hooks.enabled import enabled_hooks


def project(**settings: tuple[Any, Scope]) -> Project:
    hooks = tuple(
        Hook(name="Stop", type="command", command=scope, origin=Origin(f"/{scope}.json", scope))
        for scope in ("managed", "user", "project", "plugin")
    )
    effective = {}
    for key, (value, scope) in settings.items():
        item = Setting(name=key, value=value, origin=Origin("/s", scope))
        effective[key] = Effective(key, value, (Candidate(item),))
    place = Place(cwd="/p", root="/p", root_reason="git", home="/h", config_dir="/h/.claude")
    return Project(
        place=place, detection=Detection("claude", {}, ()), hooks=hooks, settings=effective, sources=Sources()
    )


def names(**settings: tuple[Any, Scope]) -> list[str | None]:
    kept, skipped = enabled_hooks(project(**settings))
    assert len(kept) + len(skipped) == 4
    return [hook.command for hook in kept]


def test_switches() -> None:
    assert names() == ["managed", "user", "project", "plugin"]
    assert names(disableAllHooks=(False, "user")) == ["managed", "user", "project", "plugin"]
    assert names(disableAllHooks=(True, "user")) == ["managed"]
    assert names(disableAllHooks=(True, "managed")) == []
    assert names(allowManagedHooksOnly=(True, "managed")) == ["managed"]
    assert names(allowManagedHooksOnly=(True, "user")) == ["managed", "user", "project", "plugin"]
