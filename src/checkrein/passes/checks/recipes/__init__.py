"""Recipes: structure, routes, inputs, dataflow."""
