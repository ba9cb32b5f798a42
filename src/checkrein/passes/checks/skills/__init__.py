"""Checks of Agent Skills; every module of this package is one check."""
