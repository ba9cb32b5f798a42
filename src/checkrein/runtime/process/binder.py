"""One way to bind a command: what rules, settings and the mode say about its files and its network.

`Binder.bind` takes a command and gives it back with its sandbox, its variables, its way through the proxy and
the watch over protected files. It looks at the rules of the moment, and at the files that they mean now.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.files import beneath
from checkrein.facts.shell_paths import KEPT_PLACES
from checkrein.policy.connections import NO_LISTS, HostLists, denies_loopback, first_rule, needs_proxy
from checkrein.policy.file_denies import FileDenies, file_denies, may_edit
from checkrein.policy.policy import Policy
from checkrein.policy.values import Context
from checkrein.runtime.process.command import Command, Protect
from checkrein.runtime.process.denied import Search
from checkrein.runtime.process.sandbox import SandboxPolicy, SandboxSettings, detect_reading, reading_only
from checkrein.runtime.process.sandbox.policy import ProxyOnly

if TYPE_CHECKING:
    from checkrein.policy.connections import HostVerdict
    from checkrein.policy.fences import Fence
    from checkrein.runtime.process.protected import ProtectedFiles
    from checkrein.runtime.process.proxy import NameProxy

_OWN_SETTINGS = (".gitconfig", ".config/git")
"""What git reads of a user at every start."""
_OPEN = SandboxPolicy(write=None, network=True, unix_sockets=True)


class Terms(Struct, frozen=True, kw_only=True):
    """What is special about one command. `only_reads`: it needed no approval because of that;
    `inside`: and because it can open files in the working directories only. `may_change`
    says which protected files its approval names. `ask` puts the question of an ask rule on a host."""

    only_reads: bool = False
    inside: bool = False
    may_change: Callable[[str], bool] = lambda path: False
    ask: Callable[[str, int, HostVerdict], bool] | None = None


NO_TERMS = Terms()


class Binder:
    """For one session. Safe to use from several threads. `env` is the user's own environment, `lists` are the
    sandbox's hosts. Without `protected`, nothing watches over settings, hooks and rules."""

    def __init__(
        self,
        roots: tuple[str, ...],
        env: Mapping[str, str],
        *,
        protected: ProtectedFiles | None = None,
        lists: HostLists = NO_LISTS,
    ) -> None:
        self._roots = roots
        self._env = env
        self._protected = protected
        self._lists = lists
        self._proxy: NameProxy | None = None
        self._search = Search()
        self._lock = threading.Lock()

    def close(self) -> None:
        if self._proxy is not None:
            self._proxy.close()

    def accept(self, path: str) -> None:
        """An approved call changed this file."""
        if self._protected is not None:
            self._protected.accept(path)

    def bind(self, command: Command, policy: Policy, context: Context, terms: Terms = NO_TERMS) -> Command:
        """The command with everything that holds it. Where a mechanism is missing it does less: `detect` and
        `detect_reading` of the sandbox say so."""
        denies = file_denies(policy, context)
        roots = tuple(dict.fromkeys((*self._roots, context.start)))
        fences = tuple(dict.fromkeys(fence for layer in policy.layers for fence in layer.fences))
        if fences and command.sandbox is not None and command.sandbox.write is not None:
            write = fenced_places(command.sandbox.write, fences)
            command = replace(command, sandbox=replace(command.sandbox, write=write))
        if terms.only_reads and detect_reading().kind != "none":
            inside = self._with_denies(command.sandbox or _OPEN, denies, roots, guarded=False)
            own = (f"{context.home}/{name}" for name in _OWN_SETTINGS)
            places = (*roots, *own, *program_places(command)) if terms.inside else None
            return replace(command, sandbox=reading_only(inside, places))
        guarded = command.guard is not None
        sandbox = command.sandbox or _OPEN
        if denies:
            sandbox = self._with_denies(sandbox, denies, roots, guarded=guarded)
            if guarded:
                kept = _kept(roots, policy, context, terms)
                sandbox = replace(sandbox, deny_write=(*sandbox.deny_write, *kept))
        if command.guard is not None and (command.guard.watch.every or command.guard.watch.programs):
            sandbox = replace(sandbox, daemons=False)
        if guarded:
            command, sandbox = self._named(command, sandbox, policy, context, terms)
        if self._protected is not None and not _is_free(policy, context):
            allows = lambda path: terms.may_change(path) or may_edit(policy, context, path)  # noqa: E731
            command = replace(command, protect=Protect(self._protected, allows))
        return command if sandbox == (command.sandbox or _OPEN) else replace(command, sandbox=sandbox)

    def _with_denies(
        self, sandbox: SandboxPolicy, denies: FileDenies, roots: tuple[str, ...], *, guarded: bool
    ) -> SandboxPolicy:
        with self._lock:
            reads = self._search.find(denies.reads, roots)
            writes = self._search.find((one for one in denies.writes if not one.fence), roots)
        return replace(
            sandbox,
            deny_read=tuple(dict.fromkeys((*sandbox.deny_read, *reads.every))),
            deny_write=tuple(dict.fromkeys((*sandbox.deny_write, *writes.every))),
            denied_writes=(*denies.writes, *denies.reads) if guarded and denies.writes else (),
            denied_files=writes.linked,
            kept_names=denies.reads if guarded and not denies.writes else (),
        )

    def _named(
        self, command: Command, sandbox: SandboxPolicy, policy: Policy, context: Context, terms: Terms
    ) -> tuple[Command, SandboxPolicy]:
        lists = self._lists if not sandbox.network else replace(self._lists, allowed=None)
        closed = not sandbox.network and lists.allowed is None
        if closed or not needs_proxy(policy, context, lists):
            return command, sandbox
        from checkrein.runtime.process.names import NamedHosts
        from checkrein.runtime.process.proxy import NameProxy, closed_ports

        with self._lock:
            proxy = self._proxy = self._proxy or NameProxy()
        loopback = sandbox.network and not denies_loopback(policy, context, lists)
        lease = proxy.lease(NamedHosts(policy, context, lists, self._env, terms.ask))
        host, port = proxy.address
        rule, origin = first_rule(policy, context)
        only = ProxyOnly(
            host=host,
            port=port,
            loopback=loopback,
            closed=closed_ports(self._env),
            rule=rule,
            origin=origin,
        )
        env = {**command.env, **proxy.env(lease, loopback=loopback)}
        return replace(command, env=env, lease=lease), replace(sandbox, proxy=only)


def _kept(roots: tuple[str, ...], policy: Policy, context: Context, terms: Terms) -> list[str]:
    """The protected places. Where files are judged anyway, they are judged too."""
    paths = (os.path.realpath(f"{root}/{place}") for root in roots for place in KEPT_PLACES)
    return [path for path in paths if not (terms.may_change(path) or may_edit(policy, context, path))]


def fenced_places(places: tuple[str, ...], fences: tuple[Fence, ...]) -> tuple[str, ...]:
    """Where a sandbox lets a command write: outside all fences, and where they are open. A file that is open
    may be new, so its directory is."""
    outside = [
        place
        for place in places
        if not any(beneath(place, one.root) or beneath(one.root, place) for one in fences)
    ]
    for fence in fences:
        for name in fence.open:
            path = os.path.join(fence.root, name)
            place = path if os.path.isdir(path) else os.path.dirname(path)
            if os.path.isdir(place) and os.path.basename(place) != ".git":
                outside.append(place)
    return tuple(dict.fromkeys(outside))


def program_places(command: Command) -> tuple[str, ...]:
    """Where the programs that a command may start have their files, besides the places of the system."""
    import shutil

    only = command.guard.watch.only if command.guard is not None else None
    found = (shutil.which(name, path=command.env.get("PATH")) for name in only or ())
    return tuple(os.path.dirname(os.path.realpath(path)) for path in found if path)


def host_lists(settings: SandboxSettings) -> HostLists:
    """The lists of the settings. `*` opens the network, and an empty list keeps it closed."""
    names = settings.allowed_domains
    allowed = names if names and "*" not in names else None
    return HostLists(allowed=allowed, denied=settings.denied_domains)


def _is_free(policy: Policy, context: Context) -> bool:
    """Whether the user lets everything pass that no rule denies."""
    return all(compiled.mode(context.trusted) == "bypassPermissions" for compiled in policy.compiled)
