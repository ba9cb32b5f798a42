"""OpenAI Codex: skills under .agents, AGENTS.md, agents, hooks and config under .codex."""
