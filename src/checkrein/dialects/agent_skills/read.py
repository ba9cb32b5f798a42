"""Skills of the Agent Skills standard: `.agents/skills`, a `skills/` collection, or one SKILL.md."""

from __future__ import annotations

import os

from checkrein.base.origin import Scope
from checkrein.dialects import scan
from checkrein.dialects.codes import Log
from checkrein.facts.agent_skills import COLLECTION, SKILL_FILES, SKILLS_DIR
from checkrein.model.items import Skill
from checkrein.model.project import Place, Sources


def read(place: Place) -> Sources:
    """The project's skills, then the user's. A `skills/` folder counts if no plugin manifest claims it."""
    log = Log(place.within)
    found: list[Skill] = []
    seen: set[str] = set()
    roots: list[tuple[str, Scope]] = [
        (os.path.join(place.root, SKILLS_DIR), "project"),
        (os.path.join(place.home, SKILLS_DIR), "user"),
    ]
    if not os.path.exists(os.path.join(place.root, ".claude-plugin")):
        roots.insert(1, (os.path.join(place.root, COLLECTION), "project"))
    for root, scope in roots:
        if os.path.isdir(root):
            found.extend(_read_directory(root, scope, log, seen))
    return Sources(skills=tuple(found), diagnostics=tuple(log))


def _read_directory(root: str, scope: Scope, log: Log, seen: set[str]) -> list[Skill]:
    from checkrein.dialects import skills

    found = []
    for name, path, real in scan.directories(root, scope, log):
        if real in seen:
            continue
        seen.add(real)
        file = _skill_file(path)
        skill = skills.read_skill(file, path, name, scope, log) if file else None
        if skill is not None:
            found.append(skill)
    return found


def _skill_file(directory: str) -> str | None:
    """The skill's file: SKILL.md, or else skill.md."""
    for name in SKILL_FILES:
        path = directory + os.sep + name
        if os.path.lexists(path):
            return path
    return None
