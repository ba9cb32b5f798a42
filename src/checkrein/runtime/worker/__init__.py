"""Runs one skill without a person, on any backend, and says how it ended."""
