"""Recipes, executed durably: the interpreter of a Plan, the engine behind its port, and workers."""
