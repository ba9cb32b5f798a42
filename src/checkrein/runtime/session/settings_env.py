"""The variables that settings set."""

from __future__ import annotations

from checkrein.model.project import Project


def settings_env(project: Project) -> tuple[dict[str, str], dict[str, str]]:
    """The `env` of the settings: the part from the user's own files, and the part from the project's."""
    own: dict[str, str] = {}
    theirs: dict[str, str] = {}
    for name, effective in project.settings.items():
        winner = next((one.item for one in effective.candidates if one.lost is None), None)
        if winner is not None and name.startswith("env."):
            target = theirs if winner.origin.scope in ("project", "local") else own
            target[name.removeprefix("env.")] = str(effective.value)
    return own, theirs
