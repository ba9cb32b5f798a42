"""opencode: commands, skills and agents under .opencode, opencode.json, AGENTS.md."""
