"""Which sessions see a skill, and by which rule: the part of visibility in `show` and `why`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from checkrein.model.project import MODES, Project, SessionMode
from checkrein.passes.explain import Explanation
from checkrein.passes.visibility.bundled_skills import bundled_names
from checkrein.passes.visibility.session_view import rules_for, sights_of
from checkrein.passes.visibility.sights import Sight

_UNGOVERNED = (
    "no configuration of visibility here, so only the project's, the user's and plugins' skills count"
)


def outlook(project: Project, mode: SessionMode, target: str | None = None) -> tuple[Sight, ...]:
    """What a session of this mode has of each skill and command, in order of name."""
    found = sights_of(project, rules_for(project, mode, target=target))
    return tuple(found[name] for name in sorted(found))


def annotated(project: Project, explanations: Iterable[Explanation]) -> list[Explanation]:
    """The explanations, those of skills with a note for each mode."""
    return [
        replace(one, notes=(*one.notes, *_notes(project, one.name)))
        if one.kind in ("skill", "command")
        else one
        for one in explanations
    ]


def _notes(project: Project, name: str) -> Iterator[str]:
    for mode in MODES:
        sight = sights_of(project, rules_for(project, mode)).get(name)
        if sight is None:
            continue
        if mode == "plain" and project.governance is None and name in bundled_names():
            yield f"plain: hidden: {_UNGOVERNED}"
            continue
        place = f" ({sight.origin})" if sight.origin is not None else ""
        yield f"{mode}: {state_of(sight)}: {sight.reason}{place}"


def state_of(sight: Sight) -> str:
    if not sight.is_visible:
        return "hidden"
    return "visible, not for the model to choose" if sight.is_quiet else "visible"
