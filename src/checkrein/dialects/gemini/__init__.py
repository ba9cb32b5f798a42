"""Gemini CLI: TOML commands, skills, agents and settings under .gemini, GEMINI.md."""
