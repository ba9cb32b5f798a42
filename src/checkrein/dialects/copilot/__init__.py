"""GitHub Copilot: agents, prompts, instructions, skills, hooks and MCP servers under .github and .vscode."""
