"""Makes a standalone Python package of a spec: classify, inventory, decompose, map, emit, lint."""
