"""`checkrein schema`: JSON Schemas of everything Checkrein prints and reads."""

from __future__ import annotations

from typing import Any

from checkrein.base.errors import NotFoundError
from checkrein.cli.registry import Arg, Command, Outcome

COMMAND = Command(
    name="schema",
    summary="Print a JSON Schema: `model`, `config`, `events`, `envelope`, `command/NAME`, `compile/NAME`.",
    args=(Arg(name="name", default=None, help="Which schema; without it, the list of names."),),
    payload=dict[str, Any],
    errors=("schema_not_found",),
    examples=(
        ("checkrein schema command/check", "the answer of `checkrein check --json`"),
        ("checkrein schema compile/inventory", "the inventory in a compiled package"),
    ),
)


def run(name: str | None) -> Outcome:
    known = schema_names()
    if name is None:
        return Outcome(data={"schemas": known}, text=lambda: "\n".join(known))
    if name not in known:
        from checkrein.base.nearest import did_you_mean

        raise NotFoundError(
            f"There is no schema {name!r}.{did_you_mean(name, known)}",
            kind="schema_not_found",
            hint="`checkrein schema` lists the names.",
        )
    schema = make_schema(name)

    def text() -> str:
        import json

        return json.dumps(schema, indent=2, ensure_ascii=False)

    return Outcome(data=schema, text=text)


def schema_names() -> list[str]:
    from checkrein.cli import registry
    from checkrein.compile.artifacts import ARTIFACTS

    return [
        "model",
        "config",
        "events",
        "envelope",
        *(f"command/{name.replace(' ', '/')}" for name in registry.names()),
        *(f"compile/{name.removesuffix('.json')}" for name in ARTIFACTS),
    ]


def make_schema(name: str) -> dict[str, Any]:
    import msgspec

    from checkrein.base.envelope import Envelope
    from checkrein.cli import registry

    if name == "model":
        from checkrein.model.project import Project

        return msgspec.json.schema(Project)
    if name == "config":
        return _config_schema()
    if name == "events":
        from checkrein.runtime.session.events import Event

        return msgspec.json.schema(Event)
    if name == "envelope":
        return msgspec.json.schema(Envelope)
    if name.startswith("compile/"):
        from checkrein.compile import artifacts

        return artifacts.make_schema(f"{name.removeprefix('compile/')}.json")
    declared = registry.command(name.removeprefix("command/").replace("/", " "))
    payload = _payload_schema(declared.payload)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"checkrein {declared.name}",
        "description": declared.summary,
        "x-arguments": [msgspec.to_builtins(arg) for arg in declared.args],
        "x-errors": list(declared.errors),
        "x-exits": {str(code): text for code, text in declared.exits},
        "x-output": declared.output,
        **payload,
    }


def _payload_schema(payload: Any) -> dict[str, Any]:
    """The schema of `data`; a tuple of types means one of them."""
    import msgspec

    if payload is None:
        return {}
    if not isinstance(payload, tuple):
        return msgspec.json.schema(payload)
    schemas, definitions = msgspec.json.schema_components(payload)
    return {"oneOf": list(schemas), "$defs": definitions}


def _config_schema() -> dict[str, Any]:
    import msgspec

    from checkrein.facts.config import KEYS

    schema: dict[str, Any] = {"type": "object", "properties": {}}
    for key in KEYS:
        section, _, leaf = key.name.rpartition(".")
        holder = schema["properties"]
        for part in section.split("."):
            holder = holder.setdefault(part, {"type": "object", "properties": {}})["properties"]
        holder[leaf] = {
            **msgspec.json.schema(key.type),
            "description": key.help,
            "default": key.default,
            "x-layers": list(key.layers),
        }
    return schema
