"""`checkrein decide`: a verdict for each call, one JSON object per line; a test runner for policies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from msgspec import Struct

from checkrein.cli import out
from checkrein.cli.layers import layers_arg, layers_of
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.policy.lines import Line

if TYPE_CHECKING:
    from checkrein.model.project import Project
    from checkrein.policy.lines import InProject
    from checkrein.policy.situation import Situation
    from checkrein.policy.tools import Tools
    from checkrein.policy.values import KernelLayer
    from checkrein.runtime.call.links import LiveLinks


class _HookInput(Struct):
    tool_name: str
    tool_input: dict[str, Any]
    cwd: str = ""


COMMAND = Command(
    name="decide",
    summary="Judge calls that come as JSON lines, and compare the verdicts with the wanted ones.",
    args=(
        Arg(name="file", default="-", help="The file with the records; `-` is the standard input."),
        PROJECT_ARG,
        Arg(
            name="expect",
            flags=("--expect",),
            type="bool",
            help="Compare each verdict with the record's `want`, and fail on a difference.",
        ),
        Arg(
            name="hook",
            flags=("--hook",),
            type="bool",
            help="Answer one PreToolUse hook of Claude Code on the standard input, in its form.",
        ),
        layers_arg("none for a record with its own permissions, else as in a session here"),
    ),
    payload=Line,
    errors=("file_not_found", "project_not_found"),
    exits=(
        (0, "a verdict for every record, as wanted"),
        (1, "a difference, or a broken record"),
        (2, "wrong usage; with --hook, the call can't be judged and is refused"),
    ),
    output="stream",
    examples=(
        ("checkrein decide < calls.jsonl", "one verdict per line"),
        ("checkrein decide -C ../shop calls.jsonl", "under the rules of that project"),
        ("checkrein decide --layers exec,files < calls.jsonl", "where the exec guard and the kernel hold"),
        ("checkrein decide --hook", "as the command of a PreToolUse hook in Claude Code"),
        ("checkrein decide --expect policy-tests.jsonl", "fails when a verdict is not the wanted one"),
    ),
    details="""A record holds `tool` and `input`, and what the decision depends on: `permissions`
(`allow`, `ask`, `deny`, `additionalDirectories`, `defaultMode`), `mode`, `cwd`, `root`, `home`, `rules_dir`,
`add_dirs`, `links`, `trusted`, `layers` (a list: which of `exec`, `files` and `network` enforce rules while
the call runs). With `--expect` the record's `want` is a verdict or a list of verdicts.
A record without `permissions` gets the verdict that `checkrein run` would give in the project, with your
trust in it; `{}` means no rules at all. A path that a record leaves out is the project's, or the process's
when the record has its own permissions. Any other field is an error.""",
)


def run(file: str, project: str, expect: bool, hook: bool = False, layers: str | None = None) -> Outcome:
    import os

    import msgspec

    from checkrein.passes.tools import added_tools
    from checkrein.policy.lines import Answer, RecordError, answer

    if hook:
        return _hooked(file, project, layers)
    require(project)
    cwd, home = os.getcwd(), os.path.expanduser("~")
    failures = 0
    tools = added_tools(project).registry()
    held = layers_of(layers)
    judge = _judge(project, tools, held)
    encoder, decoder = msgspec.json.Encoder(), msgspec.json.Decoder()
    with _opened(file) as source:
        for number, line in _lines(source):
            record: object = None
            try:
                record = decoder.decode(line)
                found: Answer = answer(record, cwd=cwd, home=home, project=judge, tools=tools, layers=held)
            except (msgspec.DecodeError, UnicodeDecodeError, RecordError) as error:
                failures += 1
                name = record.get("id") if isinstance(record, dict) else None
                problem = {"id": name, "error": f"line {number}: {error}"}
                out.give_bytes(encoder.encode(problem) + b"\n")
                continue
            out.give_bytes(encoder.encode(found.line) + b"\n")
            if expect and found.matched is False:
                failures += 1
                want = record.get("want") if isinstance(record, dict) else None
                out.say(_difference(number, found.line, want), err=True)
    if expect and failures:
        out.say(f"checkrein: {failures} of the lines differ from what they want.", err=True)
    return Outcome(status=1 if failures else 0)


def _judge(path: str, tools: Tools, layers: tuple[KernelLayer, ...] | None) -> InProject:
    """The situations of a project. The first record that needs it loads it, once."""
    from functools import cache

    @cache
    def loaded() -> Project:
        from checkrein.passes.load import load

        return load(path, detect=False)

    @cache
    def found(mode: str | None, trusted: bool | None) -> Situation:
        from checkrein.policy.situation import Terms
        from checkrein.runtime.session.prospect import situation_of

        return situation_of(loaded(), Terms(mode=mode, tools=tools), trusted=trusted, layers=layers)

    def judge(mode: str | None, trusted: bool | None) -> tuple[Situation, LiveLinks]:
        from checkrein.runtime.call.links import LiveLinks

        return found(mode, trusted), LiveLinks()

    return judge


def _hooked(file: str, project: str, layers: str | None) -> Outcome:
    """The answer to a PreToolUse hook. Whatever fails, the call must not run: status 2 blocks it."""
    import msgspec

    from checkrein.passes.tools import added_tools
    from checkrein.policy.lines import answer
    from checkrein.runtime.tools.structured import StructuredOutput

    try:
        with _opened(file) as source:
            given = msgspec.json.decode(source.read(), type=_HookInput)
        require(project)
        tools = added_tools(project).registry().with_tool(StructuredOutput.meaning)
        judge = _judge(project, tools, layers_of(layers))
        record = {"tool": given.tool_name, "input": given.tool_input}
        line = answer(record | ({"cwd": given.cwd} if given.cwd else {}), project=judge).line
    except Exception as error:
        out.say(f"checkrein: the call can't be judged, and does not run: {error}", err=True)
        return Outcome(status=2)
    said = {
        "hookEventName": "PreToolUse",
        "permissionDecision": line.verdict,
        "permissionDecisionReason": f"{line.reason} ({line.origin})" if line.origin else line.reason,
    }
    out.give_bytes(msgspec.json.encode({"hookSpecificOutput": said}) + b"\n")
    return Outcome()


def _difference(number: int, line: Line, want: object) -> str:
    wanted = " or ".join(str(one) for one in want) if isinstance(want, list) else str(want)
    where = f"{line.id} (line {number})" if line.id is not None else f"line {number}"
    return f"{where}: wanted {wanted}, got {line.verdict}: {line.reason}"


def _opened(file: str) -> BinaryIO:
    import sys

    from checkrein.base.errors import NotFoundError

    if file == "-":
        return open(sys.stdin.fileno(), "rb", closefd=False)
    try:
        return open(file, "rb")
    except OSError as error:
        raise NotFoundError(f"{file} can't be read: {error.strerror}.", kind="file_not_found") from error


def _lines(source: BinaryIO) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(source, 1):
        if line.strip():
            yield number, line
