"""Which hooks of a project are switched on."""

from __future__ import annotations

from bridle.base.diagnostic import Diagnostic
from bridle.model.items import Hook
from bridle.model.project import Project


def enabled_hooks(project: Project) -> tuple[tuple[Hook, ...], tuple[Diagnostic, ...]]:
    """The hooks that may run, and a Diagnostic for each one that a setting keeps away.

    `disableAllHooks` can't switch managed hooks off unless a managed file sets it;
    `allowManagedHooksOnly` counts only in a managed file.
    """
    key, managed_too = _switch(project)
    if key is None:
        return project.hooks, ()
    kept = tuple(hook for hook in project.hooks if hook.origin.scope == "managed" and not managed_too)
    skipped = tuple(
        Diagnostic(
            "RUNHOOK006",
            "info",
            f"This {hook.name} hook does not run: `{key}` is set.",
            hook.origin,
            hint=f"Remove `{key}` from the settings to run it.",
        )
        for hook in project.hooks
        if hook not in kept
    )
    return kept, skipped


def _switch(project: Project) -> tuple[str | None, bool]:
    """(the setting that keeps hooks away, whether managed hooks are meant too)."""
    if project.setting("disableAllHooks") is True:
        return "disableAllHooks", _set_by_managed(project, "disableAllHooks")
    if project.setting("allowManagedHooksOnly") is True and _set_by_managed(project, "allowManagedHooksOnly"):
        return "allowManagedHooksOnly", False
    return None, False


def _set_by_managed(project: Project, key: str) -> bool:
    effective = project.settings[key]
    return any(
        candidate.lost is None and candidate.item.origin.scope == "managed"
        for candidate in effective.candidates
    )
