"""Checks of hooks; every module of this package is one check."""
