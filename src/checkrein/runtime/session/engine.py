"""Everything one session runs on, assembled. The turn's stages use it; nobody else changes it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.ids import new_uuid
from checkrein.base.origin import Origin
from checkrein.llm.port import Message, Model, Reply, Request, Text, ToolUse, user
from checkrein.policy.values import MODES
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.call.toolset import Toolbox
from checkrein.runtime.context.cache import PrefixWatch, cache_ttl
from checkrein.runtime.context.reminders import reminder
from checkrein.runtime.context.toolsearch import unwrapped
from checkrein.runtime.session.budget import Meter
from checkrein.runtime.session.control import Control
from checkrein.runtime.session.conversation import State
from checkrein.runtime.session.events import ContextAdded, Event, ModeChanged, Notice
from checkrein.runtime.session.options import Options
from checkrein.runtime.store.recorder import Recorder
from checkrein.runtime.turn.news import FileWatch

if TYPE_CHECKING:
    from checkrein.model.view import View
    from checkrein.runtime.call.host import Caller
    from checkrein.runtime.context.lazy import LazyContext
    from checkrein.runtime.context.prompt import Prompt
    from checkrein.runtime.hooks.moment import Firing
    from checkrein.runtime.process.spawner import Spawner
    from checkrein.runtime.skills.active import ActiveSkills
    from checkrein.runtime.skills.invoker import Invoker
    from checkrein.runtime.store.checkpoints import Checkpoints
    from checkrein.runtime.store.rewind import Snapshot
    from checkrein.runtime.tools.desk import ToolState

DEFAULT_OUTPUT = 32_000
Source = Literal["startup", "resume", "fork", "clear", "compact"]

Choose = Callable[[str | None], tuple[Model, str]]
"""A model and its own name for what a user calls it; None means the default."""


class Engine:
    def __init__(
        self,
        *,
        view: View,
        options: Options,
        control: Control,
        env: dict[str, str],
        choose: Choose,
        model: tuple[Model, str],
        state: State,
        prompt: Prompt,
        toolbox: Toolbox,
        gate: Gate,
        caller: Caller,
        firing: Firing,
        recorder: Recorder,
        meter: Meter,
        spawner: Spawner,
        skills: ActiveSkills,
        invoker: Invoker,
        lazy: LazyContext,
        tools: ToolState,
        checkpoints: Checkpoints,
        source: Source = "startup",
        title: str | None = None,
        notes: tuple[str, ...] = (),
        skipped: tuple[Diagnostic, ...] = (),
    ) -> None:
        self.view = view
        self.options = options
        self.control = control
        self.env = env
        self.model, self.model_name = model
        self.state = state
        self.prompt = prompt
        self.toolbox = toolbox
        self.gate = gate
        self.caller = caller
        self.firing = firing
        self.recorder = recorder
        self.meter = meter
        self.spawner = spawner
        self.skills = skills
        self.invoker = invoker
        self.lazy = lazy
        self.tools = tools
        self.checkpoints = checkpoints
        self.snapshots: dict[str, Snapshot] = {}
        self._choose = choose
        self._fallbacks = list(options.fallback_models)
        self.source = source
        self.title = title
        self.notes = notes
        self.skipped = skipped
        self.opening_context: list[str] = []
        self.initial_message: str | None = None
        self.watch = PrefixWatch(state.resumed_key)
        self.files = FileWatch()
        self._own_model = model
        self._skill_model: str | None = None

    def note(self, text: str, source: str, origin: Origin | None = None) -> Iterator[Event]:
        """Say something to the model between its prompts. Before the conversation has begun it waits, so that
        the opening comes first."""
        if not self.state.messages:
            self.opening_context.append(text)
            return
        wrapped = reminder(text)
        self.state.append(user(Text(wrapped)))
        yield ContextAdded(new_uuid(), wrapped, source, origin)

    def next_turn(self) -> None:
        """What held for one prompt ends; what the result counts goes on."""
        denials = self.state.denials
        self.gate.end_turn()
        self.state.begin_turn()
        self.state.denials = denials
        self.meter.turns += 1

    @property
    def fallbacks_left(self) -> int:
        return len(self._fallbacks)

    def fall_back(self) -> str:
        """Go on with the next model of the chain; returns its name."""
        self._own_model = self._choose(self._fallbacks.pop(0))
        self.model, self.model_name = self._own_model
        self.state.model = self.model_name
        return self.model_name

    def apply_control(self) -> Generator[Event, None, None]:
        """What was asked for since the last request takes effect here."""
        mode = self.control.take_mode()
        if mode is not None:
            if mode in MODES and self._may_enter(mode):
                self.gate.set_mode(mode)
                self.firing.update(permission_mode=mode)
                yield ModeChanged(mode)
            else:
                yield Notice("warning", f"The mode {mode!r} can't be entered here.")
        name = self.control.take_model()
        if name is not None:
            self._own_model = self._choose(name)
            self.recorder.writer.state(model=None if name == "default" else name)
        yield from self._follow_skill(name is not None)

    def _follow_skill(self, changed: bool) -> Generator[Event, None, None]:
        """The model that a skill names holds for the rest of its turn; then the session's own comes back."""
        wanted = self.state.turn_model
        if wanted == self._skill_model and not changed:
            return
        self._skill_model = wanted
        chosen = self._own_model
        if wanted is not None:
            offered = self.view.project.setting("availableModels")
            if isinstance(offered, list) and wanted not in offered:
                yield Notice("warning", f"A skill asks for {wanted}, which availableModels does not list.")
            else:
                chosen = self._choose(wanted)
        self.model, self.model_name = chosen
        self.state.model = self.model_name

    def _may_enter(self, mode: str) -> bool:
        return mode != "bypassPermissions" or self.options.allow_bypass or self.gate.mode == mode

    def request(self, messages: Sequence[Message] | None = None, max_tokens: int | None = None) -> Request:
        """The next request; other `messages` in the same surroundings for a summary."""
        from checkrein.facts.models import find_model

        state = self.state
        facts = find_model(state.model)
        limit = min(DEFAULT_OUTPUT, facts.max_output) if facts else DEFAULT_OUTPUT
        return self.prompt.request(
            state.model,
            self.toolbox,
            state.messages if messages is None else messages,
            max_tokens=max_tokens or state.max_tokens or self.options.max_tokens or limit,
            session_id=self.recorder.writer.session_id,
            effort=state.turn_effort or self.options.effort,
            ttl=cache_ttl(self.env, state.model),
        )

    def cost(self, reply: Reply) -> float | None:
        from checkrein.llm.prices import cost

        return cost(reply.usage, reply.model or self.state.model)

    def is_parallel(self, call: ToolUse) -> bool:
        """Whether a call may run beside its neighbours: it only reads."""
        call = unwrapped(call)
        tool = self.toolbox.get(call.name)
        if tool is None or call.broken is not None:
            return False
        return tool.read_only or (
            tool.name == "Bash" and self.gate.only_reads(tool.name, call.input, self.caller.cwd())
        )
