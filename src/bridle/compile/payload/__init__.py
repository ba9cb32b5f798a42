"""Modules that are copied into a package as they are. They import nothing but the standard library."""
