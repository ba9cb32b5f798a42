"""L5: the interpreter. Runs a View of a project against a model and emits events."""
