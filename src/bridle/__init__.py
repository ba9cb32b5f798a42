"""Bridle: read an agent project into one typed model, then show, explain, check, govern and run it.

Exports are lazy: importing `bridle` costs nothing until a name is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_EXPORTS = {
    "Diagnostic": "bridle.base.diagnostic",
    "Origin": "bridle.base.origin",
    "BridleError": "bridle.base.errors",
    "Project": "bridle.model.project",
    "load": "bridle.passes.load",
    "check": "bridle.passes.check",
}

if TYPE_CHECKING:
    from bridle.base.diagnostic import Diagnostic as Diagnostic
    from bridle.base.errors import BridleError as BridleError
    from bridle.base.origin import Origin as Origin
    from bridle.model.project import Project as Project
    from bridle.passes.check import check as check
    from bridle.passes.load import load as load

__all__ = ["BridleError", "Diagnostic", "Origin", "Project", "__version__", "check", "load"]


def __getattr__(name: str) -> Any:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module 'bridle' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(module), name)
