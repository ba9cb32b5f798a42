"""Checks of MCP servers; every module of this package is one check."""
