"""smolagents projects."""
