"""The sandbox of a session: what settings and deny rules ask for, as far as this machine can enforce it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from bridle.base.diagnostic import Diagnostic
from bridle.base.errors import PolicyError
from bridle.base.origin import Origin
from bridle.model.project import Place, Project
from bridle.model.rule import Rule
from bridle.runtime.sandbox import SandboxPolicy, detect, policy_for, sandbox_settings

MAX_ENTRIES = 50_000
_SKIPPED = frozenset({".git", "node_modules", ".venv"})
_GLOB = frozenset("*?[{")


def confinement(project: Project, *, wanted: bool) -> tuple[SandboxPolicy | None, tuple[Diagnostic, ...]]:
    """The policy for commands, or None when they run unconfined; a Diagnostic says why it could not be."""
    settings = sandbox_settings({name: one.value for name, one in project.settings.items()})
    if not (settings.enabled or wanted):
        return None, ()
    status = detect()
    if status.kind == "none":
        missing = "; ".join(status.missing) or "the kernel offers none"
        if settings.fail_if_unavailable:
            raise PolicyError(f"The sandbox can't be used here: {missing}", kind="sandbox_unavailable")
        origin = _origin(project)
        message = f"Commands run without a sandbox: {missing}"
        return None, (Diagnostic("SANDBOX001", "warning", message, origin, hint="Run `bridle doctor`."),)
    place = project.place
    reads = tuple(denied(project.rules, place, ("Read",)))
    writes = tuple(denied(project.rules, place, ("Edit",)))
    policy = policy_for(
        settings, root=place.cwd, add_dirs=place.add_dirs, home=place.home, deny_read=reads, deny_write=writes
    )
    return policy, ()


def denied(rules: Iterable[Rule], place: Place, tools: tuple[str, ...]) -> Iterator[str]:
    """The existing paths that deny rules on files name, so that the kernel can keep them closed too."""
    relative: list[str] = []
    for rule in rules:
        if rule.behavior != "deny" or rule.tool not in tools or rule.specifier is None or rule.problem:
            continue
        text = rule.specifier
        if text.startswith("//"):
            yield _stem(text[1:])
        elif text.startswith("~/"):
            yield _stem(place.home + text[1:])
        elif text.startswith("/"):
            yield _stem(os.path.join(rule.anchor or place.cwd, text[1:]))
        else:
            relative.append(text.removeprefix("./") if not text.startswith("./") else "/" + text[2:])
    if relative:
        yield from _found(relative, place.cwd)


def _stem(path: str) -> str:
    """A path up to its first component with a wildcard."""
    parts: list[str] = []
    for part in path.split("/"):
        if _GLOB & set(part):
            break
        parts.append(part)
    return "/".join(parts) or "/"


def _found(patterns: list[str], root: str) -> Iterator[str]:
    from pathspec import GitIgnoreSpec

    spec = GitIgnoreSpec.from_lines(patterns)
    seen = 0
    for directory, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in _SKIPPED]
        for name in [*folders, *files]:
            seen += 1
            if seen > MAX_ENTRIES:
                return
            path = os.path.join(directory, name)
            shown = os.path.relpath(path, root) + ("/" if name in folders else "")
            if spec.match_file(shown):
                yield path
                if name in folders:
                    folders.remove(name)


def _origin(project: Project) -> Origin:
    effective = project.settings.get("sandbox.enabled")
    if effective is not None and effective.candidates:
        return effective.candidates[0].item.origin
    return Origin("<command line>", "cli")
