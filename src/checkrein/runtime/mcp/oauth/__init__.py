"""Sign-in to remote MCP servers: settings, tokens, a person's consent, and the flow that joins them."""
