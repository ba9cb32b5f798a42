"""The sandbox of a session: what its settings ask for and this machine can enforce. The files that rules deny
come to each command with the binder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import PolicyError
from checkrein.base.origin import Origin, Scope
from checkrein.model.project import Project
from checkrein.policy.confined import Confined
from checkrein.policy.patterns import CommandPattern, compile_command
from checkrein.runtime.process.sandbox import SandboxPolicy, detect, policy_for, sandbox_settings

_OWN_SCOPES = ("managed", "cli", "user")
"""Who may loosen the sandbox, the strongest first. A project's files may switch it on and narrow it."""


class Confinement(Confined, frozen=True, kw_only=True):
    """Adds what the kernel enforces: there is a `policy` exactly when the sandbox is active."""

    policy: SandboxPolicy | None = None


def confinement(project: Project, *, wanted: bool) -> tuple[Confinement, tuple[Diagnostic, ...]]:
    """The confinement of commands. A Diagnostic says why there is none."""
    settings = sandbox_settings({name: one.value for name, one in project.settings.items()})
    if not (settings.enabled or wanted or _own(project, "sandbox.enabled") is True):
        return Confinement(), ()
    status = detect()
    if status.kind == "none":
        missing = "; ".join(status.missing) or "the kernel offers none"
        if settings.fail_if_unavailable:
            raise PolicyError(f"The sandbox does not work here: {missing}", kind="sandbox_unavailable")
        origin = _origin(project)
        message = f"Commands run without a sandbox: {missing}"
        return Confinement(), (
            Diagnostic("SANDBOX001", "warning", message, origin, hint="Run `checkrein doctor`."),
        )
    place = project.place
    policy = policy_for(settings, root=place.cwd, add_dirs=place.add_dirs, home=place.home)
    if status.kind == "seatbelt":
        policy = _by_patterns(policy, project)
    found = Confinement(
        active=True,
        policy=policy,
        approves=_approves(project) and not policy.network,
        may_leave=not _refused(project, "sandbox.allowUnsandboxedCommands"),
        excluded=tuple(_excluded(project)),
    )
    return found, ()


def _by_patterns(policy: SandboxPolicy, project: Project) -> SandboxPolicy:
    """With what seatbelt can enforce besides: files that do not exist yet, and programs by their path."""
    from checkrein.runtime.process.sandbox import seatbelt

    place, rules = project.place, project.rules
    return replace(
        policy,
        deny_read_like=seatbelt.patterns(rules, "Read", root=place.cwd, home=place.home),
        deny_write_like=seatbelt.patterns(rules, "Edit", root=place.cwd, home=place.home),
        deny_exec=seatbelt.programs(rules, _programs),
    )


def _programs(name: str) -> Iterator[str]:
    """The paths of a program by its name, with and without links."""
    for directory in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            yield from (path, os.path.realpath(path))


def _values(project: Project, key: str) -> list[tuple[Scope, Any]]:
    """Every value of a setting, with its scope."""
    effective = project.settings.get(key)
    candidates = effective.candidates if effective is not None else ()
    return [(one.item.origin.scope, one.item.value) for one in candidates]


def _own(project: Project, key: str) -> Any:
    """The value of a setting without the project's files."""
    values = _values(project, key)
    return next((value for own in _OWN_SCOPES for scope, value in values if scope == own), None)


def _refused(project: Project, key: str) -> bool:
    """Whether it is set to false: in a managed file if one sets it, else in any."""
    values = _values(project, key)
    return any(value is False for scope, value in [one for one in values if one[0] == "managed"] or values)


def _approves(project: Project) -> bool:
    """Whether the user switched the sandbox on, and no setting wants approval for commands in it."""
    wished = _own(project, "sandbox.enabled") is True
    return wished and not _refused(project, "sandbox.autoAllowBashIfSandboxed")


def _excluded(project: Project) -> Iterator[CommandPattern]:
    for scope, value in _values(project, "sandbox.excludedCommands"):
        for text in value if isinstance(value, list | tuple) else (value,):
            if scope in _OWN_SCOPES and isinstance(text, str) and text.strip():
                name = text.strip()
                yield compile_command(name if " " in name or "*" in name else f"{name} *")


def _origin(project: Project) -> Origin:
    effective = project.settings.get("sandbox.enabled")
    if effective is not None and effective.candidates:
        return effective.candidates[0].item.origin
    return Origin("<command line>", "cli")
