"""Hooks: what a project runs on the events of a session, and what the answers mean."""
