"""A turn: one prompt and its answer."""
