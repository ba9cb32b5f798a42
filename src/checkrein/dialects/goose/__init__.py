"""goose: recipes under .goose, AGENTS.md."""
