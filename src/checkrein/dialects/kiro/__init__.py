"""Kiro: prompts, steering, agents and MCP servers under .kiro."""
