"""A call of a tool: the tools, the gate, the host."""
