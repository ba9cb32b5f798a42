"""Plugins: marketplaces, the cache, the lock, and what a session needs of the installed ones."""
