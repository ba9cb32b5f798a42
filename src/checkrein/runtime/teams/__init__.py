"""Teams: agents that stay, speak to each other and share a list of tasks."""
