"""`checkrein config unset`: take one value out of a configuration file."""

from __future__ import annotations

from checkrein.cli.config_set import KEY_ARG, PLACE_ARGS, Payload, change, key_named
from checkrein.cli.registry import Command, Outcome

COMMAND = Command(
    name="config unset",
    summary="Take one value out of Checkrein's own configuration.",
    args=(KEY_ARG, *PLACE_ARGS),
    payload=Payload,
    errors=("config_invalid", "key_unknown", "value_invalid", "filesystem", "project_not_found"),
    examples=(("checkrein config unset model.default", "choose by credentials again"),),
)


def run(key: str, shared: bool, project: str) -> Outcome:
    from checkrein.base.toml_edit import UNSET

    return change(key_named(key), UNSET, shared, project)
