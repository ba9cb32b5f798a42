"""`checkrein config`: Checkrein's own effective configuration and where each value comes from."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.cli.registry import Arg, Command, Outcome


class Value(Struct, frozen=True):
    name: str
    value: Any
    layer: str
    origin: Origin | None
    help: str
    layers: tuple[str, ...]


class Payload(Struct, frozen=True):
    values: tuple[Value, ...]


COMMAND = Command(
    name="config show",
    summary="Print Checkrein's own configuration and where each value comes from.",
    args=(Arg(name="path", default=".", help="The project."),),
    payload=Payload,
    errors=("project_not_found",),
    examples=(("checkrein config", "every key, its value and its layer"),),
)


def run(path: str) -> Outcome:
    import os
    from pathlib import Path

    from checkrein.base.config import load_config
    from checkrein.base.home import checkrein_home
    from checkrein.base.secrets import REDACTED
    from checkrein.cli.target import require
    from checkrein.dialects.claude.place import locate
    from checkrein.facts.config import KEYS

    require(path)
    config = load_config(KEYS, Path(locate(path, env=os.environ).place.root), checkrein_home())
    values = tuple(
        Value(
            key.name,
            REDACTED if key.secret and held.value is not None else held.value,
            held.layer,
            held.origin,
            key.help,
            key.layers,
        )
        for key in KEYS
        if (held := config.values[key.name])
    )

    def text() -> str:
        from checkrein.cli import paint

        widest = max(len(value.name) for value in values)
        return "\n".join(
            f"{value.name:<{widest}}  {_shown(value.value)}  "
            + paint.dim(f"({paint.place(value.origin) if value.origin else value.layer})")
            for value in values
        )

    return Outcome(data=Payload(values), text=text, warnings=config.diagnostics)


def _shown(value: Any) -> str:
    import msgspec

    return "not set" if value is None else msgspec.json.encode(value).decode()
