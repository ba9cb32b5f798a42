"""L1: the project model. Frozen types and pure functions on them; no I/O."""
