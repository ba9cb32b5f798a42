"""Recipes of a project: what they may name, where their steps lead, and what their variables hold."""
