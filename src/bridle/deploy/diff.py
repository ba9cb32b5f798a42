"""A plan as a unified diff, without anything in it that looks like a secret."""

from __future__ import annotations

from bridle.base.secrets import redact_text
from bridle.deploy.paths import Paths
from bridle.deploy.plan import Plan


def unified_diff(paths: Paths, plan: Plan) -> str:
    from difflib import unified_diff as lines_of

    parts: list[str] = []
    for change in plan.pending:
        before = paths.read(change.path) or b""
        after = b"" if change.action == "delete" else change.content
        if b"\0" in before[:8000] or b"\0" in after[:8000]:
            parts.append(f"Binary file {change.path}: {change.action}\n")
            continue
        old = redact_text(before.decode("utf-8", "replace")).splitlines(keepends=True)
        new = redact_text(after.decode("utf-8", "replace")).splitlines(keepends=True)
        left = "/dev/null" if change.action == "create" else f"a/{change.path}"
        right = "/dev/null" if change.action == "delete" else f"b/{change.path}"
        for line in lines_of(old, new, left, right):
            parts.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(parts)
