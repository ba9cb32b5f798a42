"""Recipes: YAML files of the project and those that Checkrein brings."""
