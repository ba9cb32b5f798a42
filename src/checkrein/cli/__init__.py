"""L8: one module per command, declared in one registry; parses, calls, renders."""
