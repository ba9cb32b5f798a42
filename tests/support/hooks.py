"""Hooks that are fired to their end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from checkrein.llm.cancel import Cancel
from checkrein.model.items import Hook
from checkrein.runtime.hooks.handlers import Doer
from checkrein.runtime.hooks.outcome import HookOutcome
from checkrein.runtime.hooks.payloads import Common
from checkrein.runtime.hooks.ports import Ports, RunsCommands, Surroundings
from checkrein.runtime.hooks.registry import HookRegistry
from checkrein.runtime.hooks.runner import HookRunner
from checkrein.runtime.session.channel import drained
from checkrein.runtime.session.events import Event

COMMON = Common(session_id="s", transcript_path="/t.jsonl", cwd="/")


class Fired:
    """`told` are the events of all firings so far."""

    def __init__(
        self,
        hooks: Iterable[Hook] = (),
        *,
        spawner: RunsCommands,
        around: Surroundings,
        ports: Ports | None = None,
        above: HookRegistry | None = None,
    ) -> None:
        self.registry = HookRegistry(hooks, above=above)
        self.runner = HookRunner(self.registry, Doer(spawner, around, ports or Ports()), COMMON)
        self.told: list[Event] = []

    def fire(self, event: str, payload: dict[str, Any], cancel: Cancel | None = None) -> HookOutcome:
        stage = self.runner.fire({**payload, "hook_event_name": event}, cancel or Cancel())
        return drained(stage, self.told.append)
