"""The Claude Code dialect."""
