"""L2: one folder per agent; `read` turns its files into source items, `write` does the reverse."""
