"""Modules that are copied into a package as they are. They import nothing but the standard library."""

from __future__ import annotations

from functools import cache

PAYLOAD = "guards.py"


@cache
def payload(name: str) -> str:
    """The text of a module that is copied into packages as it is."""
    from importlib import resources

    return (resources.files("checkrein.compile.payload") / name).read_text("utf-8")
