"""Recipes of a project: the library, sub-recipes merged, inputs, and the plan that an engine runs."""
