"""What a sandboxed command may do, and where a project's settings say so."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.facts.shell_paths import KEPT_PLACES, WATCHED_PLACES

if TYPE_CHECKING:
    from checkrein.policy.file_denies import FileDeny


class ProxyOnly(Struct, frozen=True, kw_only=True):
    """The network through one address of this machine. With `loopback`, other ports of this machine are open
    too, except `closed` ones. `rule` is what it is for."""

    host: str
    port: int
    loopback: bool = False
    closed: tuple[int, ...] = ()
    rule: str = ""
    origin: Origin | None = None


class SandboxPolicy(Struct, frozen=True, kw_only=True):
    """For one command. All paths are absolute and canonical.

    Writing is allowed below `write` and nowhere else, everywhere if that is None; `deny_write` takes parts of
    it back. Reading is allowed everywhere except at and below `deny_read`. `network` is all or nothing.
    Without `unix_sockets` a command can open no socket to another program of this machine: many of them lead
    out of any sandbox. With `only_reads` the command changes no mode, owner or time either, and the spawner
    gives it a temporary directory of its own as the one place to write. With `read`, it opens files there and
    in the places of the system, and nowhere else.

    The rest needs the guard. `denied_writes` are patterns whose files can't be written, made, moved or
    removed, wherever they are; `denied_files` (device, inode) are such files with several names. With
    `kept_names` instead, what the patterns match gets no other name. `proxy` is the one way to the network.
    With `daemons` False the command can't reach daemons that start programs for others.

    Only seatbelt enforces `deny_read_like` and `deny_write_like`, gitignore patterns with their base
    directories, and `deny_exec`, paths of programs.
    """

    write: tuple[str, ...] | None
    deny_write: tuple[str, ...] = ()
    deny_read: tuple[str, ...] = ()
    network: bool = False
    unix_sockets: bool = False
    only_reads: bool = False
    read: tuple[str, ...] | None = None
    denied_writes: tuple[FileDeny, ...] = ()
    denied_files: tuple[tuple[int, int], ...] = ()
    kept_names: tuple[FileDeny, ...] = ()
    proxy: ProxyOnly | None = None
    daemons: bool = True
    deny_read_like: tuple[tuple[str, str], ...] = ()
    deny_write_like: tuple[tuple[str, str], ...] = ()
    deny_exec: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Nothing but what deny rules say is closed."""
        return self.write is None and self.network and self.unix_sockets


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
    denied_domains: tuple[str, ...] = ()
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
    "denied_domains": "sandbox.network.deniedDomains",
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
    kept = (*settings.deny_write, *deny_write, *KEPT_PLACES, *WATCHED_PLACES)
    return SandboxPolicy(
        write=_outermost(real(path) for path in write),
        deny_write=tuple(sorted({real(path) for path in kept})),
        deny_read=_outermost(real(path) for path in (*settings.deny_read, *deny_read)),
        network="*" in settings.allowed_domains,
        unix_sockets=settings.all_unix_sockets,
    )


SYSTEM_PLACES = (
    *(
        "/usr",
        "/bin",
        "/sbin",
        "/lib",
        "/lib32",
        "/lib64",
        "/opt",
        "/nix/store",
        "/proc",
        "/dev",
        "/sys/devices",
    ),
    *(
        "/etc/ld.so.cache",
        "/etc/ld.so.conf",
        "/etc/ld.so.conf.d",
        "/etc/passwd",
        "/etc/group",
        "/etc/localtime",
    ),
    *("/etc/nsswitch.conf", "/etc/locale.alias", "/etc/gitconfig", "/etc/terminfo", "/etc/alternatives"),
    *("/etc/magic", "/etc/mime.types", "/etc/inputrc", "/etc/timezone", "/etc/os-release"),
)
"""Where programs find themselves and what they need to run. Nothing there belongs to a user."""


def reading_only(inside: SandboxPolicy | None = None, read: tuple[str, ...] | None = None) -> SandboxPolicy:
    """The bound of a command that needs no approval because it only reads: it writes nothing but a private
    temporary directory and reaches nothing else. What the sandbox around it can't read, it can't either."""
    return SandboxPolicy(
        write=(), deny_read=inside.deny_read if inside is not None else (), only_reads=True, read=read
    )


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Removes paths below another one."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not kept or not (path + "/").startswith(kept[-1].rstrip("/") + "/"):
            kept.append(path)
    return tuple(kept)
