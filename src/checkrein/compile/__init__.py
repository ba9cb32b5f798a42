"""A spec as a standalone Python package: classify, inventory, decompose, map, emit, lint."""
