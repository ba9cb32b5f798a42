"""A plan as a unified diff, without anything in it that looks like a secret."""

from __future__ import annotations

from checkrein.base.secrets import redact_source, redact_text
from checkrein.deploy.paths import Paths
from checkrein.deploy.plan import Plan


def unified_diff(paths: Paths, plan: Plan) -> str:
    from difflib import unified_diff as lines_of

    parts: list[str] = []
    for change in plan.pending:
        before = paths.read(change.path) or b""
        after = b"" if change.action == "delete" else change.content
        if b"\0" in before[:8000] or b"\0" in after[:8000]:
            parts.append(f"Binary file {change.path}: {change.action}\n")
            continue
        old, new = _shown(change.path, before), _shown(change.path, after)
        left = "/dev/null" if change.action == "create" else f"a/{change.path}"
        right = "/dev/null" if change.action == "delete" else f"b/{change.path}"
        for line in lines_of(old, new, left, right):
            parts.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(parts)


def _shown(path: str, content: bytes) -> list[str]:
    """The lines of a file. In settings the name beside a value shows more secrets."""
    lines = redact_text(content.decode("utf-8", "replace")).splitlines(keepends=True)
    return [redact_source(line) for line in lines] if path.endswith((".json", ".toml")) else lines
