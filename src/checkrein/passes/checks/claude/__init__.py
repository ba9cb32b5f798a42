"""Checks of Claude Code; every module of this package is one check."""
