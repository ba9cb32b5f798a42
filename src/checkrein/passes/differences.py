"""What fixes would change, as unified diffs."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

from checkrein.base.diagnostic import Diagnostic
from checkrein.passes.fix import plan_fixes, rewritten


def difference(found: Iterable[Diagnostic], root: str, *, unsafe: bool = False) -> str:
    """The diff of all files that the fixes change; empty when there are none."""
    plan = plan_fixes(found, unsafe=unsafe)
    parts: list[str] = []
    for file, edits in sorted(plan.edits.items()):
        before = Path(file).read_bytes().decode("utf-8")
        after = rewritten(before, edits)
        name = os.path.relpath(file, root).replace(os.sep, "/")
        lines = difflib.unified_diff(
            before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
        )
        for line in lines:
            parts.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(parts)
