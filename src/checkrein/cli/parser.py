"""The command line parser, made from the declarations with click."""

from __future__ import annotations

import os
from typing import Any

import click

from checkrein.base.nearest import did_you_mean
from checkrein.cli import registry
from checkrein.cli.registry import Arg, Command
from checkrein.cli.word_order import not_a_command
from checkrein.protocol.machine.verbs import VERSIONS

_TYPES: dict[str, click.ParamType[Any]] = {
    "str": click.STRING,
    "int": click.INT,
    "port": click.IntRange(0, 65535),
    "float": click.FLOAT,
}

_WIDTH = 80
"""Columns of the help texts."""
_LONG_CHOICE = 40
_ROOT_NOTES = """\b
Every command takes these, before its name or after it:
  -C, --project DIR  work in another directory
  --json             print one JSON document
  -h, --help         what it does, with examples

\b
Examples:
  checkrein check                     what is wrong in this project
  checkrein doctor                    which model answers, and what is missing
  checkrein -p 'summarise README.md'  ask the model
"""

FORMAT_ARG = Arg(
    name="output_format",
    flags=("--output-format",),
    type="choice",
    choices=("text", "json"),
    default="text",
    help="How to print the answer.",
)
_PLACE_ARG = Arg(
    name="started_in",
    flags=("--project", "-C"),
    metavar="DIR",
    help="Work as if started in this directory.",
)
_JSON_ARG = Arg(name="as_json", flags=("--json",), type="bool", help="The same as --output-format json.")
VERSION_ARG = Arg(
    name="schema_version",
    flags=("--schema-version", "--envelope-version"),
    type="choice",
    choices=VERSIONS,
    default=None,
    help="The shape of the JSON answer; CHECKREIN_SCHEMA_VERSION sets it for all calls.",
)


class UnknownCommandError(click.UsageError):
    """There is no command of that name."""


class ExtraArgumentsError(click.UsageError):
    """The command does not take these arguments."""


class Group(click.Group):
    """Imports the module of a command only when the command line names it."""

    def __init__(self, prefix: str = "", **attributes: Any) -> None:
        super().__init__(**attributes)
        self.prefix = prefix

    def list_commands(self, ctx: click.Context) -> list[str]:
        heads = (
            name[len(self.prefix) :].split(" ")[0]
            for name in registry.names()
            if name.startswith(self.prefix)
        )
        return list(dict.fromkeys(heads))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        full = self.prefix + cmd_name
        if full in registry.MODULES:
            return build(registry.command(full))
        if any(name.startswith(full + " ") for name in registry.names()):
            return Group(
                prefix=full + " ", name=cmd_name, help=registry.GROUPS.get(full), no_args_is_help=True
            )
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            if not self.prefix:
                raise not_a_command(name)
            hint = did_you_mean(name, self.list_commands(ctx))
            raise UnknownCommandError(f"There is no command {name!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


class _DeclaredCommand(click.Command):
    declared: Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        greedy = {flag for arg in self.declared.args if arg.greedy for flag in arg.flags}
        words = args[: args.index("--")] if "--" in args else args
        for arg in self.declared.args:
            if arg.off in words and arg.flags[0] in words:
                raise click.UsageError(f"{arg.flags[0]} and {arg.off} exclude each other.", ctx)
        ctx.allow_extra_args = True
        try:
            left = super().parse_args(ctx, spread(args, greedy) if greedy else args)
        except click.UsageError as error:
            if self.declared.dashes:
                error.ctx = error.ctx or ctx  # click leaves it out where a value is missing
            raise
        if ctx.args and not ctx.resilient_parsing:
            noun = "argument" if len(ctx.args) == 1 else "arguments"
            raise ExtraArgumentsError(f"Got unexpected extra {noun} ({' '.join(ctx.args)[:200]})", ctx)
        return left

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        places = [(_place_name(arg), arg.help) for arg in self.declared.args if not arg.flags]
        if places:
            with formatter.section("Arguments"):
                formatter.write_dl(places)
        super().format_options(ctx, formatter)


def root() -> Group:
    return Group(
        name="checkrein",
        help="Read an agent project; show it, explain it, check it, run it.",
        epilog=_ROOT_NOTES,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _WIDTH},
        params=[click.Option(["--version", "-V"], is_flag=True, help="Print the version.")],
    )


def build(declared: Command) -> click.Command:
    args = (*declared.args, *shared_args(declared))
    made = _DeclaredCommand(
        name=declared.name.rpartition(" ")[2],
        help=f"{declared.summary}\n\n{declared.details}" if declared.details else declared.summary,
        epilog=_epilog(declared),
        params=[_param(arg) for arg in args],
        callback=lambda **values: (declared.name, values),
    )
    made.declared = declared
    return made


def dashes(context: click.Context | None) -> str:
    """How to keep the options of another program apart, if the command of the context starts one."""
    command = None if context is None else context.command
    return command.declared.dashes if isinstance(command, _DeclaredCommand) else ""


def shared_args(declared: Command) -> tuple[Arg, ...]:
    """The arguments that every command of its kind takes besides its own."""
    placed = any("-C" in arg.flags for arg in declared.args)
    place = () if placed else (_PLACE_ARG,)
    if declared.output != "envelope":
        return place
    versioned = (VERSION_ARG,) if declared.name.startswith("machine ") else ()
    return (*place, FORMAT_ARG, _JSON_ARG, *versioned)


def _param(arg: Arg) -> click.Parameter:
    if arg.type == "choice":
        kind: click.ParamType[Any] | None = click.Choice(arg.choices)
    else:
        kind = _TYPES.get(arg.type)
    # click takes an explicit None as a value: a required argument must have no default at all.
    default: dict[str, Any] = {} if arg.required or arg.multiple else {"default": arg.default}
    if not arg.flags:
        return click.Argument(
            [arg.name],
            type=kind,
            nargs=-1 if arg.multiple else 1,
            required=arg.required,
            **default,
            metavar=_place_name(arg),
            shell_complete=_values(arg),
        )
    if arg.type == "bool" and arg.off is not None:
        return click.Option([f"{arg.flags[0]}/{arg.off}", arg.name], default=None, help=arg.help)
    if arg.type == "bool":
        return click.Option([*arg.flags, arg.name], is_flag=True, default=bool(arg.default), help=arg.help)
    bare: dict[str, Any] = {} if arg.bare is None else {"is_flag": False, "flag_value": arg.bare}
    metavar = arg.metavar or _choice_name(arg)
    return click.Option(
        [*arg.flags, arg.name],
        **bare,
        type=kind,
        multiple=arg.multiple,
        **default,
        required=arg.required,
        show_default=arg.default is not None,
        metavar=metavar if arg.bare is None else f"[{metavar}]",
        shell_complete=_values(arg),
        help=f"{arg.help} One of {', '.join(arg.choices)}." if _choice_name(arg) else arg.help,
    )


def _values(arg: Arg) -> Any:
    """What completes a value. Only a shell that asks imports it."""
    if arg.complete is None or "_CHECKREIN_COMPLETE" not in os.environ:
        return None
    from checkrein.cli.value_completion import complete

    return complete(arg.complete)


def _choice_name(arg: Arg) -> str | None:
    """A name for choices that are too long for the column of the options."""
    return arg.name.rpartition("_")[2].upper() if len("|".join(arg.choices)) > _LONG_CHOICE else None


def _place_name(arg: Arg) -> str:
    name = arg.metavar or arg.name.upper().replace("_", "-")
    if arg.multiple and not name.endswith("..."):
        name += "..."
    return name if arg.required else f"[{name}]"


def spread(args: list[str], greedy: set[str]) -> list[str]:
    """`--tools A B -x` becomes `--tools A --tools B -x`, for flags that take several values."""
    result: list[str] = []
    flag: str | None = None
    bare: str | None = None
    for index, arg in enumerate(args):
        is_option = arg.startswith("-") and arg != "-"
        if is_option and bare is not None:
            break
        if arg == "--":
            return result + args[index:]
        if arg in greedy:
            flag = bare = arg
        elif is_option:
            flag = None
            result.append(arg)
        elif flag is not None:
            result += [flag, arg]
            bare = None
        else:
            result.append(arg)
    if bare is not None:
        raise click.UsageError(f"Option {bare!r} requires an argument.")
    return result


def _epilog(declared: Command) -> str | None:
    examples = "".join(f"\n  {line}" for line, _ in declared.examples)
    exits = "".join(f"\n  {code:<3} {text}" for code, text in declared.exits)
    blocks = ([f"\b\nExamples:{examples}"] if examples else []) + [f"\b\nExit status:{exits}"]
    return "\n\n".join(blocks)
