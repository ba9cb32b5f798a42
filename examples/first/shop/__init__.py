"""Prices in whole cents."""
