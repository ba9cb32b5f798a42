"""All checks. Each family has its own table from code to module; this one joins them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from msgspec import Struct

from checkrein.passes.checks.check import Check


class Family(Struct, frozen=True):
    """A prefix of codes; every module of `package` is one check."""

    prefix: str
    package: str
    meaning: str


FAMILIES: tuple[Family, ...] = (
    Family("AS", "skills", "Agent Skills: what a SKILL.md must hold to work everywhere"),
    Family("CC", "claude", "Claude Code: commands, agents, settings and its extensions of skills"),
    Family("PERM", "perm", "Permission rules: dead, shadowed, contradictory and unsafe ones"),
    Family("HOOK", "hooks", "Hooks: events, matchers, handlers, scripts"),
    Family("MCP", "mcp", "MCP servers"),
    Family("MEM", "instructions", "Instructions: CLAUDE.md, rules, imports"),
    Family("PL", "plugins", "Plugins and marketplaces"),
    Family("BEH", "beh", "The behavior vocabulary that deploy translates for other agents"),
    Family("DIA", "dialects", "Files of other agents: Copilot, Codex, Cursor, Gemini CLI, opencode"),
    Family("XP", "crossfile", "Cross-file: references that lead nowhere, things that can never happen"),
    Family("RCP", "recipes", "Recipes: steps, routes, inputs and what flows between them"),
)


@cache
def checks() -> dict[str, Check]:
    """Code to check, in order of code."""
    found: dict[str, Check] = {}
    for family in FAMILIES:
        for check in checks_of(family.prefix):
            assert check.code not in found, check.code
            found[check.code] = check
    return dict(sorted(found.items()))


@cache
def checks_of(prefix: str) -> tuple[Check, ...]:
    """The checks of one family, in order of code; only its modules are imported."""
    family = next(one for one in FAMILIES if one.prefix == prefix)
    package = import_module(f"checkrein.passes.checks.{family.package}")
    found = [
        import_module(f"{package.__name__}.{module.name}").CHECK for module in iter_modules(package.__path__)
    ]
    for check in found:
        assert isinstance(check, Check)
        assert check.code.startswith(prefix), check.code
    return tuple(sorted(found, key=lambda check: check.code))
