"""Checks of cross-file findings; every module of this package is one check."""
