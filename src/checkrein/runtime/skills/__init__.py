"""Skills and commands in a session: what the model learns about them, and what an invocation does."""
