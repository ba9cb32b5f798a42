"""`checkrein convert`: one file of one agent in the form that another agent reads."""

from __future__ import annotations

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.writer_args import DEGRADE_ARG, PROFILE_ARG, STRICT_ARG


class Converted(Struct, frozen=True):
    path: str
    content: str


class Payload(Struct, frozen=True, omit_defaults=True):
    """`files` as the other agent reads them; `written` are their paths with --output."""

    kind: str
    files: tuple[Converted, ...]
    losses: tuple[Diagnostic, ...] = ()
    written: tuple[str, ...] = ()


COMMAND = Command(
    name="convert",
    summary="Convert one file of one agent to the form of another.",
    args=(
        Arg(
            name="file", required=True, help="The file: a skill, command, agent, rule, hooks or servers file."
        ),
        Arg(
            name="from_",
            flags=("--from",),
            default="claude",
            metavar="AGENT",
            help="The agent that the file is for.",
        ),
        Arg(
            name="to",
            flags=("--to",),
            complete="agents",
            required=True,
            metavar="AGENT",
            help="The agent to convert it for.",
        ),
        Arg(
            name="kind",
            flags=("--kind",),
            type="choice",
            choices=("skill", "command", "agent", "rule", "instruction", "hooks", "servers", "settings"),
            help="The kind of the file, when its name does not tell.",
        ),
        Arg(
            name="output",
            flags=("--output", "-o"),
            metavar="DIR",
            help="Write the files below this directory.",
        ),
        DEGRADE_ARG,
        PROFILE_ARG,
        STRICT_ARG,
    ),
    payload=Payload,
    errors=(
        "file_unreadable",
        "agent_unknown",
        "deploy_refused",
        "deploy_failed",
        "path_refused",
        "tree_changed",
    ),
    exits=((0, "converted"), (1, "no file to write, or an error"), (2, "wrong usage")),
    examples=(
        ("checkrein convert .claude/agents/x.md --to codex", "print the TOML that Codex reads"),
        ("checkrein convert a.prompt.md --from copilot --to gemini -o .", "write .gemini/commands/a.toml"),
    ),
)


def run(
    file: str,
    from_: str,
    to: str,
    kind: str | None,
    output: str | None,
    degrade: bool,
    profile: str | None,
    strict: bool,
) -> Outcome:
    import os

    from checkrein.base.errors import FileError
    from checkrein.base.files import read_text
    from checkrein.base.harmless import indented
    from checkrein.base.origin import Origin
    from checkrein.deploy.configured import configured
    from checkrein.deploy.sources import KINDS, read_file
    from checkrein.deploy.targets import chosen_targets, writer
    from checkrein.dialects.claude.place import locate
    from checkrein.dialects.generic.written import guards_first

    text = read_text(file)
    if not text.readable:
        raise FileError(f"{file} {text.problem}", kind="file_unreadable", origin=Origin(file, "project"))
    target = chosen_targets((to,))[0]
    chosen = next((one for one in KINDS if one == kind), None)
    sources, found = read_file(text.text, os.path.abspath(file), from_, chosen)
    root = locate(os.path.dirname(os.path.abspath(file)), env=os.environ).place.root
    written = writer(target)(sources, configured(root, profile=profile, degrade=degrade, home=True))
    files = tuple(Converted(one.path, one.text) for one in written.files)
    losses = guards_first((*sources.diagnostics, *written.losses), strict=strict)
    errors = [loss for loss in losses if loss.severity == "error"]
    put: tuple[str, ...] = ()
    if output is not None and not errors:
        from pathlib import Path

        from checkrein.deploy.apply import apply_plan
        from checkrein.deploy.manifest import Manifest
        from checkrein.deploy.paths import Paths
        from checkrein.deploy.plan import make_plan

        paths = Paths(Path(output))
        plan = make_plan(paths, {target.key: written}, Manifest())
        put = apply_plan(paths, plan, record=False).written
    payload = Payload(found, files, losses, put)

    def shown() -> str:
        parts = [f"{one.path}" for one in files] if put else [f"# {one.path}\n{one.content}" for one in files]
        parts += [f"{loss.severity} {loss.code} {indented(loss.message)}" for loss in losses]
        return "\n".join(parts)

    return Outcome(data=payload, text=shown, status=0 if files and not errors else 1, is_data=True)
