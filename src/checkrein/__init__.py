"""Checkrein: read an agent project into one typed model, then show, explain, check, govern and run it.

These names are the public surface (docs/api.md); other modules may change. Exports are lazy: importing
`checkrein` costs nothing until a program uses a name.
"""

from __future__ import annotations

__version__ = "0.1.0"

_EXPORTS = {
    "Answer": "checkrein.runtime.session.control",
    "Answerer": "checkrein.runtime.session.control",
    "Asker": "checkrein.runtime.session.control",
    "Budget": "checkrein.runtime.session.budget",
    "Call": "checkrein.policy.values",
    "Check": "checkrein.passes.checks.check",
    "CheckreinError": "checkrein.base.errors",
    "Context": "checkrein.policy.values",
    "Control": "checkrein.runtime.session.control",
    "Decision": "checkrein.policy.values",
    "Diagnostic": "checkrein.base.diagnostic",
    "Dialect": "checkrein.dialects.dialect",
    "Event": "checkrein.runtime.session.events",
    "Finding": "checkrein.passes.checks.check",
    "Options": "checkrein.runtime.session.options",
    "Origin": "checkrein.base.origin",
    "Policy": "checkrein.policy.policy",
    "Project": "checkrein.model.project",
    "Question": "checkrein.runtime.session.control",
    "Result": "checkrein.runtime.session.events",
    "RunError": "checkrein.base.errors",
    "Session": "checkrein.runtime.session.session",
    "Situation": "checkrein.policy.situation",
    "Subject": "checkrein.passes.checks.check",
    "Tool": "checkrein.runtime.tools.port",
    "ToolContext": "checkrein.runtime.tools.port",
    "ToolDeclaration": "checkrein.runtime.tools.port",
    "ToolFailure": "checkrein.runtime.tools.port",
    "ToolOutput": "checkrein.runtime.tools.port",
    "View": "checkrein.model.view",
    "check": "checkrein.passes.findings",
    "compile_skill": "checkrein.compile.skill",
    "decide": "checkrein.policy.decide",
    "deploy_project": "checkrein.deploy.deploy",
    "effects": "checkrein.policy.tools",
    "events": "checkrein.runtime.session",
    "load": "checkrein.passes.load",
    "policy_of": "checkrein.policy.project",
    "run": "checkrein.runtime.session.oneshot",
    "run_sync": "checkrein.runtime.session.oneshot",
    "situation_of": "checkrein.runtime.session.prospect",
}

TYPE_CHECKING = False  # `typing` costs more than the rest of this module
if TYPE_CHECKING:
    from checkrein.base.diagnostic import Diagnostic as Diagnostic
    from checkrein.base.errors import CheckreinError as CheckreinError
    from checkrein.base.errors import RunError as RunError
    from checkrein.base.origin import Origin as Origin
    from checkrein.compile.skill import compile_skill as compile_skill
    from checkrein.deploy.deploy import deploy_project as deploy_project
    from checkrein.dialects.dialect import Dialect as Dialect
    from checkrein.model.project import Project as Project
    from checkrein.model.view import View as View
    from checkrein.passes.checks.check import Check as Check
    from checkrein.passes.checks.check import Finding as Finding
    from checkrein.passes.checks.check import Subject as Subject
    from checkrein.passes.findings import check as check
    from checkrein.passes.load import load as load
    from checkrein.policy.decide import decide as decide
    from checkrein.policy.policy import Policy as Policy
    from checkrein.policy.project import policy_of as policy_of
    from checkrein.policy.situation import Situation as Situation
    from checkrein.policy.tools import effects as effects
    from checkrein.policy.values import Call as Call
    from checkrein.policy.values import Context as Context
    from checkrein.policy.values import Decision as Decision
    from checkrein.runtime.session import events as events
    from checkrein.runtime.session.budget import Budget as Budget
    from checkrein.runtime.session.control import Answer as Answer
    from checkrein.runtime.session.control import Answerer as Answerer
    from checkrein.runtime.session.control import Asker as Asker
    from checkrein.runtime.session.control import Control as Control
    from checkrein.runtime.session.control import Question as Question
    from checkrein.runtime.session.events import Event as Event
    from checkrein.runtime.session.events import Result as Result
    from checkrein.runtime.session.oneshot import run as run
    from checkrein.runtime.session.oneshot import run_sync as run_sync
    from checkrein.runtime.session.options import Options as Options
    from checkrein.runtime.session.prospect import situation_of as situation_of
    from checkrein.runtime.session.session import Session as Session
    from checkrein.runtime.tools.port import Tool as Tool
    from checkrein.runtime.tools.port import ToolContext as ToolContext
    from checkrein.runtime.tools.port import ToolDeclaration as ToolDeclaration
    from checkrein.runtime.tools.port import ToolFailure as ToolFailure
    from checkrein.runtime.tools.port import ToolOutput as ToolOutput

__all__ = [
    "Answer",
    "Answerer",
    "Asker",
    "Budget",
    "Call",
    "Check",
    "CheckreinError",
    "Context",
    "Control",
    "Decision",
    "Diagnostic",
    "Dialect",
    "Event",
    "Finding",
    "Options",
    "Origin",
    "Policy",
    "Project",
    "Question",
    "Result",
    "RunError",
    "Session",
    "Situation",
    "Subject",
    "Tool",
    "ToolContext",
    "ToolDeclaration",
    "ToolFailure",
    "ToolOutput",
    "View",
    "__version__",
    "check",
    "compile_skill",
    "decide",
    "deploy_project",
    "effects",
    "events",
    "load",
    "policy_of",
    "run",
    "run_sync",
    "situation_of",
]


def __getattr__(name: str) -> object:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module 'checkrein' has no attribute {name!r}")
    from importlib import import_module

    found = import_module(module)
    return getattr(found, name) if hasattr(found, name) else import_module(f"{module}.{name}")


def __dir__() -> list[str]:
    own = ("all", "doc", "file", "loader", "name", "package", "path", "spec")
    return sorted([*__all__, *(f"__{name}__" for name in own)])
