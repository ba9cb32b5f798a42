"""Bridle: read an agent project into one typed model, then show, explain, check, govern and run it.

Exports are lazy: importing `bridle` costs nothing until a name is used.
"""

from __future__ import annotations

__version__ = "0.1.0"

_EXPORTS = {
    "Diagnostic": "bridle.base.diagnostic",
    "Origin": "bridle.base.origin",
    "BridleError": "bridle.base.errors",
    "Project": "bridle.model.project",
    "View": "bridle.model.view",
    "load": "bridle.passes.load",
    "check": "bridle.passes.check",
    "decide": "bridle.policy.decide",
    "Session": "bridle.runtime.session",
    "Options": "bridle.runtime.options",
    "Budget": "bridle.runtime.budget",
    "Result": "bridle.runtime.events",
    "run": "bridle.runtime.api",
    "run_sync": "bridle.runtime.api",
}

TYPE_CHECKING = False  # `typing` costs more than the rest of this module
if TYPE_CHECKING:
    from bridle.base.diagnostic import Diagnostic as Diagnostic
    from bridle.base.errors import BridleError as BridleError
    from bridle.base.origin import Origin as Origin
    from bridle.model.project import Project as Project
    from bridle.model.view import View as View
    from bridle.passes.check import check as check
    from bridle.passes.load import load as load
    from bridle.policy.decide import decide as decide
    from bridle.runtime.api import run as run
    from bridle.runtime.api import run_sync as run_sync
    from bridle.runtime.budget import Budget as Budget
    from bridle.runtime.events import Result as Result
    from bridle.runtime.options import Options as Options
    from bridle.runtime.session import Session as Session

__all__ = [
    "BridleError",
    "Budget",
    "Diagnostic",
    "Options",
    "Origin",
    "Project",
    "Result",
    "Session",
    "View",
    "__version__",
    "check",
    "decide",
    "load",
    "run",
    "run_sync",
]


def __getattr__(name: str) -> object:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module 'bridle' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(module), name)
