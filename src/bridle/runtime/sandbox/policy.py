"""What a sandboxed command may do, and where a project's settings say so."""

from __future__ import annotations

from msgspec import Struct


class SandboxPolicy(Struct, frozen=True, kw_only=True):
    """For one command. All paths are absolute and canonical.

    Writing is allowed below `write` and nowhere else; `deny_write` takes parts of it back. Reading is allowed
    everywhere but below `deny_read`. `network` is all or nothing.
    """

    write: tuple[str, ...]
    deny_write: tuple[str, ...] = ()
    deny_read: tuple[str, ...] = ()
    network: bool = False
