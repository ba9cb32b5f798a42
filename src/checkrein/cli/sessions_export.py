"""`checkrein sessions export`: a session as Markdown, HTML or JSON lines."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.sessions_list import PROJECT

FORMS = ("markdown", "html", "jsonl", "json")
_ENDINGS = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html", ".json": "json"}
_ENDINGS |= {".jsonl": "jsonl"}

SESSION = Arg(
    name="session",
    required=True,
    complete="sessions",
    metavar="SESSION",
    help="Its id, the start of it, or its title.",
)


class Payload(Struct, frozen=True, omit_defaults=True):
    """`file` is the file that was written; without one, `text` has the session."""

    session_id: str
    form: str
    file: str | None = None
    text: str | None = None


COMMAND = Command(
    name="sessions export",
    summary="Write a session as Markdown, as one HTML page that needs no network, or as JSON lines.",
    args=(
        SESSION,
        PROJECT,
        Arg(
            name="form",
            flags=("--format",),
            type="choice",
            choices=FORMS,
            help="The form; without it, as the file's name ends, else Markdown.",
        ),
        Arg(name="file", flags=("--output", "-o"), metavar="FILE", help="The file; it must not exist."),
        Arg(name="secrets", flags=("--with-secrets",), type="bool", help="Do not hide secrets."),
    ),
    payload=Payload,
    errors=("session_not_found", "session_ambiguous", "filesystem", "file_exists"),
    examples=(
        ("checkrein sessions export 3f2a > session.md", "as Markdown"),
        ("checkrein sessions export 3f2a -o session.html", "as a page to look at offline"),
        ("checkrein sessions export 3f2a --format jsonl", "every entry of the transcript"),
    ),
)


def run(session: str, project: str, form: str | None, file: str | None, secrets: bool) -> Outcome:
    from checkrein.runtime.store import SessionStore

    store = SessionStore()
    path = store.find(session, project)
    chosen = form or _ENDINGS.get(os.path.splitext(file or "")[1].lower(), "markdown")
    pieces = store.export(path.stem, project, form=chosen, redact=not secrets)
    text = "".join(
        f"{piece}\n" if chosen == "jsonl" and not piece.endswith("\n") else piece for piece in pieces
    )
    if file is None:
        return Outcome(
            data=Payload(path.stem, chosen, text=text), text=lambda: text.rstrip("\n"), is_data=True
        )
    written = write_new(file, text)
    return Outcome(data=Payload(path.stem, chosen, file=written), text=lambda: f"Wrote {written}.")


def write_new(name: str, text: str) -> str:
    """Write a file that does not exist yet. Returns its path."""
    from checkrein.base.files import write_atomic

    path = Path(os.path.expanduser(name)).absolute()
    if path.exists():
        raise UsageError(f"{name} exists already.", kind="file_exists", hint="Name another file.")
    write_atomic(path, text)
    return str(path)
