"""The work of the kitchen's tools. Each is a function; its signature is the tool's schema."""
