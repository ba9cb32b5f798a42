"""Skills and commands in a session: what the model is told of them, and what happens when one is invoked."""
