"""Checks of files that only other agents read."""
