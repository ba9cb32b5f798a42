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
    """The style that a plugin forces, else the one that the settings name, whether or not it exists."""
    forced = next(iter(_forced(project)), None)
    if forced is not None:
        return forced
    named = project.setting("outputStyle")
    return named if isinstance(named, str) and named.strip() else DEFAULT


def styles(project: Project) -> dict[str, Origin]:
    """The styles by name: the user's, the project's, which win, and those of plugins as `plugin:style`."""
    own = (
        (name, Origin(path, scope))
        for scope, folder in _folders(project.place)
        for name, path in _files(folder)
    )
    brought = ((name, Origin(path, "plugin")) for name, path in _of_plugins(project))
    return dict((*own, *brought))


def style_segment(project: Project) -> Segment | None:
    """What the chosen style adds to the system prompt."""
    return segment_of(project, chosen(project))


def segment_of(project: Project, name: str) -> Segment | None:
    """What the style of this name adds."""
    origin = styles(project).get(name) if name != DEFAULT else None
    if origin is None:
        return None
    from checkrein.base.frontmatter import parse

    text = parse(read_text(origin.file).text).body.strip()
    return Segment("stable", "output style", text, origin, pinned=True) if text else None


def _of_plugins(project: Project) -> Iterator[tuple[str, str]]:
    for found in project.plugins.values():
        plugin = found.item
        for place in plugin.components.get("outputStyles", ()) if plugin.enabled else ():
            path = os.path.join(plugin.root, place)
            for name, file in _files(path) if os.path.isdir(path) else _files(os.path.dirname(path), path):
                yield f"{plugin.name}:{name}", file


def _forced(project: Project) -> Iterator[str]:
    """Styles with `force-for-plugin`, in the order of the plugins."""
    from checkrein.base.frontmatter import parse

    for name, file in _of_plugins(project):
        if parse(read_text(file).text).values.get("force-for-plugin") is True:
            yield name


def _folders(place: Place) -> Iterator[tuple[Scope, str]]:
    wanted = place.setting_sources
    if wanted is None or "user" in wanted:
        yield "user", os.path.join(place.config_dir, _FOLDER)
    if wanted is None or "project" in wanted:
        yield "project", os.path.join(place.root, ".claude", _FOLDER)


def _files(folder: str, only: str | None = None) -> Iterator[tuple[str, str]]:
    """Name and path of the styles in a folder."""
    try:
        found = sorted(os.listdir(folder))
    except OSError:
        return
    from checkrein.base.frontmatter import parse

    for file in found:
        path = os.path.join(folder, file)
        if only not in (None, path):
            continue
        if file.endswith(".md") and os.path.isfile(path) and not os.path.islink(path):
            named = parse(read_text(path).text).values.get("name")
            yield (named if isinstance(named, str) and named else file.removesuffix(".md")), path
