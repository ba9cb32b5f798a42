"""The bounds of a command that the warden starts: Landlock, hidden files, calls that the warden judges."""

from __future__ import annotations

import os
import re
from typing import Any

from msgspec.structs import replace

from checkrein.runtime.process.sandbox import landlock, seccomp
from checkrein.runtime.process.sandbox.bounds import Bounds, Reason
from checkrein.runtime.process.sandbox.detection import Prepared, can_hide
from checkrein.runtime.process.sandbox.policy import SandboxPolicy

_KEPT = Reason("the protection of settings, hooks and rules", None)


def wrap(argv: tuple[str, ...], policy: SandboxPolicy) -> Prepared | None:
    """None where another mechanism is better or the only one."""
    judged = bool(policy.denied_writes or policy.kept_names or policy.proxy or not policy.daemons)
    if not (judged or policy.write is None):
        return None
    hides = bool(policy.deny_read) and can_hide()
    # What is hidden needs no Landlock rules around it, which would also hide what is new beside it.
    ruled = replace(policy, deny_read=()) if hides else policy
    ruleset = -1
    if ruled.write is not None or ruled.deny_read:
        if not landlock.works():
            return None
        ruleset = landlock.ruleset(ruled)
    capabilities = None
    if policy.write is not None:
        capabilities = landlock.KEPT_BY_ROOT
    elif policy.deny_read or policy.denied_writes or policy.proxy:
        capabilities = landlock.KEPT_IN_THE_OPEN
    effects, reasons = _effects(policy)
    return Prepared(
        argv=argv,
        bounds=Bounds(
            ruleset=ruleset,
            filter=seccomp.program(
                network=policy.network or policy.proxy is not None,
                unix_sockets=policy.unix_sockets,
                changes=not policy.only_reads,
            ),
            capabilities=capabilities,
            hidden=policy.deny_read if hides else (),
            effects=effects,
            reasons=reasons,
        ),
    )


def _why(path: str, policy: SandboxPolicy) -> Reason:
    """The rule that a denied place comes from; a protected one has none."""
    for deny in (*policy.denied_writes, *policy.kept_names):
        for base in {deny.base, os.path.realpath(deny.base)}:
            rest = path.removeprefix(base.rstrip("/") + "/")
            if rest != path and re.match(deny.expression, f"{rest}/"):
                return Reason(deny.rule, deny.origin)
    return _KEPT


def _effects(policy: SandboxPolicy) -> tuple[dict[str, Any] | None, tuple[Reason, ...]]:
    """As plain values for the warden, with the rules by their numbers."""
    reasons: list[Reason] = []

    def key(reason: Reason) -> int:
        reasons.append(reason)
        return len(reasons) - 1

    files: dict[str, Any] | None = None
    if policy.denied_writes or policy.kept_names:
        files = {
            "rules": tuple(
                (
                    base,
                    deny.expression,
                    base + deny.start[len(deny.base) :],
                    key(Reason(deny.rule, deny.origin)),
                )
                for deny in (*policy.denied_writes, *policy.kept_names)
                for base in {deny.base, os.path.realpath(deny.base)}
            ),
            "places": tuple(
                (path, key(_why(path, policy)))
                for path in (*(policy.deny_write if policy.denied_writes else ()), *policy.deny_read)
            ),
            "files": tuple((*identity, -1) for identity in policy.denied_files),
            "names": not policy.denied_writes,
            "within": None if policy.write is None else (*policy.write, *landlock.DEVICES),
        }
    network: dict[str, Any] | None = None
    if policy.proxy is not None or not policy.daemons:
        proxy = policy.proxy
        network = {
            "proxy": None if proxy is None else (proxy.host, proxy.port),
            "loopback": proxy is None or proxy.loopback,
            "closed": () if proxy is None else proxy.closed,
            "daemons": not policy.daemons,
            "key": -1 if proxy is None else key(Reason(proxy.rule, proxy.origin)),
        }
    if files is None and network is None:
        return None, ()
    return {"files": files, "network": network}, tuple(reasons)
