"""`checkrein init`: a first CLAUDE.md and first settings, and the model and key of a first run."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

from msgspec import Struct

from checkrein.base.errors import CheckreinError
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require


class FileRow(Struct, frozen=True):
    """A file that `init` has written, would write, or leaves as it is."""

    path: str
    state: Literal["written", "would be written", "exists"]
    text: str


class Payload(Struct, frozen=True):
    """`model` is the model that a run here uses; null when there is none yet."""

    files: tuple[FileRow, ...]
    model: str | None


COMMAND = Command(
    name="init",
    summary="Write a first CLAUDE.md and settings from what the repository shows; set up a model and a key.",
    details=(
        "Files that exist stay as they are. At a terminal it asks for a model when none can be used, and "
        "looks for Ollama, llama.cpp and LM Studio on this machine first."
    ),
    args=(
        PROJECT_ARG,
        Arg(name="dry_run", flags=("--dry-run",), type="bool", help="Write nothing; show what would be."),
        Arg(name="model", flags=("--model",), metavar="PROVIDER:NAME", complete="models",
            help="Make this the model of every run."),
        Arg(name="no_model", flags=("--no-model",), type="bool", help="Do not look for a model."),
    ),
    payload=Payload,
    errors=("project_not_found", "filesystem", "value_invalid"),
    examples=(
        ("checkrein init", "in a repository"),
        ("checkrein init --dry-run", "look first"),
        ("checkrein init --model ollama:qwen3:8b", "with a model"),
    ),
)  # fmt: skip


def run(project: str, dry_run: bool, model: str | None, no_model: bool) -> Outcome:
    from checkrein.passes.first_files import first_files

    require(project)
    rows = tuple(
        _placed(Path(project), path, text, dry_run) for path, text in first_files(project).files.items()
    )
    chosen = None if no_model or dry_run else _model(project, model)
    payload = Payload(rows, chosen)

    def text() -> str:
        from checkrein.cli import paint

        lines = []
        for row in rows:
            lines.append(f"{paint.path(row.path)}: {row.state}")
            if row.state != "exists":
                lines += [paint.dim(f"  │ {line}") for line in row.text.rstrip("\n").split("\n")]
        lines.append(f"model: {chosen}" if chosen else "model: none yet (`checkrein doctor` says what to do)")
        return "\n".join(lines if not (no_model or dry_run) else lines[:-1])

    return Outcome(data=payload, text=text)


def _placed(project: Path, name: str, text: str, dry_run: bool) -> FileRow:
    from checkrein.base.files import write_atomic

    path = project.absolute() / name
    if os.path.lexists(path):
        return FileRow(str(path), "exists", "")
    if dry_run:
        return FileRow(str(path), "would be written", text)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text)
    return FileRow(str(path), "written", text)


def _model(project: str, named: str | None) -> str | None:
    """The model that a run here uses, after asking for one where there is none."""
    from checkrein.cli.model_choices import keep_model
    from checkrein.passes.load import load
    from checkrein.runtime.session.chooser import Chooser
    from checkrein.runtime.trust import standing

    if named is not None:
        keep_model(named)
    try:
        chosen = Chooser(standing(load(project)), dict(os.environ)).chosen(named)
    except CheckreinError:
        return _asked() if sys.stdin.isatty() and sys.stderr.isatty() else None
    return f"{chosen.provider}:{chosen.name}"


def _asked() -> str | None:
    from checkrein.cli import out
    from checkrein.cli.model_choices import found_models, keep_key, keep_model

    found = found_models(os.environ)
    out.say("No model can be used yet. These can be set up:", err=True)
    for number, one in enumerate(found, 1):
        out.say(f"  {number}. {one.label}  {one.detail}", err=True)
    said = str(out.prompt("Number, or nothing to leave it", default="", show_default=False)).strip()
    if not said.isdigit() or not 0 < int(said) <= len(found):
        return None
    one = found[int(said) - 1]
    name = one.model or str(out.prompt("The model, as provider:name")).strip()
    if one.key_variable is not None:
        keep_key(str(out.prompt(f"The key for {one.provider}", hide_input=True)).strip(), one)
    keep_model(name)
    return name
