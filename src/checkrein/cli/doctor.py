"""`checkrein doctor`: what is there, what is active, what is missing and how to get it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from checkrein.cli.doctor_model import ModelRow
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG
from checkrein.runtime.process.layers import Layer

if TYPE_CHECKING:
    from checkrein.base.extensions import Extension
    from checkrein.base.origin import Origin
    from checkrein.model.project import Project

State = Literal["ok", "weak", "missing"]


class Line(Struct, frozen=True, omit_defaults=True):
    """One thing that doctor looks for. A missing one makes the exit status 1."""

    name: str
    state: State
    found: str
    fix: str | None = None
    needed: bool = False


class Sandbox(Struct, frozen=True):
    kind: str
    enforced: tuple[str, ...]
    missing: tuple[str, ...]
    fix: str | None


class Addition(Struct, frozen=True, omit_defaults=True):
    """An extension of an installed package: what it adds, or why it is off or can't be used."""

    package: str
    version: str
    group: str
    name: str
    state: Literal["ok", "off", "broken"]
    adds: tuple[str, ...] = ()
    problem: str | None = None


class Payload(Struct, frozen=True):
    """`model` is the one that a run here would use. `models` names the providers that have a credential or an
    address; doctor never shows its value. `layers` say where rules are enforced here while calls run."""

    sandbox: Sandbox
    model: ModelRow
    models: dict[str, str]
    layers: tuple[Layer, ...]
    lines: tuple[Line, ...]
    extensions: tuple[Addition, ...] = ()


COMMAND = Command(
    name="doctor",
    summary="Report what is active here, which models, tools and extensions exist, and what is missing.",
    args=(
        Arg(
            name="model",
            flags=("--model",),
            complete="models",
            metavar="PROVIDER:NAME",
            help="Ask this model; without it, the one that a run would use.",
        ),
        Arg(name="offline", flags=("--offline",), type="bool", help="Send nothing to the model's address."),
        PROJECT_ARG,
    ),
    payload=Payload,
    errors=("project_not_found",),
    exits=((0, "everything needed is there"), (1, "something is missing"), (2, "wrong usage")),
    examples=(
        ("checkrein doctor", "the model, its credential, programs, sandbox, trust"),
        ("checkrein doctor --model ollama:qwen3:8b", "whether this model answers"),
    ),
)


def run(project: str, model: str | None = None, offline: bool = False) -> Outcome:
    from checkrein.cli.doctor_model import model_row
    from checkrein.cli.target import require
    from checkrein.passes.load import load

    require(project)
    loaded = load(project)
    sandbox = _sandbox()
    chosen = model_row(loaded, model, offline=offline)
    layers = _layers()
    extensions = _extensions(loaded.place.root)
    lines = (
        *_programs(),
        *_homes(),
        Line("model", chosen.state, chosen.line(), chosen.fix, True),
        *_configuration(loaded),
        *map(_layer_line, layers),
        _sandbox_line(sandbox),
        *_trust(loaded),
        *map(_extension_line, extensions),
    )
    payload = Payload(sandbox, chosen, _models(), layers, lines, extensions)
    failed = any(line.state == "missing" for line in lines)

    def text() -> str:
        from checkrein.cli.doctor_text import render

        return render(payload)

    return Outcome(data=payload, text=text, status=1 if failed else 0)


def _programs() -> tuple[Line, ...]:
    import shutil

    from checkrein.runtime.tools.search import rg_path

    return (
        _program("bash", shutil.which("bash"), "Install bash: the Bash tool needs it.", needed=True),
        _program("ripgrep", rg_path(), "Install ripgrep (`rg`): Grep and Glob need it.", needed=True),
        _program("git", shutil.which("git"), "Install git, to see a project's state and to use worktrees."),
    )


def _program(name: str, path: str | None, fix: str, needed: bool = False) -> Line:
    from checkrein.runtime.process.probes import probe

    said = probe((path, "--version")) if path else None
    if said is None:
        found = "not found" if path is None else f"{path} does not run"
        return Line(name, "missing" if needed else "weak", found, fix, needed)
    first = said.decode("utf-8", "replace").partition("\n")[0].strip()
    return Line(name, "ok", f"{first} ({path})", None, needed)


def _homes() -> tuple[Line, ...]:
    import os

    from checkrein.base.home import checkrein_home

    home = checkrein_home()
    existing = home
    while not existing.exists():
        existing = existing.parent
    if os.access(existing, os.W_OK | os.X_OK):
        found = f"{home}" if home.exists() else f"{home} (made when it is first needed)"
        return (Line("Checkrein home", "ok", found, None, True),)
    fix = "Make it writable, or set CHECKREIN_HOME to a directory that is."
    return (Line("Checkrein home", "missing", f"{existing} is not writable", fix, True),)


def _models() -> dict[str, str]:
    """Provider to the variable that holds its credential."""
    import os

    from checkrein.facts.models_providers import PROVIDERS

    found = {}
    for name, row in PROVIDERS.items():
        variable = next((v for v in (*row.key_variables, *row.url_variables) if os.environ.get(v)), None)
        if variable:
            found[name] = variable
    return found


def _configuration(project: Project) -> tuple[Line, ...]:
    from checkrein.cli.config_notes import findings

    found = findings(project.place.root)
    return tuple(
        Line(
            "configuration",
            "missing" if one.severity == "error" else "weak",
            f"{one.origin}: {one.message}",
            "`checkrein config` shows what is in effect.",
        )
        for one in found
    )


def _layers() -> tuple[Layer, ...]:
    import os

    from checkrein.runtime.process.layers import layers_here

    return layers_here(os.environ).all


def _layer_line(layer: Layer) -> Line:
    if layer.holds:
        return Line(f"rules: {layer.name}", "ok", layer.means)
    return Line(f"rules: {layer.name}", "weak", f"{layer.means} {layer.why}", layer.fix)


def _sandbox() -> Sandbox:
    from checkrein.runtime.process.sandbox import detect

    status = detect()
    return Sandbox(status.kind, status.enforced, status.missing, status.fix)


def _sandbox_line(sandbox: Sandbox) -> Line:
    states: dict[str, State] = {"bubblewrap": "ok", "landlock": "weak", "seatbelt": "weak", "none": "weak"}
    return Line("sandbox", states[sandbox.kind], sandbox.kind, sandbox.fix)


def _extensions(root: str) -> tuple[Addition, ...]:
    """Loads each of them, so that its errors show here."""
    from checkrein.base.extensions import installed, switches
    from checkrein.passes.extensions import additions

    found = installed(root)
    if not found:
        return ()
    switched = switches()
    parts = [additions(group, root) for group in dict.fromkeys(one.group for one in found)]
    rows = []
    for one in found:
        refusal = switched.refusal(one)
        adds = tuple(part.name for all_ in parts for part in all_.added if part.extension == one)
        told = next((d.message for all_ in parts for d in all_.problems if _is_about(d.origin, one)), None)
        state: Literal["ok", "off", "broken"] = "off" if refusal else "broken" if told else "ok"
        rows.append(
            Addition(one.distribution, one.version, one.group, one.name, state, adds, refusal or told)
        )
    return tuple(rows)


def _is_about(origin: Origin, extension: Extension) -> bool:
    return origin.file == extension.file and origin.field == f"{extension.group}.{extension.name}"


def _extension_line(row: Addition) -> Line:
    where = f"{row.package} {row.version}: {row.group} {row.name}"
    if row.state == "ok":
        return Line("extension", "ok", f"{where} adds {', '.join(row.adds)}")
    if row.state == "off":
        return Line("extension", "weak", f"{where} is off", f"{row.problem} in your configuration.")
    fix = "Update or uninstall it, or name it in `extensions.disabled`."
    return Line("extension", "weak", row.problem or where, fix)


def _trust(project: Project) -> tuple[Line, ...]:
    from checkrein.runtime.trust import status

    found = status(project)
    if found.trusted:
        return (Line("trust", "ok", f"{found.root} is trusted"),)
    return (
        Line(
            "trust",
            "weak",
            f"{found.root} is not trusted: {found.reason}",
            "Look at it with `checkrein trust`.",
        ),
    )
