"""AutoGen projects."""
