"""What the tools of one conversation work with: its directory, its files, its environment, its services."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from checkrein.llm.port import Cancel, Search
from checkrein.model.project import Place
from checkrein.runtime.call.bound_commands import BoundCommands
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.call.refusal import Judgement
from checkrein.runtime.hooks import payloads_calls
from checkrein.runtime.hooks.runner import HookRunner
from checkrein.runtime.process.sandbox import SandboxPolicy
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.secrets.cover import Cover
from checkrein.runtime.secrets.exposure import Exposure
from checkrein.runtime.secrets.vault import Vault
from checkrein.runtime.session.channel import drained
from checkrein.runtime.session.control import Control
from checkrein.runtime.session.events import Event
from checkrein.runtime.tools.desk import ToolState
from checkrein.runtime.tools.port import AnyTool, Around, Found, Moves, ToolContext, ToolOutput

if TYPE_CHECKING:
    from checkrein.runtime.turn.aside import Asides


def plain(tool: AnyTool, context: ToolContext, run: Callable[[], ToolOutput]) -> ToolOutput:
    """Wraps the work in nothing."""
    return run()


class Bench(Struct, frozen=True, kw_only=True):
    """`env` is the whole environment of processes that tools start. `env_file` adds the variables that hooks
    wrote for every command. `commands` bind what tools start. `vault` has the secrets that the session has
    seen, `exposure` those that the user wants to show. `setting` gives a value of Checkrein's configuration.
    `around` wraps the work of every tool. `moves` leads the session into a worktree and back."""

    place: Place
    session_id: str
    results: str
    env: dict[str, str]
    env_file: str
    spawner: Spawner
    state: ToolState
    control: Control
    asides: Asides
    commands: BoundCommands
    sandbox: SandboxPolicy | None = None
    vault: Vault = field(default_factory=Vault)
    exposure: Exposure = Exposure()
    setting: Callable[[str], Any] | None = None
    around: Around = plain
    moves: Callable[[], Moves] | None = None

    @property
    def cwd(self) -> str:
        return self.state.cwd

    def cover(self, tool: str = "") -> Cover:
        return Cover(self.vault, self.exposure, tool)

    def context(
        self,
        call_id: str,
        judgement: Judgement,
        gate: Gate,
        hooks: HookRunner,
        cancel: Cancel,
        emit: Callable[[Event], object],
        cover: Cover,
    ) -> ToolContext:
        """What one call may use: no more than its approval covers."""

        def objection(event: str, task_id: str, subject: str, description: str) -> str | None:
            make = payloads_calls.task_created if event == "TaskCreated" else payloads_calls.task_completed
            me = self.state.membership
            payload = make(
                hooks.common,
                task_id,
                subject,
                task_description=description or None,
                teammate_name=me.name if me is not None else None,
                team_name=me.team if me is not None else None,
            )
            outcome = drained(hooks.fire(payload, cancel), emit)
            if me is not None and not outcome.continue_:
                me.leave()
            return (outcome.reason or "no reason given") if outcome.blocked else None

        return ToolContext(
            call_id=call_id,
            cwd=self.cwd,
            root=self.place.cwd,
            home=self.place.home,
            add_dirs=self.place.add_dirs,
            results_dir=self.results,
            session_id=self.session_id,
            env=self._env(),
            spawner=self.spawner,
            state=self.state,
            cancel=cancel,
            emit=emit,
            approved_paths=judgement.paths,
            approved_hosts=judgement.hosts,
            may_read=lambda path: gate.decide("Read", {"file_path": path}, self.cwd).verdict != "deny",
            ask_user=self._ask_user(cancel),
            sandbox=self.sandbox,
            bind=self.commands.of_call(judgement, call_id, cancel, emit),
            outside=gate.runs_outside,
            objection=objection,
            only_asks_git=lambda command: gate.only_asks_git(command, self.cwd),
            ask_model=lambda system, text: self.asides.ask_model(cover.text(text), None, cancel, system),
            cover=cover,
            set_mode=self.control.set_mode,
            mode_after_plan=gate.mode_after_plan,
            search=self._search(cancel),
            setting=self.setting,
            moves=self.moves,
        )

    def _search(self, cancel: Cancel) -> Callable[[str, Search], Found] | None:
        if not self.asides.searches:
            return None
        return lambda query, search: self.asides.search(query, search, cancel)

    def _ask_user(self, cancel: Cancel) -> Callable[[dict[str, Any]], dict[str, Any] | None] | None:
        answerer = self.control.answerer
        return None if answerer is None else lambda questions: answerer.answer(questions, cancel)

    def _env(self) -> dict[str, str]:
        return {**self.env, "CLAUDE_ENV_FILE": self.env_file} if os.path.isfile(self.env_file) else self.env
