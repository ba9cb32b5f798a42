"""From the arguments of `checkrein machine` to one answer and a status: 0 success, 1 error, 2 time limit.

In JSON mode standard output holds one document, whose `exit_code` is the status of the process. Standard
error stays empty; only the document has the warnings. That includes wrong usage, bugs, SIGINT and SIGTERM.
When nobody reads the answer (a closed pipe) the status is 1.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Sequence

import click

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import CheckreinError, InternalError, UsageError
from checkrein.base.origin import Origin
from checkrein.cli import out, parser, registry
from checkrein.cli.config_notes import findings_for
from checkrein.cli.machine.stop import Terminated, stoppable
from checkrein.cli.main import say_notes, started_in
from checkrein.cli.registry import Outcome
from checkrein.protocol.machine import answer
from checkrein.protocol.machine.verbs import MACHINE, OPT_OUT, VERSIONS

_VARIABLE = "CHECKREIN_SCHEMA_VERSION"
_VERBS = f"Verbs: {', '.join((*MACHINE, *OPT_OUT))}."
_FORMAT = re.compile(r"--json|--output-format(=.*)?|--(schema|envelope)-version(=.*)?|text|json|[12]\.0")
"""Words that say only how to answer."""


def run(argv: Sequence[str], as_json: bool) -> int:
    """`argv` holds the arguments after `machine`."""
    verb = argv[0] if argv and not argv[0].startswith("-") else "<missing>"
    version = asked_version(argv)
    notes: list[Diagnostic] = []
    with stoppable() as signals:
        try:
            try:
                outcome = _outcome(argv, verb, as_json, notes)
            finally:
                signals.ignore()
        except CheckreinError as error:
            error.during("parse" if error.error_class == "usage" else verb)
            return _fail(verb, error, as_json, version, notes)
        except KeyboardInterrupt as stop:
            return _fail(verb, _stopped(stop), as_json, version, notes)
        except Exception as bug:
            out.trace()
            return _fail(verb, _bug(bug), as_json, version, notes)
    return _finish(verb, outcome, as_json, version, notes)


def asked_version(argv: Sequence[str]) -> str:
    """The schema version, found without parsing so that errors of the command line obey it too."""
    for index, arg in enumerate(argv):
        flag, _, value = arg.partition("=")
        if arg == "--":
            break
        if flag in parser.VERSION_ARG.flags:
            value = value or (argv[index + 1] if index + 1 < len(argv) else "")
            return value if value in VERSIONS else VERSIONS[0]
    said = os.environ.get(_VARIABLE, "")
    return said if said in VERSIONS else VERSIONS[0]


def _outcome(argv: Sequence[str], verb: str, as_json: bool, notes: list[Diagnostic]) -> Outcome:
    """`notes` gets what is wrong in the configuration."""
    said = os.environ.get(_VARIABLE)
    if said and said not in VERSIONS:
        raise UsageError(
            f"{_VARIABLE} is {said[:40]!r}, which is not a schema version.",
            kind="schema_version_unknown",
            hint=f"Use one of {', '.join(VERSIONS)}.",
        )
    _require_text(argv)
    if not _without_format(argv):
        raise UsageError("A verb is missing.", kind="missing_argument", hint=_VERBS).during("parse", verb)
    if as_json or "--version" in argv[:1]:
        from checkrein.cli.machine import about

        told = about.answer(argv)
        if told is not None:
            return told
    try:
        parsed = parser.root().main(args=["machine", *argv], prog_name="checkrein", standalone_mode=False)
    except click.exceptions.Exit as done:
        return Outcome(status=done.exit_code)
    except click.ClickException as error:
        raise _usage(error).during("parse", verb) from error
    if not isinstance(parsed, tuple):
        return Outcome(status=parsed if isinstance(parsed, int) else 0)
    name, values = parsed
    for shared in ("as_json", "output_format", "schema_version"):
        del values[shared]
    with started_in(values.pop("started_in", None)):
        notes += findings_for(name, values)
        return registry.runner(name)(**values)


def _without_format(argv: Sequence[str]) -> list[str]:
    return [arg for arg in argv if not _FORMAT.fullmatch(arg)]


def _require_text(argv: Sequence[str]) -> None:
    for number, arg in enumerate(argv, 1):
        try:
            arg.encode()
        except UnicodeEncodeError:
            raise UsageError(f"Argument {number} is not UTF-8.", kind="argument_not_utf8") from None


_KINDS: tuple[tuple[type[click.ClickException], str], ...] = (
    (parser.UnknownCommandError, "unknown_subcommand"),
    (parser.ExtraArgumentsError, "unexpected_extra_args"),
    (click.MissingParameter, "missing_argument"),
    (click.BadOptionUsage, "missing_flag_value"),
    (click.BadParameter, "invalid_flag_value"),
    (click.NoSuchOption, "unknown_option"),
)


def _usage(error: click.ClickException) -> UsageError:
    kind = next((kind for known, kind in _KINDS if isinstance(error, known)), "usage")
    context = getattr(error, "ctx", None)
    hint = f"Try '{context.command_path} --help'." if context is not None else None
    if kind == "unknown_subcommand":
        hint = _VERBS
    return UsageError(error.format_message(), kind=kind, hint=hint)


def _stopped(stop: KeyboardInterrupt) -> CheckreinError:
    kind, how = ("terminated", "SIGTERM") if isinstance(stop, Terminated) else ("interrupted", "SIGINT")
    return CheckreinError(f"The command was stopped by {how}.", kind=kind, retryable=True)


def _bug(error: Exception) -> InternalError:
    return InternalError(
        f"{type(error).__name__}: {error}",
        hint="This is a bug in Checkrein: please report it. CHECKREIN_TRACEBACK=1 shows where it happened.",
    )


def _finish(verb: str, outcome: Outcome, as_json: bool, version: str, notes: Sequence[Diagnostic]) -> int:
    if as_json:
        warnings = (*_deprecation(version), *outcome.warnings, *notes)
        return _write(answer.success(verb, outcome.data, outcome.status, warnings, version), outcome.status)
    say_notes(notes)
    return _print(outcome.text() if outcome.text else "", outcome.status)


def _deprecation(version: str) -> tuple[Diagnostic, ...]:
    """Schema 1.0 is deprecated. Warn a caller that still asks for it, in a place that breaks nothing."""
    if version == "1.0" or os.environ.get(_VARIABLE) != "1.0":
        return ()
    from checkrein.protocol.envelope_v1 import DEPRECATED

    message = f"{_VARIABLE} asks for schema 1.0, which is deprecated."
    return (
        Diagnostic(
            DEPRECATED, "warning", message, Origin(_VARIABLE, "cli"), hint="Unset it, or set it to 2.0."
        ),
    )


def _fail(verb: str, error: CheckreinError, as_json: bool, version: str, notes: Sequence[Diagnostic]) -> int:
    status = answer.status_of(error)
    if as_json:
        return _write(answer.failure(verb, error, status, version, tuple(notes)), status)
    say_notes(notes)
    if error.operation == "parse" or error.kind == "internal":
        with contextlib.suppress(OSError):
            out.say(f"checkrein: {error.message}", err=True)
            if error.hint:
                out.say(f"  {error.hint}", err=True)
        return status
    hint = answer.error_body(verb, error).hint
    return _print(f"error: {error.message}\n" + (f"hint: {hint}\n" if hint else ""), status)


def _print(text: str, status: int) -> int:
    line = text if not text or text.endswith("\n") else text + "\n"
    return _write(line.encode("utf-8", "replace"), status)


def _write(data: bytes, status: int) -> int:
    """Only the answer goes to standard output, in one piece."""
    try:
        out.give_bytes(data)
    except (OSError, ValueError, AttributeError):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status
