"""Timed work: prompts at set times, wake-ups, and commands whose output the model follows."""
