"""AGENTS.md: instructions that no agent owns."""
