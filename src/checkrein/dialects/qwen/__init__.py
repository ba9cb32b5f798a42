"""Qwen Code: commands, skills, agents and settings under .qwen, QWEN.md."""
