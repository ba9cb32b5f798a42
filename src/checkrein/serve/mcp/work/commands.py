"""Commands, Python and tests."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.hands import Hands, Ran

_SUMMARY = re.compile(r"^=+ .*\b(?:passed|failed|error|errors)\b.* =+$", re.MULTILINE)
_BAD = re.compile(r"\b[1-9]\d* (?:failed|errors?)\b")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_EDITABLE = re.compile(r"\bpip3?\b.*\binstall\b.*(?:\s-e\b|\s--editable\b)")
_CALL = """
import importlib, json, sys
place, _, name = sys.argv[1].rpartition(".")
result = getattr(importlib.import_module(place), name)(**json.loads(sys.argv[2]))
print("\\n" + json.dumps(result, default=str))
"""
_SHOWN = 20_000


def run_cmd(hands: Hands, cmd: str, cwd: str, timeout: float = 600.0, step_name: str = "") -> dict[str, Any]:
    if _EDITABLE.search(cmd) and ".venv" not in cmd:
        raise ToolFailure("An editable install must go into a .venv: name its pip, as in .venv/bin/pip.")
    return _ended(hands.shell(cmd, cwd, timeout))


def run_python(
    hands: Hands, callable: str, args: dict[str, Any] | None = None, timeout: float = 30.0
) -> dict[str, Any]:
    """In a process of its own, which ends with its time: the project's Python, if it has one."""
    if _DOTTED.fullmatch(callable) is None:
        raise ToolFailure(f"{callable!r} is not the dotted name of a function.")
    own = os.path.join(hands.root, ".venv", "bin", "python")
    python = own if os.path.exists(own) else sys.executable
    ran = hands.program(
        python, "-c", _CALL, callable, json.dumps(args or {}), cwd=hands.root, timeout=timeout
    )
    if not ran.ok:
        why = f"it took longer than {timeout:g} s" if ran.timed_out else ran.last_words
        return {"success": False, "error": why}
    try:
        return {"success": True, "result": json.loads(ran.stdout.rstrip().rpartition("\n")[2])}
    except ValueError:
        return {"success": False, "error": "it ended without a result", "stdout": ran.stdout[-_SHOWN:]}


def check_tests(hands: Hands, worktree_path: str, step_name: str = "") -> dict[str, Any]:
    passed, ran = tested(hands, worktree_path)
    return {"passed": passed, "stdout": ran.stdout[-_SHOWN:], "stderr": ran.stderr[-_SHOWN:]}


def tested(hands: Hands, path: str) -> tuple[bool, Ran]:
    """Whether the project's tests pass there: by the exit status, and by what a summary of pytest says."""
    command = hands.command_setting("test_check.command")
    if command is None:
        raise ToolFailure("Set test_check.command to the command that runs the project's tests.")
    ran = hands.shell(command, path, float(hands.setting("test_check.timeout")))
    summaries = _SUMMARY.findall(ran.stdout)
    return ran.ok and not (summaries and _BAD.search(summaries[-1])), ran


def _ended(ran: Ran) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "success": ran.ok,
        "exit_code": ran.exit_code,
        "stdout": ran.stdout,
        "stderr": ran.stderr,
    }
    return {**answer, "error": "the time is over"} if ran.timed_out else answer
