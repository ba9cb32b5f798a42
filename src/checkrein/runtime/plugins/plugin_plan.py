"""What an installation would change: versions, and what each can do that the one before could not."""

from __future__ import annotations

from msgspec import Struct

from checkrein.base.errors import PolicyError
from checkrein.model.plugins import Capabilities, Pinned
from checkrein.runtime.plugins.packages import Package


class PluginChange(Struct, frozen=True, omit_defaults=True):
    """A version that takes another's place. `gained` is what it can do and the one before could not."""

    identity: str
    version: str
    hash: str
    before: str | None = None
    gained: Capabilities = Capabilities()
    lost: Capabilities = Capabilities()
    auto: bool = False


class Plan(Struct, frozen=True):
    """What is to be installed; `changes` says it to people. Nothing is installed yet. `renamed` are installed
    plugins with the names that their marketplace gives them now."""

    packages: tuple[Package, ...]
    changes: tuple[PluginChange, ...]
    asked: tuple[str, ...]
    renamed: dict[str, str] = {}

    @property
    def gains(self) -> bool:
        return any(one.gained.lines for one in self.changes)


def change_of(package: Package, before: Pinned | None, *, auto: bool) -> PluginChange | None:
    """None where nothing changes. Raises PolicyError for a version that is not what it was. What the entry
    of the marketplace adds may change under one version; it is shown like any other change."""
    after = package.pinned
    if before is not None and before.hash != after.hash and _is_same_version(before, after):
        raise PolicyError(
            f"{package.identity} {after.version} changed its content under the same version.",
            kind="version_changed",
            hint="Ask its publisher why. To take it, remove the plugin and install it again.",
        )
    if before is not None and (before.hash, before.entry) == (after.hash, after.entry):
        return None
    old = before.capabilities if before is not None else Capabilities()
    return PluginChange(
        package.identity,
        after.version,
        after.hash,
        before.version if before is not None else None,
        after.capabilities.beyond(old),
        old.beyond(after.capabilities),
        auto,
    )


def _is_same_version(before: Pinned, after: Pinned) -> bool:
    """A version that was made from the content, or that stands for none, says nothing."""
    version = after.version
    made_up = (
        version == "unknown"
        or version == (after.commit or "")[:12]
        or after.source.get("source") == "command"
    )
    return before.version == version and not made_up
