"""L3: from source items to a Project, and from a Project to diagnostics."""
