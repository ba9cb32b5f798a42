"""`--help` and `--version` of the protocol as data, for clients that look before they call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checkrein.cli import registry
from checkrein.cli.registry import Outcome
from checkrein.protocol.machine.verbs import MACHINE, OPT_OUT, VERSIONS

_HELP = ("-h", "--help")


def answer(argv: Sequence[str]) -> Outcome | None:
    """The JSON answer to `--version`, or to `--help` with or without a verb; None for anything else."""
    asked = argv[: argv.index("--")] if "--" in argv else argv
    if argv[:1] == ["--version"]:
        return _version()
    if not any(arg in _HELP for arg in asked):
        return None
    verb = asked[0]
    if verb.startswith("-"):
        return Outcome(data={"verbs": {name: _command(name).summary for name in (*MACHINE, *OPT_OUT)}})
    if f"machine {verb}" not in registry.MODULES:
        return None
    return Outcome(data=_describe(verb))


def _describe(verb: str) -> dict[str, Any]:
    """A verb's arguments, the fields of its payload, its error kinds and exits."""
    import msgspec

    from checkrein.cli.parser import shared_args
    from checkrein.cli.schema import make_schema
    from checkrein.protocol.machine.kinds import COMMON

    declared = _command(verb)
    schema = make_schema(f"command/machine/{verb}")
    arguments = (*declared.args, *shared_args(declared))
    return {
        "verb": verb,
        "summary": declared.summary,
        "arguments": [msgspec.to_builtins(arg) for arg in arguments],
        "payload": {name: value for name, value in schema.items() if not name.startswith("x-")},
        "errors": sorted({*declared.errors, *COMMON}),
        "exits": {str(code): text for code, text in declared.exits},
    }


def _version() -> Outcome:
    from checkrein import __version__

    data = {
        "version": __version__,
        "schema_versions": VERSIONS,
        "deprecated_versions": VERSIONS[1:],
        "clawable_surfaces": MACHINE,
        "opt_out_surfaces": OPT_OUT,
    }
    return Outcome(data=data, text=lambda: f"checkrein {__version__}, machine protocol {', '.join(VERSIONS)}")


def _command(verb: str) -> registry.Command:
    return registry.command(f"machine {verb}")
