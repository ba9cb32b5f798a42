"""CrewAI projects."""
