"""L2: pure decisions. What a rule means, what a call does, and whether it may happen."""
