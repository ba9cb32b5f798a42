"""Secrets stay on this machine: masks in place of values, and the values back where they belong."""
