"""Windsurf: rules, workflows and skills under .windsurf."""
