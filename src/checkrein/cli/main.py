"""From argv to an exit status: parse, run, print once."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import CheckreinError, FileError, InternalError, NotFoundError, UsageError
from checkrein.base.harmless import indented
from checkrein.cli import out, plain_words, registry
from checkrein.cli.config_notes import findings_for
from checkrein.cli.registry import Outcome
from checkrein.cli.word_order import ordered


def run(argv: Sequence[str]) -> int:
    """Run one command. Every outcome ends here as printed output and an exit status."""
    with out.guarded():
        return _run(argv)


def _run(argv: Sequence[str]) -> int:
    as_json = wants_json(argv)
    try:
        argv = ordered(argv)
    except UsageError as error:
        return fail(command_name(argv), error, as_json)
    if argv[:1] == ["machine"]:
        from checkrein.cli.machine import front

        return front.run(argv[1:], as_json)
    name = command_name(argv)
    notes: tuple[Diagnostic, ...] = ()
    if name == "run":
        as_json = False  # its JSON has the product's shapes; usage errors go to stderr
    try:
        found = plain_words.read(argv) or _with_foreign_flags(argv) or parsed(argv)
        if isinstance(found, int):
            return found
        name, values = found
        if registry.command(name).output == "envelope":
            as_json = values.pop("as_json") or values["output_format"] == "json"
            del values["output_format"]
        with started_in(values.pop("started_in", None)):
            notes = findings_for(name, values)
            if registry.command(name).output == "stream":
                say_notes(notes)
                notes = ()
            outcome = registry.runner(name)(**values)
            return finish(name, outcome, as_json and outcome.data is not None, notes)
    except KeyboardInterrupt:
        return fail(name, CheckreinError("Interrupted.", kind="interrupted"), as_json, status=130)
    except BrokenPipeError:
        _close_stdout()
        return 141
    except CheckreinError as error:
        return fail(name, error, as_json, notes=notes)
    except Exception as error:
        out.trace()
        failure = _failure(error)
        return fail(name, failure, as_json and isinstance(failure, InternalError), notes=notes)


def say_notes(notes: Sequence[Diagnostic]) -> None:
    for note in notes:
        out.say(f"checkrein: {note.origin}: {indented(note.message)}", err=True)


def _with_foreign_flags(argv: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """The values of a run that a program drives and that has flags of another program; they are a value
    too."""
    from checkrein.cli import foreign_flags

    known, foreign = foreign_flags.split(argv)
    found = (plain_words.read(known) or parsed(known)) if foreign else None
    if not isinstance(found, tuple):
        return None
    name, values = found
    return name, {**values, "foreign_flags": foreign}


def parsed(argv: Sequence[str]) -> tuple[str, dict[str, Any]] | int:
    """The command and its values, or the exit status where click has said everything."""
    import click  # a plain run does without it

    from checkrein.cli import parser

    if "_CHECKREIN_COMPLETE" in os.environ:
        from checkrein.cli.value_completion import install

        install()
    try:
        found = parser.root().main(args=list(argv), prog_name="checkrein", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        _out(error.format_message() + "\n")
        return 0 if not argv else 2
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f"Try '{context.command_path} --help'." if context is not None else None
        dashes = parser.dashes(context)
        if dashes and "--" not in argv and not isinstance(error, click.MissingParameter):
            hint = f"Put `--` before the command if the option is its own: {dashes}."
        raise UsageError(error.format_message(), hint=hint) from error
    except click.Abort:
        raise KeyboardInterrupt from None
    return found if isinstance(found, tuple) else 0


@contextlib.contextmanager
def started_in(directory: str | None) -> Iterator[None]:
    """Work in another directory, as if the program had been started there."""
    if directory is None:
        yield
        return
    before = os.getcwd()
    try:
        os.chdir(directory)
    except OSError as error:
        raise NotFoundError(
            f"-C {directory}: {error.strerror}.", kind="project_not_found", hint="Name a directory."
        ) from None
    try:
        yield
    finally:
        os.chdir(before)


def finish(name: str, outcome: Outcome, as_json: bool, notes: tuple[Diagnostic, ...] = ()) -> int:
    from checkrein.base import envelope

    warnings = (*outcome.warnings, *(note for note in notes if note not in outcome.warnings))
    if as_json:
        out.give_bytes(envelope.encode(envelope.success(name, outcome.data, outcome.status, warnings)))
    else:
        say_notes(warnings)
        if outcome.text is not None:
            _out(outcome.text(), outcome.is_data)
    return outcome.status


def fail(
    name: str,
    error: CheckreinError,
    as_json: bool,
    status: int | None = None,
    notes: tuple[Diagnostic, ...] = (),
) -> int:
    from checkrein.base import envelope

    status = error.exit_status if status is None else status
    if as_json:
        out.give_bytes(envelope.encode(envelope.failure(name, error, status, notes)))
    else:
        say_notes(notes)
        named = error.origin is None or os.path.basename(error.origin.file) in error.message
        where = "" if named and not (error.origin and error.origin.span) else f"{error.origin}: "
        out.say(f"{out.style('checkrein:', fg='red', bold=True)} {where}{indented(error.message)}", err=True)
        if error.hint:
            out.say(f"  {indented(error.hint)}", err=True)
    return status


def wants_json(argv: Sequence[str]) -> bool:
    """True when the command line asks for JSON. It does not parse, so that parse errors are JSON too."""
    for index, arg in enumerate(argv):
        if arg == "--":
            return False
        if arg in ("--json", "--output-format=json"):
            return True
        if arg == "--output-format" and index + 1 < len(argv) and argv[index + 1] == "json":
            return True
    return False


def command_name(argv: Sequence[str]) -> str:
    words = [arg for arg in argv if not arg.startswith("-")]
    for length in (2, 1):
        if " ".join(words[:length]) in registry.MODULES:
            return " ".join(words[:length])
    return words[0] if words else "<missing>"


def _failure(error: Exception) -> CheckreinError:
    """A bug, or a full disk, which may be where the output goes."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return FileError(
            f"{error.strerror}.", hint="Make room where the output or the home goes, and try again."
        )
    return InternalError(
        f"{type(error).__name__}: {error}",
        hint="This is a bug in checkrein: please report it. CHECKREIN_TRACEBACK=1 shows where it happened.",
    )


def _out(text: str, is_data: bool = False) -> None:
    if text and is_data:
        out.give(text)
    elif text:
        out.say(text, nl=not text.endswith("\n"))


def _close_stdout() -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
