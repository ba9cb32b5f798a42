"""The behavior vocabulary: `behavior:` and `agents:`."""
