"""Cursor: rules, skills, agents, hooks and MCP servers under .cursor."""
