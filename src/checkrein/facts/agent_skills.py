"""The Agent Skills standard: places, file names, limits, the form of a name."""

from __future__ import annotations

import re

from checkrein.facts.claude_fields import STANDARD_FIELDS

SKILLS_DIR = ".agents/skills"
COLLECTION = "skills"
SKILL_FILES = ("SKILL.md", "skill.md")

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
NAME_CHARS = 64
DESCRIPTION_CHARS = 1024
COMPATIBILITY_CHARS = 500
BODY_LINES = 500
BODY_TOKENS = 5000
FIELDS: tuple[str, ...] = tuple(field.name for field in STANDARD_FIELDS)

METADATA_SECTIONS = frozenset({"openclaw", "clawdbot", "moltbot", "hermes"})
"""Keys below `metadata` where one agent reads a map of its own."""
