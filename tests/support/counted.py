"""The property of a test that counts what an agent lists: by its program, or by its documented rules."""

COUNTED = "counted"
