"""House rules for agent projects: one check and one tool."""
