"""Flags of Claude Code, and where it looks for skills below the directories that they name."""

from __future__ import annotations

from enum import StrEnum

ADD_DIR_SKILLS = ".claude/skills"
PLUGIN_DIR_SKILLS = "skills"
SKILL_FILE = "SKILL.md"
PLUGIN_MANIFEST = ".claude-plugin/plugin.json"


class ClaudeFlag(StrEnum):
    ADD_DIR = "--add-dir"
    PLUGIN_DIR = "--plugin-dir"
    SETTINGS = "--settings"
    RESUME = "--resume"
    SESSION_ID = "--session-id"
    PRINT = "--print"
    PERMISSION_MODE = "--permission-mode"
    MODEL = "--model"
