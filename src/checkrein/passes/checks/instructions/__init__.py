"""Checks of instructions; every module of this package is one check."""
