"""The order of permission modes: which allow no more than which."""

from __future__ import annotations

from checkrein.policy.values import Mode

NARROWER: dict[Mode, tuple[Mode, ...]] = {
    "plan": (),
    "dontAsk": ("plan",),
    "default": ("dontAsk", "plan"),
    "acceptEdits": ("default", "dontAsk", "plan"),
    "auto": ("default", "dontAsk", "plan"),
    "bypassPermissions": ("acceptEdits", "auto", "default", "dontAsk", "plan"),
}
"""For each mode the ones that approve less by themselves.

`plan` approves no edit, even where a rule allows it; so it is below `dontAsk`, which refuses what no rule
allows. `acceptEdits` and `auto` can't be compared: one approves edits, the other leaves calls to its
classifier.
"""


def narrowed(mode: Mode, wanted: Mode) -> Mode:
    """`wanted` where it approves less than `mode`, else `mode`."""
    return wanted if wanted in NARROWER[mode] else mode
