"""Which layers a verdict counts on, as a person names them."""

from __future__ import annotations

from checkrein.base.errors import UsageError
from checkrein.base.nearest import did_you_mean
from checkrein.cli.registry import Arg
from checkrein.policy.values import KERNEL_LAYERS, KernelLayer

NONE = "none"


def layers_arg(without: str) -> Arg:
    """The option `--layers`; `without` says what counts when it is not given."""
    return Arg(
        name="layers",
        flags=("--layers",),
        metavar="LIST",
        help=f"Judge as where these layers hold: {', '.join(KERNEL_LAYERS)} with commas, or {NONE};"
        f" without it, {without}.",
    )


def layers_of(text: str | None) -> tuple[KernelLayer, ...] | None:
    """The layers that the text names; None when it is not given."""
    if text is None:
        return None
    given = [] if text == NONE else [name.strip() for name in text.split(",") if name.strip()]
    for name in given:
        if name not in KERNEL_LAYERS:
            known = (*KERNEL_LAYERS, NONE)
            raise UsageError(f"There is no layer {name!r}.{did_you_mean(name, known)}")
    return tuple(name for name in KERNEL_LAYERS if name in given)
