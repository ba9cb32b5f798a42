"""Checks of permission rules; every module of this package is one check."""
