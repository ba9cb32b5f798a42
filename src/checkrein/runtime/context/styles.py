"""Output styles: Markdown files whose text joins the system prompt when the setting names them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.base.files import read_text
from checkrein.base.origin import Origin, Scope
from checkrein.model.project import Place, Project
from checkrein.runtime.context.segments import Segment

DEFAULT = "default"
_FOLDER = "output-styles"


def chosen(project: Project) -> str:
    """The style that the settings name, whether or not there is one of that name."""
    named = project.setting("outputStyle")
    return named if isinstance(named, str) and named.strip() else DEFAULT


def styles(place: Place) -> dict[str, Origin]:
    """The styles of this place by name. The project's come before the user's."""
    return {name: Origin(path, scope) for scope, folder in _folders(place) for name, path in _files(folder)}


def style_segment(project: Project) -> Segment | None:
    """What the chosen style adds to the system prompt."""
    return segment_of(project.place, chosen(project))


def segment_of(place: Place, name: str) -> Segment | None:
    """What the style of this name adds."""
    origin = styles(place).get(name) if name != DEFAULT else None
    if origin is None:
        return None
    from checkrein.base.frontmatter import parse

    text = parse(read_text(origin.file).text).body.strip()
    return Segment("stable", "output style", text, origin, pinned=True) if text else None


def _folders(place: Place) -> Iterator[tuple[Scope, str]]:
    wanted = place.setting_sources
    if wanted is None or "user" in wanted:
        yield "user", os.path.join(place.config_dir, _FOLDER)
    if wanted is None or "project" in wanted:
        yield "project", os.path.join(place.root, ".claude", _FOLDER)


def _files(folder: str) -> Iterator[tuple[str, str]]:
    try:
        found = sorted(os.listdir(folder))
    except OSError:
        return
    from checkrein.base.frontmatter import parse

    for file in found:
        path = os.path.join(folder, file)
        if file.endswith(".md") and os.path.isfile(path) and not os.path.islink(path):
            named = parse(read_text(path).text).values.get("name")
            yield (named if isinstance(named, str) and named else file.removesuffix(".md")), path
