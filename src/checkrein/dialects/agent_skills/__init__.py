"""The Agent Skills open standard."""
