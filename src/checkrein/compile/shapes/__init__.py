"""Data shapes in a spec, whatever the notation: one tree of types for all of them."""
