"""Auto memory: what the model notes for later sessions on the same project."""
