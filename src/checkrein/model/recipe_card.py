"""The contract card of a recipe: what its steps needed and produced when it was last looked at."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

StaleReason = Literal["version_mismatch", "hash_mismatch", "block_composition_drift"]


class CardStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step that runs a skill: the names it may read, those its skill requires, and those it captures."""

    step: str
    skill: str = ""
    available: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    produced: tuple[str, ...] = ()


class Card(Struct, frozen=True, kw_only=True):
    """`version` is that of the card's form, `skill_hashes` are those of each SKILL.md with its contract,
    `block_fingerprints` those of the steps in each block."""

    version: str
    skill_hashes: dict[str, str] = {}
    skills: tuple[str, ...] = ()
    dataflow: tuple[CardStep, ...] = ()
    block_fingerprints: dict[str, str] = {}


class Stale(Struct, frozen=True):
    """Why a card no longer fits; `subject` is the skill or the block."""

    reason: StaleReason
    subject: str
    message: str
