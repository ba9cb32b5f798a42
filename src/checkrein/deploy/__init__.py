"""L4: a project written out for other agents. Plan, diff, apply; a manifest makes it reversible."""
