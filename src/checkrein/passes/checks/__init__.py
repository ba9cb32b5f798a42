"""The checks: one rule, one file."""
