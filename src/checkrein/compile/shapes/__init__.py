"""Data shapes that a spec writes down, whatever the notation: one tree of types for all of them."""
