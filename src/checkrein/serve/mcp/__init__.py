"""The MCP server: tools behind the project's gate, its own or those of other servers."""
