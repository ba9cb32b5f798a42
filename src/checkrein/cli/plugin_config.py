"""`checkrein plugin config`: the user's values for a plugin's options; secret ones stay in the home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.cli.plugin_target import ERRORS, NAME_ARG
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG

if TYPE_CHECKING:
    from checkrein.model.items import Plugin
    from checkrein.runtime.plugins.installation import Installer


class Option(Struct, frozen=True, omit_defaults=True):
    """`set` says whether it has a value; secret values are never shown."""

    name: str
    title: str
    set: bool
    secret: bool = False
    required: bool = False
    value: str | None = None


class Payload(Struct, frozen=True):
    plugin: str
    options: tuple[Option, ...]


COMMAND = Command(
    name="plugin config",
    summary="Show and set the options of a plugin.",
    details="A secret option is read from the terminal, or from CHECKREIN_PLUGIN_SECRET; name it without =.",
    args=(
        NAME_ARG,
        Arg(name="values", multiple=True, metavar="KEY[=VALUE]...", help="Options to set."),
        PROJECT_ARG,
    ),
    payload=Payload,
    errors=(*ERRORS, "option_not_found", "option_invalid"),
    examples=(("checkrein plugin config tracker region=north", "set an option"),),
)


def run(name: str, values: tuple[str, ...], project: str) -> Outcome:
    from checkrein.cli.plugin_target import installer
    from checkrein.runtime.plugins.option_values import set_option

    with installer(project) as made:
        identity = made.installed(name)
        plugin = _plugin(made, identity)
        for written in values:
            key, sign, value = written.partition("=")
            set_option(made.project, made.env, plugin, identity, key, value if sign else _secret())
    with installer(project) as made:
        payload = Payload(identity, tuple(_options(made, _plugin(made, identity))))

    def text() -> str:
        from checkrein.base.harmless import one_line

        lines = []
        for one in payload.options:
            state = one.value if one.value is not None else ("set" if one.set else "not set")
            lines.append(one_line(f"{one.name}: {state}{' (required)' if one.required else ''}  {one.title}"))
        return "\n".join(lines) or "The plugin has no options."

    return Outcome(data=payload, text=text)


def _plugin(made: Installer, identity: str) -> Plugin:
    from checkrein.base.errors import NotFoundError

    plugin = made.plugin(identity)
    if plugin is None:
        raise NotFoundError(f"The plugin {identity} is not installed.", kind="plugin_not_found")
    return plugin


def _options(made: Installer, plugin: Plugin) -> list[Option]:
    from checkrein.runtime.plugins.plugin_options import OPTION, plugin_variables, secret_options

    secrets = secret_options(plugin, made.env)
    known = plugin_variables(plugin, made.project, secrets=secrets)
    found = []
    for name, declared in plugin.user_config.items():
        one: dict[str, Any] = declared if isinstance(declared, dict) else {}
        value = known.get(f"{OPTION}{name}")
        secret = one.get("sensitive") is True
        shown = None if secret else value
        required = one.get("required") is True
        found.append(Option(name, str(one.get("title", "")), value is not None, secret, required, shown))
    return found


def _secret() -> str:
    import os
    import sys

    from checkrein.base.errors import UsageError
    from checkrein.cli import out

    given = os.environ.get("CHECKREIN_PLUGIN_SECRET", "")
    if not given and sys.stdin.isatty() and sys.stderr.isatty():
        given = str(out.prompt("Value", hide_input=True))
    if not given:
        raise UsageError("Write KEY=VALUE; for a secret set CHECKREIN_PLUGIN_SECRET, or use a terminal.")
    return given
