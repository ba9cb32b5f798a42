"""Worktrees of a repository: separate checkouts for work that must not touch the main one."""
