"""Arguments of the commands that write for other agents."""

from __future__ import annotations

from checkrein.cli.registry import Arg

DEGRADE_ARG = Arg(
    name="degrade",
    flags=("--degrade",),
    type="bool",
    help="Write the nearest match where an agent has no such thing.",
)
PROFILE_ARG = Arg(
    name="profile",
    flags=("--profile",),
    type="choice",
    choices=("seed", "pr2103"),
    default=None,
    help="The revision of the behavior tables; else `deploy.profile`.",
)
STRICT_ARG = Arg(
    name="strict",
    flags=("--strict",),
    type="bool",
    help="Write nothing and exit 1 when a deny or ask rule, or a limit of tools, would not hold.",
)
