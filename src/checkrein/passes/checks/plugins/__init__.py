"""Checks of plugins; every module of this package is one check."""
