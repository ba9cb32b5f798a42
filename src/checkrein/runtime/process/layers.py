"""Which layers enforce rules on this machine while a call runs, and what that means."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from checkrein.policy.patterns import CommandPattern, compile_command
from checkrein.policy.values import KernelLayer

_MEANS: dict[KernelLayer, tuple[str, str]] = {
    "exec": (
        "Every program that a command starts is judged at its start, by the deny and ask rules.",
        "Programs are judged by the text of a command alone: what the text leaves open needs approval.",
    ),
    "files": (
        "What Read and Edit rules deny, no command can open or write, however it names the file.",
        "Files are judged by the text of a command alone: what may touch a denied file needs approval.",
    ),
    "network": (
        "Hosts that rules name are judged at each connection, by a proxy that is the only way out.",
        "Hosts are judged by the text of a command alone: what may reach a denied host needs approval.",
    ),
}


class Layer(Struct, frozen=True, omit_defaults=True):
    """One layer. `means` says what is enforced, or what follows where it does not hold. `why` says why it
    does not, `fix` what to do about it."""

    name: KernelLayer
    holds: bool
    means: str
    why: str = ""
    fix: str | None = None


class Layers(Struct, frozen=True):
    """All layers, and the commands that the user wants to run without them. `compiled`: the guard may use its
    compiled code."""

    all: tuple[Layer, ...] = ()
    unguarded: tuple[CommandPattern, ...] = ()
    compiled: bool = True

    @property
    def held(self) -> tuple[KernelLayer, ...]:
        return tuple(one.name for one in self.all if one.holds)


def layers_here(env: Mapping[str, str]) -> Layers:
    """The layers of a session here, under the user's configuration. A project can't change them."""
    from checkrein.base.config import load_config
    from checkrein.base.home import checkrein_home
    from checkrein.facts.config import KEYS

    home = checkrein_home(env)
    config = load_config([key for key in KEYS if key.name.startswith("guard.")], home / "none", home, env)
    free = tuple(
        pattern
        for name in config.get("guard.except")
        for pattern in map(compile_command, (name, f"{name} *"))
    )
    starts = _exec(bool(config.get("guard.enabled")))
    return Layers((starts, _files(starts), _network(starts)), free, bool(config.get("guard.compiled")))


def _exec(wanted: bool) -> Layer:
    if not wanted:
        return _layer("exec", "Your configuration switches it off.", "Remove `guard.enabled` from it.")
    from checkrein.runtime.process.guard.availability import guard_status

    return _layer("exec", guard_status().why)


def _files(guard: Layer) -> Layer:
    if not guard.holds:
        return _layer("files", "It needs the layer `exec`.", guard.fix)
    from checkrein.runtime.process.sandbox import landlock

    if landlock.works():
        return _layer("files", "")
    fix = "Use a kernel of 5.13 or later with Landlock."
    return _layer("files", "The kernel has no Landlock, or it is switched off.", fix)


def _network(guard: Layer) -> Layer:
    return _layer("network", "" if guard.holds else "It needs the layer `exec`.", guard.fix)


def _layer(name: KernelLayer, why: str, fix: str | None = None) -> Layer:
    holds, missing = _MEANS[name]
    return Layer(name, not why, missing if why else holds, why, fix)
