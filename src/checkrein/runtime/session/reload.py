"""Live reload between turns: new text of skills and agents counts; changed settings can only narrow.

What would widen (new approvals, removed denials, other hooks) waits for a new session: an agent that edits
its own settings gains nothing. Hooks stay as they were at the start.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from checkrein.facts.subagents import AGENT_TOOL
from checkrein.llm.port import Cancel
from checkrein.model.project import Place
from checkrein.model.rule import Rule
from checkrein.model.view import View
from checkrein.runtime.agents.agent_files import AgentFiles, renew_agents
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.events import Event, Notice
from checkrein.runtime.skills.renewal import SkillFiles, Stamps, renew, renewed

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation


class Watch:
    """The files of a project to check before each prompt, and their state at the last check."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.skills = SkillFiles(place)
        self.agents = AgentFiles(place)
        self._settings = dict(_settings(place))
        self._stamps = Stamps(lambda: self._settings)

    def look_again(self) -> SkillFiles:
        """Find the directories of skills again. The next prompt reads them."""
        self.skills = SkillFiles(self._place, unread=True)
        return self.skills

    def settings(self) -> list[tuple[str, str]]:
        """The changed settings files: the source as hooks name it, and the path."""
        changed = self._stamps.changed()
        return [(source, path) for path, source in self._settings.items() if path in changed]


def _settings(place: Place) -> Iterator[tuple[str, str]]:
    yield os.path.join(place.config_dir, "settings.json"), "user_settings"
    for directory in dict.fromkeys((place.cwd, place.root, place.repo_root or place.root)):
        yield os.path.join(directory, ".claude", "settings.json"), "project_settings"
        yield os.path.join(directory, ".claude", "settings.local.json"), "local_settings"
    if place.managed_dir is not None:
        yield os.path.join(place.managed_dir, "managed-settings.json"), "policy_settings"


def skills_now(conversation: Conversation, watch: Watch | None) -> View:
    """The skills and commands as their files are now, also in directories that are new. They count from the
    next prompt on. There is no watch before the first one."""
    shelf = conversation.skills.invoker.shelf
    if watch is not None:
        return renewed(shelf, watch.look_again())
    from checkrein.runtime.session.start import reload_skills

    reload_skills(conversation)
    return shelf.view


def refresh(conversation: Conversation, watch: Watch, cancel: Cancel) -> Generator[Event, None, None]:
    """Apply what changed since the last prompt."""
    if watch.skills.changed() and (yield from _agreed(conversation, "skills", None, cancel)):
        text = renew(conversation.skills.invoker.shelf, watch.skills)
        if text:
            yield from conversation.note(text, "skills")
    if watch.agents.changed():
        text = renew_agents(conversation, watch.agents)
        if text and conversation.host.tools.get(AGENT_TOOL) is not None:
            yield from conversation.note(text, "agents")
    changed = watch.settings()
    accepted = []
    for source, path in changed:
        if (yield from _agreed(conversation, source, path, cancel)):
            accepted.append(path)
    if accepted:
        yield from _take_settings(conversation, accepted)


def _agreed(
    conversation: Conversation, source: str, path: str | None, cancel: Cancel
) -> Generator[Event, None, bool]:
    """Ask the ConfigChange hooks. They can't refuse an organisation's settings."""
    payload = payloads.config_change(conversation.hooks.common, source, path)
    outcome = yield from conversation.hooks.fire(payload, cancel)
    if not outcome.blocked or source == "policy_settings":
        return True
    yield Notice("warning", f"A change of {path or source} does not count: {outcome.reason}")
    return False


def _take_settings(conversation: Conversation, files: list[str]) -> Generator[Event, None, None]:
    from checkrein.passes.load import load_again

    start = conversation.view.project
    now = load_again(start.place, conversation.env)
    before = [rule for rule in start.rules if rule.origin.file in files]
    after = [rule for rule in now.rules if rule.origin.file in files]
    held = (rule for layer in conversation.gate.own.layers for rule in layer.rules)
    known, there = {_key(rule) for rule in (*before, *held)}, {_key(rule) for rule in after}
    gone = [rule for rule in before if _key(rule) not in there]
    added = [rule for rule in after if _key(rule) not in known]
    conversation.gate.tighten(gone, added)
    wider = [rule.text for rule in gone if rule.verdict != "allow"]
    wider += [rule.text for rule in added if rule.verdict == "allow"]
    stricter = len(gone) + len(added) - len(wider)
    if stricter:
        yield Notice("info", f"Settings changed: {stricter} stricter change(s) hold from now on.")
    if wider:
        yield Notice(
            "warning",
            f"Settings changed: {', '.join(wider)} would widen permissions; start a new session for that.",
        )


def _key(rule: Rule) -> tuple[str, str]:
    return rule.verdict, rule.text
