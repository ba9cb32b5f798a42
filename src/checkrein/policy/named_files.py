"""The files that a shell text names as written, for what its approval covers."""

from __future__ import annotations

from checkrein.policy.abstract import is_static
from checkrein.policy.shell import analyse
from checkrein.policy.shell.files import Touched, touched
from checkrein.policy.values import Context


def named_writes(text: str, context: Context) -> frozenset[str]:
    """Absolute paths. The words of a program that Checkrein does not know count, too: who approved it saw
    them."""
    found: set[str] = set()
    for command in analyse(text, context.cwd, context.home).commands:
        files = touched(command, context.home) if command.words else Touched()
        for access in (*command.writes, *files.writes, *files.arguments):
            found.update(path for path in access.paths if is_static(path))
    return frozenset(found)
