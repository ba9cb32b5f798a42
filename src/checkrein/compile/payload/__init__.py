"""Modules that compile copies into a package unchanged. They import only the standard library."""

from __future__ import annotations

from functools import cache

PAYLOAD = "guards.py"


@cache
def payload(name: str) -> str:
    """The text of a module that compile copies into packages unchanged."""
    from importlib import resources

    return (resources.files("checkrein.compile.payload") / name).read_text("utf-8")
