"""`checkrein trust`: look at what a project would run, and approve it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.cli.registry import Arg, Command, Outcome

if TYPE_CHECKING:
    from checkrein.policy.trust import TrustStatus
    from checkrein.runtime.trust import TrustStore


class Item(Struct, frozen=True, omit_defaults=True):
    """Something that runs or widens. A `guarded` variable counts only after `--env` named it."""

    kind: str
    label: str
    origin: Origin
    guarded: bool = False


class Difference(Struct, frozen=True, omit_defaults=True):
    change: str
    label: str
    origin: Origin | None = None


class Known(Struct, frozen=True):
    """A project in the store."""

    root: str
    trusted_at: str
    items: int


class Payload(Struct, frozen=True, omit_defaults=True):
    """`projects` with --list, the rest without. `changes` are those since the user last trusted it."""

    root: str = ""
    trusted: bool = False
    reason: str = ""
    digest: str = ""
    items: tuple[Item, ...] = ()
    changes: tuple[Difference, ...] = ()
    approved_env: tuple[str, ...] = ()
    projects: tuple[Known, ...] = ()
    problem: str | None = None


COMMAND = Command(
    name="trust",
    summary="Show what a project would run, and trust it as it is now.",
    details=(
        "Hooks, MCP servers, env, helper commands, shell lines of skills and allow rules of a project count "
        "only after you trusted it. The answer holds for what is listed: when any of it changes, you are "
        "asked again."
    ),
    args=(
        Arg(name="path", default=".", help="The project; its directory or a file in it."),
        Arg(name="revoke", flags=("--revoke",), type="bool", help="Take trust in the project back."),
        Arg(name="list_", flags=("--list",), type="bool", help="List the trusted projects."),
        Arg(name="yes", flags=("--yes", "-y"), type="bool", help="Trust without a question."),
        Arg(
            name="env",
            flags=("--env",),
            multiple=True,
            metavar="NAME",
            help="Also let the project set this guarded variable, such as PATH or a base URL.",
        ),
    ),
    payload=Payload,
    errors=("project_not_found", "variable_not_found", "trust_store_unwritable"),
    exits=((0, "trusted, revoked or listed"), (1, "not trusted, or an error"), (2, "wrong usage")),
    examples=(
        ("checkrein trust", "look at the project in this directory, and answer"),
        ("checkrein trust --yes --env PATH", "trust it and let it set PATH"),
        ("checkrein trust --revoke", "forget it"),
        ("checkrein trust --list", "list trusted projects"),
    ),
)


def run(path: str, revoke: bool, list_: bool, yes: bool, env: tuple[str, ...]) -> Outcome:
    from checkrein.runtime import trust as trusting

    store = trusting.TrustStore()
    if list_:
        return _list(store)
    from checkrein.cli import trust_text
    from checkrein.cli.target import require
    from checkrein.passes.load import load

    require(path)
    project = load(path)
    if revoke:
        known = trusting.revoke(project.place, store=store)
        status = trusting.status(project, store=store)
        told = "is no longer trusted" if known else "was not trusted"
        return Outcome(data=payload_of(status), text=lambda: f"{status.root} {told}.")
    status = trusting.status(project, store=store)
    _require_variables(status, env)
    if status.trusted and set(env) <= set(status.approved_env):
        return Outcome(data=payload_of(status), text=lambda: trust_text.settled(payload_of(status)))
    if not yes and not _confirmed(payload_of(status)):
        return Outcome(data=payload_of(status), text=lambda: trust_text.refused(payload_of(status)), status=1)
    status = trusting.trust(project, store=store, env=env)
    return Outcome(data=payload_of(status), text=lambda: trust_text.settled(payload_of(status)))


def _list(store: TrustStore) -> Outcome:
    from checkrein.cli import trust_text

    known = tuple(
        Known(root, record.approvals[-1].at, len(record.approvals[-1].items))
        for root, record in store.roots().items()
        if record.approvals
    )
    payload = Payload(projects=known, problem=store.problem)
    return Outcome(data=payload, text=lambda: trust_text.listing(payload))


def payload_of(status: TrustStatus) -> Payload:
    from checkrein.runtime.process.environment import needs_approval

    items = tuple(
        Item(
            item.kind,
            item.label,
            item.origin,
            item.kind == "env"
            and needs_approval(name := item.label.partition("=")[0])
            and name not in status.approved_env,
        )
        for item in status.items
    )
    changes = tuple(Difference(one.change, one.label, one.origin) for one in status.changes)
    return Payload(
        root=status.root,
        trusted=status.trusted,
        reason=status.reason,
        digest=status.digest,
        items=items,
        changes=changes,
        approved_env=status.approved_env,
        problem=status.problem,
    )


def _require_variables(status: TrustStatus, names: tuple[str, ...]) -> None:
    from checkrein.base.errors import NotFoundError
    from checkrein.base.nearest import did_you_mean

    known = [item.label.partition("=")[0] for item in status.items if item.kind == "env"]
    for name in names:
        if name not in known:
            raise NotFoundError(
                f"The project's env does not set {name}.{did_you_mean(name, known)}",
                kind="variable_not_found",
                hint="`checkrein trust` lists the variables.",
            )


def _confirmed(payload: Payload) -> bool:
    """Show and ask, on the terminal; without one the answer is no."""
    import sys

    from checkrein.cli import out, trust_text

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    out.say(trust_text.surface(payload), err=True)
    return out.confirm("Trust this project as it is?")
