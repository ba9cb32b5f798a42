"""A session: its options, its events, and how its parts fit together."""
