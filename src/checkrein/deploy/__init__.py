"""L4: writes a project out for other agents. Plan, diff, apply; a manifest makes it reversible."""
