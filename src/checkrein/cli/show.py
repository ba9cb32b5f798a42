"""`checkrein show`: the effective project, one kind of thing in it, or one thing in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.model.project import MODES, Detection, Place, SessionMode
from checkrein.passes.agent_row import AgentRow
from checkrein.passes.rows import KINDS, PLURALS, Row
from checkrein.passes.visibility.sights import Sight

if TYPE_CHECKING:
    from checkrein.model.project import Project
    from checkrein.passes.explain import Match


class Payload(Struct, frozen=True, omit_defaults=True):
    """`rows` for a project or a kind, `items` for one thing in full, `detection` with --detect.

    An item that is not in effect says why in `lost`. It appears only when no item of its name is in effect.
    `others` counts the items in files of other agents, by dialect; their rows and items name the dialect.
    `agents` are the subagents of a session here, when they are asked for: what each has in effect.
    With --view, `sights` has every skill and command, and by which rule such a session sees it or not.
    """

    place: Place
    dialect: str
    counts: dict[str, int]
    rows: tuple[Row, ...] = ()
    items: tuple[dict[str, Any], ...] = ()
    detection: Detection | None = None
    problems: dict[str, int] = {}
    others: dict[str, dict[str, int]] = {}
    agents: tuple[AgentRow, ...] = ()
    view: str | None = None
    sights: tuple[Sight, ...] = ()


COMMAND = Command(
    name="show",
    summary="Show the effective project, one kind of thing in it, or one thing in full.",
    args=(
        Arg(name="what", default=None, help=f"A kind ({', '.join(KINDS)}), a name, or a directory."),
        PROJECT_ARG,
        Arg(
            name="detect",
            flags=("--detect",),
            type="bool",
            help="Print the dialect with its signals and scores.",
        ),
        Arg(
            name="all_",
            flags=("--all", "-a"),
            type="bool",
            help="Also show what is switched off, and every setting.",
        ),
        Arg(
            name="view",
            flags=("--view",),
            type="choice",
            choices=MODES,
            help="Which skills such a session sees, and by which rule; headless is a worker.",
        ),
        Arg(
            name="worker",
            flags=("--worker",),
            metavar="SKILL",
            help="With --view headless: the skill that the worker runs.",
        ),
    ),
    payload=Payload,
    errors=("project_not_found", "thing_not_found", "skill_in_two_tiers"),
    examples=(
        ("checkrein show", "the project in this directory"),
        ("checkrein show skills", "only the skills"),
        ("checkrein show agents", "each agent's tools, model and mode, and its fields without effect"),
        ("checkrein show review", "the thing called review, in full"),
        ("checkrein show --view headless --worker fix-ci", "what a worker that runs fix-ci sees"),
    ),
)


def run(
    what: str | None, project: str, detect: bool, all_: bool, view: SessionMode | None, worker: str | None
) -> Outcome:
    import os

    from checkrein.passes.load import load

    if worker is not None and view != "headless":
        raise UsageError("--worker only works with --view headless.")
    if view is not None:
        if detect or (what is not None and not os.path.isdir(what)):
            raise UsageError("--view shows all skills; leave the rest out.")
        return _view(what or project, view, worker)
    if what is not None and what not in PLURALS and what not in KINDS and os.path.isdir(what):
        project, what = what, None
    require(project)
    loaded = load(project)
    from checkrein.base.diagnostic import count
    from checkrein.passes import rows as table

    detection = loaded.detection if detect else None
    items: tuple[dict[str, Any], ...] = ()
    shown: tuple[Row, ...] = ()
    if detect:
        pass
    elif what is None:
        shown = tuple(table.rows(loaded))
    elif what in PLURALS or what in KINDS:
        shown = tuple(table.rows(loaded, (PLURALS.get(what, what),)))
    else:
        from checkrein.passes.explain import find

        found = find(loaded, what, (*KINDS, *PLURALS))
        chosen = [match for match in found if match.lost is None] or found
        items = tuple(_item(match) for match in chosen)
    problems = (*loaded.diagnostics, *(d for other in loaded.others.values() for d in other.diagnostics))
    payload = Payload(
        loaded.place,
        _dialect(loaded),
        table.counts(loaded),
        shown,
        items,
        detection,
        {key: value for key, value in count(problems).items() if value},
        {name: {k: n for k, n in table.counts(other).items() if n} for name, other in loaded.others.items()},
        _agents(loaded) if PLURALS.get(what or "", what) == "agent" and not detect else (),
    )

    def text() -> str:
        from checkrein.cli import show_text

        if detection is not None:
            return show_text.signals(detection)
        if items:
            return show_text.full(items)
        return show_text.tree(payload, everything=all_ or what is not None)

    return Outcome(data=payload, text=text)


def _view(path: str, mode: SessionMode, worker: str | None) -> Outcome:
    from checkrein.base.errors import NotFoundError
    from checkrein.base.nearest import did_you_mean
    from checkrein.passes import rows as table
    from checkrein.passes.load import load
    from checkrein.passes.visibility.outlook import outlook
    from checkrein.passes.visibility.session_view import governance_of, require_clear

    require(path)
    loaded = load(path, bundled=mode != "plain", detect=False)
    require_clear(governance_of(loaded))
    sights = outlook(loaded, mode, worker)
    names = [one.name for one in sights]
    if worker is not None and worker not in names:
        raise NotFoundError(
            f"There is no skill {worker!r}.{did_you_mean(worker, names)}", kind="thing_not_found"
        )
    payload = Payload(loaded.place, _dialect(loaded), table.counts(loaded), view=mode, sights=sights)

    def text() -> str:
        from checkrein.cli import show_view_text

        return show_view_text.view(payload)

    return Outcome(
        data=payload, text=text, warnings=tuple(d for d in loaded.diagnostics if d.code.startswith("VIS"))
    )


def _dialect(project: Project) -> str:
    """The dialect of the project. Without a signal, the agents whose files it holds."""
    found = project.detection.dialect
    return ", ".join(project.others) if found == "unknown" and project.others else found


def _agents(project: Project) -> tuple[AgentRow, ...]:
    import os

    from checkrein.model.view import View
    from checkrein.passes.agents import agent_types
    from checkrein.passes.agents.agent_rows import agent_rows
    from checkrein.runtime.session.prospect import situation_of
    from checkrein.runtime.trust import standing

    trust = standing(project)
    view = View(trust.project)
    kinds = agent_types(view, os.environ, trusts=trust.trusts)
    return agent_rows(kinds.values(), view, os.environ, situation_of(project))


def _item(match: Match) -> dict[str, Any]:
    from checkrein.passes.rows import full

    item = full(match.item)
    if "kind" in item:
        item["instruction_kind"] = item.pop("kind")
    dialect = {"dialect": match.dialect} if match.dialect else {}
    return {"kind": match.kind, **item, **dialect, **({"lost": match.lost} if match.lost else {})}
