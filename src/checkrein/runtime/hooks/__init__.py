"""Hooks: what a project runs when something happens in a session, and what its answers mean."""
