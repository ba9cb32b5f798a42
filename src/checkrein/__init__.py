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
    "check": "checkrein.passes.findings",
    "decide": "checkrein.policy.decide",
    "Session": "checkrein.runtime.session.session",
    "Options": "checkrein.runtime.session.options",
    "Budget": "checkrein.runtime.session.budget",
    "Result": "checkrein.runtime.session.events",
    "run": "checkrein.runtime.session.oneshot",
    "run_sync": "checkrein.runtime.session.oneshot",
}

TYPE_CHECKING = False  # `typing` costs more than the rest of this module
if TYPE_CHECKING:
    from checkrein.base.diagnostic import Diagnostic as Diagnostic
    from checkrein.base.errors import CheckreinError as CheckreinError
    from checkrein.base.origin import Origin as Origin
    from checkrein.model.project import Project as Project
    from checkrein.model.view import View as View
    from checkrein.passes.findings import check as check
    from checkrein.passes.load import load as load
    from checkrein.policy.decide import decide as decide
    from checkrein.runtime.session.budget import Budget as Budget
    from checkrein.runtime.session.events import Result as Result
    from checkrein.runtime.session.oneshot import run as run
    from checkrein.runtime.session.oneshot import run_sync as run_sync
    from checkrein.runtime.session.options import Options as Options
    from checkrein.runtime.session.session import Session as Session

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
