"""Names as each agent takes them, and file names that can't leave their directory."""

from __future__ import annotations

import re

from checkrein.facts.agents import CommandForm

_SKILL_NAME_LIMIT = 64
_NOT_SKILL = re.compile(r"[^a-z0-9]+")
_NOT_FLAT = re.compile(r"[^\w.+-]+")


def skill_name(name: str) -> str:
    """Lowercase words joined by single hyphens, 1 to 64 characters: `speckit.a.b` is `speckit-a-b`."""
    plain = _NOT_SKILL.sub("-", name.lower()).strip("-")
    return plain[:_SKILL_NAME_LIMIT].strip("-") or "unnamed"


def flat_name(name: str, separator: str = ".") -> str:
    """A file name without folders: `ns:inner` is `ns.inner`."""
    if separator == "-":
        return skill_name(name)
    plain = _NOT_FLAT.sub("-", name.replace(":", ".").replace("/", ".")).strip(".-")
    return plain[:120] or "unnamed"


def command_name(name: str, form: CommandForm) -> str:
    """The name of a command's file, without its extension."""
    if form.form == "skill":
        return skill_name(name)
    if form.folder:
        return "/".join(flat_name(part) for part in name.split(":"))
    return flat_name(name, form.separator)
