"""Settings in a file that may not set them."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_settings
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document


def run(subject: Subject) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for setting in subject.project.sources.settings:
        scope = setting.origin.scope
        if scope in ("plugin", "bundled") or (setting.origin.file, setting.name) in seen:
            continue
        seen.add((setting.origin.file, setting.name))
        allowed = claude_settings.scopes_for(setting.name)
        ignored = claude_settings.IGNORED_VALUES.get(setting.name)
        if scope not in allowed:
            owners = " or ".join(name for name in allowed if name != "cli")
            message = f"`{setting.name}` has no effect in {scope} settings; only {owners} settings may set it"
        elif ignored and scope in ignored[1] and setting.value == ignored[0]:
            message = f"`{setting.name}: {setting.value}` is ignored in {scope} settings"
        else:
            continue
        yield Finding(origin=setting.origin, message=message)


CHECK = Check(
    code="CC031",
    name="setting-in-wrong-scope",
    severity="error",
    summary="A settings key is in a file that may not set it.",
    why="Some keys work only in managed or user settings, so that a repository can't choose them. Claude "
    "Code ignores them elsewhere.",
    hint="Move it to a file that may set it.",
    bad={SETTINGS: document({"allowManagedHooksOnly": True})},
    good={SETTINGS: document({"disableBundledSkills": True})},
    run=run,
)
