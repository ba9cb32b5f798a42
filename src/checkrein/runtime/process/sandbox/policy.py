"""What a sandboxed command may do, and where a project's settings say so."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

PROTECTED = (
    *(".claude/settings.json", ".claude/settings.local.json", ".claude/hooks", ".mcp.json", "checkrein.toml"),
    *(".git/config", ".git/hooks", ".husky", ".envrc", ".vscode", ".idea"),
)
"""Places in a project whose content later runs or counts outside the sandbox."""


class SandboxPolicy(Struct, frozen=True, kw_only=True):
    """For one command. All paths are absolute and canonical.

    Writing is allowed below `write` and nowhere else; `deny_write` takes parts of it back. Reading is allowed
    everywhere except at and below `deny_read`. `network` is all or nothing. Without `unix_sockets` a command
    can open no socket to another program of this machine: many of them lead out of any sandbox.

    Only seatbelt enforces the rest: `deny_read_like` and `deny_write_like` are gitignore patterns with their
    base directories, `deny_exec` are paths of programs, `proxy_port` is the one port open on this machine.
    """

    write: tuple[str, ...]
    deny_write: tuple[str, ...] = ()
    deny_read: tuple[str, ...] = ()
    network: bool = False
    unix_sockets: bool = False
    deny_read_like: tuple[tuple[str, str], ...] = ()
    deny_write_like: tuple[tuple[str, str], ...] = ()
    deny_exec: tuple[str, ...] = ()
    proxy_port: int | None = None


class SandboxSettings(Struct, frozen=True, kw_only=True):
    """The `sandbox.*` settings that Checkrein obeys."""

    enabled: bool = False
    auto_allow: bool = True
    excluded_commands: tuple[str, ...] = ()
    allow_unsandboxed: bool = True
    fail_if_unavailable: bool = False
    allow_write: tuple[str, ...] = ()
    deny_write: tuple[str, ...] = ()
    deny_read: tuple[str, ...] = ()
    allowed_domains: tuple[str, ...] = ()
    all_unix_sockets: bool = False


_KEYS = {
    "enabled": "sandbox.enabled",
    "auto_allow": "sandbox.autoAllowBashIfSandboxed",
    "excluded_commands": "sandbox.excludedCommands",
    "allow_unsandboxed": "sandbox.allowUnsandboxedCommands",
    "fail_if_unavailable": "sandbox.failIfUnavailable",
    "allow_write": "sandbox.filesystem.allowWrite",
    "deny_write": "sandbox.filesystem.denyWrite",
    "deny_read": "sandbox.filesystem.denyRead",
    "allowed_domains": "sandbox.network.allowedDomains",
    "all_unix_sockets": "sandbox.network.allowAllUnixSockets",
}


def sandbox_settings(values: Mapping[str, Any]) -> SandboxSettings:
    """From settings by dotted name. A value of the wrong type counts as not set."""
    given: dict[str, Any] = {}
    for field, key in _KEYS.items():
        value = values.get(key)
        if isinstance(value, bool):
            given[field] = value
        elif isinstance(value, list | tuple):
            given[field] = tuple(str(entry) for entry in value)
    defaults = SandboxSettings()
    fitting = {name: value for name, value in given.items() if type(value) is type(getattr(defaults, name))}
    return SandboxSettings(**fitting)


def policy_for(
    settings: SandboxSettings,
    *,
    root: str,
    add_dirs: tuple[str, ...] = (),
    home: str,
    temporary: str = "/tmp",  # noqa: S108  the place that commands expect
    deny_read: tuple[str, ...] = (),
    deny_write: tuple[str, ...] = (),
) -> SandboxPolicy:
    """The policy for a project. `deny_read` and `deny_write` are what the permission rules forbid.

    Lists of domains can't be enforced without a proxy, so the network is open only for `["*"]`.
    """

    def real(path: str) -> str:
        if path.startswith("//"):
            path = path[1:]
        elif path == "~" or path.startswith("~/"):
            path = home + path[1:]
        return os.path.realpath(os.path.join(root, path))

    write = (root, *add_dirs, temporary, *settings.allow_write)
    kept = (*settings.deny_write, *deny_write, *PROTECTED)
    return SandboxPolicy(
        write=_outermost(real(path) for path in write),
        deny_write=tuple(sorted({real(path) for path in kept})),
        deny_read=_outermost(real(path) for path in (*settings.deny_read, *deny_read)),
        network="*" in settings.allowed_domains,
        unix_sockets=settings.all_unix_sockets,
    )


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Removes paths below another one."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not kept or not (path + "/").startswith(kept[-1].rstrip("/") + "/"):
            kept.append(path)
    return tuple(kept)
