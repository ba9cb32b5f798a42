"""Live reload between turns: the text of skills is picked up; settings that changed can only narrow.

What would widen (new approvals, removed denials, other hooks) waits for a new session: an agent that edits
its own settings gains nothing. Hooks are those of the start. A skill keeps the grants and hooks that it had
at the start, less what it no longer asks for.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from bridle.base.diagnostic import Diagnostic
from bridle.base.ids import new_uuid
from bridle.base.origin import Scope
from bridle.llm.port import Cancel, Text, user
from bridle.model.items import Skill
from bridle.model.project import Candidate, Place, Project, Resolved
from bridle.model.rule import Rule
from bridle.model.view import View
from bridle.runtime.context.reminders import reminder
from bridle.runtime.events import ContextAdded, Event, Notice
from bridle.runtime.hooks import payloads

if TYPE_CHECKING:
    from bridle.runtime.engine import Engine

Stamp = tuple[int, int, int]
Stamps = dict[str, Stamp]


class Root(Struct, frozen=True):
    """A `skills/` directory that was there at the start."""

    path: str
    scope: Scope


class Watch:
    """The files of a project that are looked at again before each prompt, and what they were last time."""

    def __init__(self, project: Project) -> None:
        self._roots = tuple(_roots(project))
        self._settings = dict(_settings(project.place))
        self._start = project
        self._skills_seen = self._skill_stamps()
        self._settings_seen = _stamps(self._settings)

    def skills(self) -> tuple[Skill, ...] | None:
        """All skills of the watched directories, highest precedence first; None when nothing changed."""
        now = self._skill_stamps()
        if now == self._skills_seen:
            return None
        self._skills_seen = now
        from bridle.dialects.claude.read import read_skills

        log: list[Diagnostic] = []
        seen: set[str] = set()
        return tuple(skill for root in self._roots for skill in read_skills(root.path, root.scope, log, seen))

    def settings(self) -> list[tuple[str, str]]:
        """The settings files that changed: what hooks call their source, and the path."""
        now = _stamps(self._settings)
        changed = [path for path in self._settings if now.get(path) != self._settings_seen.get(path)]
        self._settings_seen = now
        return [(self._settings[path], path) for path in changed]

    def is_watched(self, skill: Skill) -> bool:
        parent = os.path.dirname(skill.directory)
        return any(root.path == parent for root in self._roots)

    def _skill_stamps(self) -> Stamps:
        found: Stamps = {}
        for root in self._roots:
            try:
                names = os.listdir(root.path)
            except OSError:
                continue
            for name in names:
                path = f"{root.path}/{name}/SKILL.md"
                stamp = _stamp(path)
                if stamp is not None:
                    found[path] = stamp
        return found


def _roots(project: Project) -> Iterator[Root]:
    from bridle.dialects.claude.place import chain

    place = project.place
    scopes = {item.origin.scope for item in (*project.sources.skills, *project.sources.settings)}
    scopes |= {item.origin.scope for item in project.sources.instructions}
    wanted: list[tuple[str, Scope]] = [(os.path.join(place.config_dir, "skills"), "user")]
    wanted += [(os.path.join(d, ".claude", "skills"), "project") for d in (*chain(place), *place.add_dirs)]
    for path, scope in wanted:
        if scope in scopes and os.path.isdir(path):
            yield Root(path, scope)


def _settings(place: Place) -> Iterator[tuple[str, str]]:
    yield os.path.join(place.config_dir, "settings.json"), "user_settings"
    for directory in dict.fromkeys((place.cwd, place.root, place.repo_root or place.root)):
        yield os.path.join(directory, ".claude", "settings.json"), "project_settings"
        yield os.path.join(directory, ".claude", "settings.local.json"), "local_settings"
    if place.managed_dir is not None:
        yield os.path.join(place.managed_dir, "managed-settings.json"), "policy_settings"


def _stamp(path: str) -> Stamp | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _stamps(paths: Mapping[str, str]) -> Stamps:
    return {path: stamp for path in paths if (stamp := _stamp(path)) is not None}


def refresh(engine: Engine, watch: Watch, cancel: Cancel) -> Generator[Event, None, None]:
    """Take up what changed since the last prompt."""
    skills = watch.skills()
    if skills is not None and (yield from _agreed(engine, "skills", None, cancel)):
        yield from _take_skills(engine, watch, skills)
    changed = watch.settings()
    accepted = []
    for source, path in changed:
        if (yield from _agreed(engine, source, path, cancel)):
            accepted.append(path)
    if accepted:
        yield from _take_settings(engine, accepted)


def _agreed(engine: Engine, source: str, path: str | None, cancel: Cancel) -> Generator[Event, None, bool]:
    """Ask the ConfigChange hooks; an organisation's settings are taken up whatever they say."""
    events: list[Event] = []
    payload = payloads.config_change(engine.firing.common, source, path)
    outcome = engine.firing.fire(payload, events.append, cancel)
    yield from events
    if not outcome.blocked or source == "policy_settings":
        return True
    yield Notice("warning", f"A change of {path or source} was not taken up: {outcome.reason}")
    return False


def _take_skills(engine: Engine, watch: Watch, found: tuple[Skill, ...]) -> Generator[Event, None, None]:
    shelf = engine.invoker.shelf
    old = shelf.view.project.skills
    new: dict[str, Resolved[Skill]] = {n: r for n, r in old.items() if not watch.is_watched(r.item)}
    for skill in found:
        if skill.name in new:
            continue
        before = old.get(skill.name)
        kept = narrowed(before.item if before is not None else None, skill)
        new[skill.name] = Resolved(skill.name, kept, (Candidate(kept),))
    ordered = {name: new[name] for name in (*(n for n in old if n in new), *(n for n in new if n not in old))}
    shelf.view = replace(shelf.view, project=replace(shelf.view.project, skills=ordered))
    text = _news(old, ordered, shelf.view)
    if text:
        wrapped = reminder(text)
        engine.state.append(user(Text(wrapped)))
        yield ContextAdded(new_uuid(), wrapped, "skills")


def narrowed(before: Skill | None, now: Skill) -> Skill:
    """A skill's new text with no more grants than it had, none when it is new; what it forbids now counts as
    well."""
    if before is None:
        return replace(now, allowed_tools=(), hooks=())
    return replace(
        now,
        allowed_tools=tuple(rule for rule in now.allowed_tools if rule in before.allowed_tools),
        disallowed_tools=tuple(dict.fromkeys((*before.disallowed_tools, *now.disallowed_tools))),
        hooks=before.hooks,
    )


def _news(old: Mapping[str, Resolved[Skill]], new: Mapping[str, Resolved[Skill]], view: View) -> str:
    """What the model has to know: skills that came, went, or say something else about when to use them."""
    from bridle.runtime.skills.listing import description, listable

    shown = listable(view)
    lines = [
        f"- {name}: {description(item)}"
        for name, item in shown.items()
        if name not in old or description(old[name].item) != description(item)
    ]
    gone = [name for name in old if name not in new]
    parts = ["\n".join(("These skills are new, or described anew:", *lines))] if lines else []
    parts += [f"These skills are gone: {', '.join(gone)}."] if gone else []
    return "\n".join(parts)


def _take_settings(engine: Engine, files: list[str]) -> Generator[Event, None, None]:
    from bridle.passes.load import load

    start = engine.view.project
    place = start.place
    now = load(
        place.cwd,
        env=engine.env,
        home=place.home,
        managed_dir=place.managed_dir,
        add_dirs=place.add_dirs,
        setting_sources=place.setting_sources,
        detect=False,
    )
    before = [rule for rule in start.rules if rule.origin.file in files]
    after = [rule for rule in now.rules if rule.origin.file in files]
    known, there = {_key(rule) for rule in before}, {_key(rule) for rule in after}
    gone = [rule for rule in before if _key(rule) not in there]
    added = [rule for rule in after if _key(rule) not in known]
    engine.gate.tighten(gone, added)
    wider = [rule.text for rule in gone if rule.behavior != "allow"]
    wider += [rule.text for rule in added if rule.behavior == "allow"]
    stricter = len(gone) + len(added) - len(wider)
    if stricter:
        yield Notice("info", f"Settings changed: {stricter} change(s) that take away hold from now on.")
    if wider:
        yield Notice(
            "warning", f"Settings changed: {', '.join(wider)} would widen; that needs a new session."
        )


def _key(rule: Rule) -> tuple[str, str]:
    return rule.behavior, rule.text
