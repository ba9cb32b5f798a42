"""Amp: commands and skills under .agents, settings under .amp, AGENTS.md."""
