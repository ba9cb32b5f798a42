"""`checkrein decide`: a verdict for each call, one JSON object per line; a test runner for policies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.policy.lines import Line

COMMAND = Command(
    name="decide",
    summary="Decide calls given as JSON lines, and compare with what is wanted.",
    args=(
        Arg(name="file", default="-", help="The file with the records; `-` is the standard input."),
        Arg(
            name="expect",
            flags=("--expect",),
            type="bool",
            help="Compare each verdict with the record's `want`, and fail on a difference.",
        ),
    ),
    payload=Line,
    errors=("file_not_found",),
    exits=(
        (0, "all decided, and as wanted"),
        (1, "a difference, or a record that can't be read"),
        (2, "wrong usage"),
    ),
    output="stream",
    examples=(
        ("checkrein decide < calls.jsonl", "one answer per line"),
        ("checkrein decide --expect policy-tests.jsonl", "fails when a verdict is not the wanted one"),
    ),
    details="""A record holds `tool` and `input`, and what the decision depends on: `permissions`
(`allow`, `ask`, `deny`, `additionalDirectories`), `mode`, `cwd`, `root`, `home`, `rules_dir`,
`add_dirs`, `links`, `trusted`. With `--expect` the record's `want` is a verdict or a list of verdicts.
Paths that a record leaves out are those of the process.""",
)


def run(file: str, expect: bool) -> Outcome:
    import os
    import sys

    import msgspec

    from checkrein.base.nearest import did_you_mean
    from checkrein.policy.lines import Answer, Record, RecordError, answer

    cwd, home = os.getcwd(), os.path.expanduser("~")
    failures = 0
    named: set[str] = set()
    encoder, decoder = msgspec.json.Encoder(), msgspec.json.Decoder()
    with _opened(file) as source:
        for number, line in _lines(source):
            record: object = None
            try:
                record = decoder.decode(line)
                found: Answer = answer(record, cwd=cwd, home=home)
            except (msgspec.DecodeError, UnicodeDecodeError, RecordError) as error:
                failures += 1
                name = record.get("id") if isinstance(record, dict) else None
                _write(encoder.encode({"id": name, "error": f"line {number}: {error}"}))
                continue
            _write(encoder.encode(found.line))
            for field in sorted(set(found.unknown) - named):
                named.add(field)
                meant = did_you_mean(field, Record.__annotations__)
                if meant:
                    print(f"line {number}: the field {field!r} means nothing here.{meant}", file=sys.stderr)
            if expect and found.matched is False:
                failures += 1
                want = record.get("want") if isinstance(record, dict) else None
                print(_difference(number, found.line, want), file=sys.stderr)
    if expect and failures:
        print(f"checkrein: {failures} of the lines are not as wanted.", file=sys.stderr)
    return Outcome(status=1 if failures else 0)


def _difference(number: int, line: Line, want: object) -> str:
    wanted = " or ".join(str(one) for one in want) if isinstance(want, list) else str(want)
    where = f"{line.id} (line {number})" if line.id is not None else f"line {number}"
    return f"{where}: wanted {wanted}, is {line.verdict}: {line.reason}"


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


def _write(data: bytes) -> None:
    import sys

    sys.stdout.buffer.write(data + b"\n")
    sys.stdout.buffer.flush()
