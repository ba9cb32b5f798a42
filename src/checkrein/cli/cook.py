"""`checkrein cook`: a session that sees the skills of all tiers."""

from __future__ import annotations

from typing import Any

from checkrein.base.errors import UsageError
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.run import COMMAND as RUN
from checkrein.cli.run import run as run_session
from checkrein.cli.run_args import RUN_ARGS

_FOR_CLAUDE = frozenset({"prompt", "project", "print_", "model", "resume", "permission_mode", "add_dir"})
"""Arguments of ours that a session of Claude Code takes too."""

COMMAND = Command(
    name="cook",
    summary="Open a session that sees all skills: every tier, also of disabled subsets and packs.",
    details="It takes the arguments of `checkrein run`. [Who sees which skill](skill-visibility.md).",
    args=(
        *RUN_ARGS,
        Arg(
            name="backend",
            flags=("--backend",),
            type="choice",
            choices=("checkrein", "claude"),
            default="checkrein",
            help="What runs the session: Checkrein, or Claude Code on this terminal.",
        ),
    ),
    output="stream",
    errors=(*RUN.errors, "skill_in_two_tiers", "backend_missing"),
    exits=RUN.exits,
    examples=(
        ("checkrein cook '/diagnose-ci'", "run a skill of tier 3 yourself"),
        ("checkrein cook --backend claude", "the same skills in Claude Code"),
    ),
)


def run(**values: Any) -> Outcome:
    backend = values.pop("backend")
    values["session_mode"] = "cook"
    return run_session(**values) if backend == "checkrein" else _claude(values)


def _claude(values: dict[str, Any]) -> Outcome:
    import os

    from checkrein.cli.run_options import project_of
    from checkrein.runtime.skills.claude_session import ClaudeTerms, run_claude

    usual = {arg.name: arg.default for arg in RUN_ARGS}
    for arg in RUN_ARGS:
        if arg.name not in _FOR_CLAUDE and values[arg.name] not in (usual[arg.name], None, False, ()):
            raise UsageError(f"{arg.flags[-1]} does not work with --backend claude.")
    if values["resume"] == "":
        raise UsageError("--resume needs the id of a session with --backend claude.")
    terms = ClaudeTerms(
        prompt=values["prompt"],
        print=values["print_"],
        model=values["model"],
        resume=values["resume"],
        mode=values["permission_mode"],
    )
    return Outcome(status=run_claude(project_of(values), terms, os.environ))
