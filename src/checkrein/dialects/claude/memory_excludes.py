"""`claudeMdExcludes`: patterns over absolute paths that keep instruction files out."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """A test for absolute paths. Without patterns it imports nothing and matches nothing."""
    wanted = [pattern for pattern in patterns if pattern]
    if not wanted:
        return lambda path: False
    from pathspec import PathSpec

    specs = []
    for pattern in wanted:
        try:
            specs.append(PathSpec.from_lines("gitignore", [pattern]))
        except ValueError:
            continue
    return lambda path: any(spec.match_file(path.lstrip("/")) for spec in specs)
