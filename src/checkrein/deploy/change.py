"""What happens to one path, and the remarks about it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin, Span
from checkrein.deploy.manifest import Entry

Action = Literal["create", "update", "delete", "unchanged", "source", "edited", "foreign", "release"]
WRITING: tuple[Action, ...] = ("create", "update", "delete")


class Change(Struct, frozen=True, omit_defaults=True):
    """What happens to one path.

    `unchanged` exists already (and stays its owner's if it was not ours); `source` is a source itself;
    `edited` has changed since we wrote it and `foreign` was never ours: both stay as they are; `release`
    stays for the remaining agents. `before` is the hash of the current content; `held` are the keys of a
    shared file that stay as the user has them.
    """

    path: str
    action: Action
    targets: tuple[str, ...]
    content: bytes = b""
    executable: bool = False
    before: str | None = None
    kept: str | None = None
    shared: bool = False
    held: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        return self.action in WRITING

    @property
    def blocked(self) -> bool:
        """True when a wanted part is not written because it is not ours."""
        return self.action in ("edited", "foreign") or bool(self.held)


class Step(Struct, frozen=True):
    """A change, the new manifest entry of its path (None: no new one), and remarks about it."""

    change: Change
    entry: Entry | None = None
    remarks: tuple[Diagnostic, ...] = ()


def left_as_it_is(change: Change) -> Diagnostic:
    """Why deploy does not touch a file."""
    if change.action == "edited":
        message = f"{change.path} was edited after deploy wrote it; it stays as it is"
        hint = "move the change to its source, or use --force"
    else:
        message = f"{change.path} exists already and deploy did not write it; it stays as it is"
        hint = "move it away, or use --force (undo restores it)"
    return found("DEP009", change.path, message, hint, "warning")


def found(
    code: str,
    path: str,
    message: str,
    hint: str | None = None,
    severity: Literal["error", "warning"] = "error",
    line: int = 1,
) -> Diagnostic:
    return Diagnostic(code, severity, message, Origin(path, "project", Span(line)), hint=hint)
