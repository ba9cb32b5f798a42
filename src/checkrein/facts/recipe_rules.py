"""What the checks of recipes know about skills, tools, inputs and blocks: rows of `recipe_rules.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

_DEFAULT = "default"


class Skills(Struct, frozen=True, forbid_unknown_fields=True):
    worktree: frozenset[str]
    resumes: frozenset[str]
    audits: frozenset[str]
    rebases: frozenset[str]
    repairs: frozenset[str]
    opens_pull: frozenset[str]


class Tools(Struct, frozen=True, forbid_unknown_fields=True):
    stale_base: frozenset[str]
    telemetry: frozenset[str]
    ci: frozenset[str]


class Inputs(Struct, frozen=True, forbid_unknown_fields=True):
    internal: frozenset[str]
    source: frozenset[str]


class Versions(Struct, frozen=True, forbid_unknown_fields=True):
    source: str


class Merge(Struct, frozen=True, forbid_unknown_fields=True):
    recoverable: tuple[str, ...]


class Captures(Struct, frozen=True, forbid_unknown_fields=True):
    asked_for: frozenset[str]


class Programs(Struct, frozen=True, forbid_unknown_fields=True):
    silent: frozenset[str]


class Research(Struct, frozen=True, forbid_unknown_fields=True):
    output_modes: tuple[str, ...]


class Rules(Struct, frozen=True, forbid_unknown_fields=True):
    native_tools: tuple[str, ...]


class Budget(Struct, frozen=True, forbid_unknown_fields=True):
    """How many calls a block may make; None is any number."""

    run_cmd: int | None = None
    other_tools: int | None = None
    forbids_gh_api: bool = False


class RuleFacts(Struct, frozen=True, forbid_unknown_fields=True):
    """`removes` is what a tool destroys when it succeeds."""

    skills: Skills
    tools: Tools
    removes: dict[str, tuple[str, ...]]
    inputs: Inputs
    versions: Versions
    merge: Merge
    results: dict[str, frozenset[str]]
    captures: Captures
    programs: Programs
    research: Research
    rules: Rules
    blocks: dict[str, Budget]

    def budget(self, block: str) -> Budget:
        return self.blocks.get(block) or self.blocks[_DEFAULT]


@cache
def rule_facts() -> RuleFacts:
    text = (Path(__file__).parent / "recipe_rules.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), RuleFacts)
