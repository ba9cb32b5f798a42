"""Checkrein: read an agent project into one typed model, then show, explain, check, govern and run it.

Exports are lazy: importing `checkrein` costs nothing until a name is used.
"""

from __future__ import annotations

__version__ = "0.1.0"

_EXPORTS = {
    "Diagnostic": "checkrein.base.diagnostic",
    "Origin": "checkrein.base.origin",
    "CheckreinError": "checkrein.base.errors",
    "Project": "checkrein.model.project",
    "View": "checkrein.model.view",
    "load": "checkrein.passes.load",
    "check": "checkrein.passes.check",
    "decide": "checkrein.policy.decide",
    "Session": "checkrein.runtime.session",
    "Options": "checkrein.runtime.options",
    "Budget": "checkrein.runtime.budget",
    "Result": "checkrein.runtime.events",
    "run": "checkrein.runtime.api",
    "run_sync": "checkrein.runtime.api",
}

TYPE_CHECKING = False  # `typing` costs more than the rest of this module
if TYPE_CHECKING:
    from checkrein.base.diagnostic import Diagnostic as Diagnostic
    from checkrein.base.errors import CheckreinError as CheckreinError
    from checkrein.base.origin import Origin as Origin
    from checkrein.model.project import Project as Project
    from checkrein.model.view import View as View
    from checkrein.passes.check import check as check
    from checkrein.passes.load import load as load
    from checkrein.policy.decide import decide as decide
    from checkrein.runtime.api import run as run
    from checkrein.runtime.api import run_sync as run_sync
    from checkrein.runtime.budget import Budget as Budget
    from checkrein.runtime.events import Result as Result
    from checkrein.runtime.options import Options as Options
    from checkrein.runtime.session import Session as Session

__all__ = [
    "Budget",
    "CheckreinError",
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
        raise AttributeError(f"module 'checkrein' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(module), name)
