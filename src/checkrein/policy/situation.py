"""One situation for every judge: what a project, its trust and a session's terms mean for a call.

`why`, `check`, `decide`, the machine protocol, the host of compiled skills and the gate of a session all
start from `situation`; nothing else makes a Context for a project. Symbolic links are not part of it: a
caller that may look them up does so for each call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.origin import COMMAND_LINE, Origin
from checkrein.model.rule import Rule, parse_rule
from checkrein.policy.confined import Confined, all_match
from checkrein.policy.decide import decide
from checkrein.policy.patterns import CommandPattern
from checkrein.policy.policy import NEEDS_TRUST, Directory, Policy, grant, meet, with_mode
from checkrein.policy.project import ChosenMode, mode_of, policy_of
from checkrein.policy.tools import Tools
from checkrein.policy.values import MODES, Call, Context, Decision, HookVerdict, KernelLayer, Mode

if TYPE_CHECKING:
    from checkrein.model.items import Hook
    from checkrein.model.project import Project
    from checkrein.policy.isolation import Isolation
    from checkrein.policy.trust import Trust, TrustStatus


class Terms(Struct, frozen=True, kw_only=True):
    """What a session brings to the verdicts on its calls.

    `mode` None takes the project's default. `allowed` and `disallowed` are rules of the caller, `rules` those
    of Checkrein itself. `hooks` False: no hook runs, and none counts as skipped. `tools` None: the built-in
    ones. `layers` hold where the calls run. Commands that match `unguarded` run without them. `memory` is
    that of the agent whose session it is.
    """

    mode: str | None = None
    allowed: tuple[str, ...] = ()
    disallowed: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    hooks: bool = True
    confined: Confined = Confined()
    tools: Tools | None = None
    layers: tuple[KernelLayer, ...] = ()
    unguarded: tuple[CommandPattern, ...] = ()
    memory: Directory | None = None


NO_TERMS = Terms()


class Situation(Struct, frozen=True, kw_only=True):
    """Everything a verdict depends on, apart from the call, its directory and symbolic links.

    `hooks` are in effect and judge each call first; `skipped_hooks` would, if the project were trusted.
    `trusting` is the same situation with trust; it is set when trust is missing and the trusted project is
    known. `above` is the policy of the parent; it binds as well. `isolation` binds whatever policy holds to a
    worktree. `memory` is the agent's own directory; its scope is that of the definition which names it.
    """

    policy: Policy
    root: str
    home: str = ""
    add_dirs: tuple[str, ...] = ()
    trusted: bool = True
    chosen: ChosenMode = ChosenMode()
    confined: Confined = Confined()
    layers: tuple[KernelLayer, ...] = ()
    unguarded: tuple[CommandPattern, ...] = ()
    hooks: tuple[Hook, ...] = ()
    skipped_hooks: tuple[Hook, ...] = ()
    trust: TrustStatus | None = None
    trusting: Situation | None = None
    isolation: Isolation | None = None
    above: Policy | None = None
    memory: Directory | None = None

    @property
    def mode(self) -> Mode:
        return self.policy.layers[0].mode

    def context(self, cwd: str | None = None, links: Mapping[str, str] | None = None) -> Context:
        """`cwd` is the directory of the call; the session may have left its root."""
        return Context(
            cwd=cwd or self.root,
            root=self.root,
            home=self.home,
            add_dirs=self.add_dirs,
            links={} if links is None else links,
            trusted=self.trusted,
            layers=self.layers,
            memory=self._memory,
        )

    @property
    def _memory(self) -> str:
        memory = self.memory
        counts = memory is not None and (self.trusted or memory.scope not in NEEDS_TRUST)
        return memory.path if memory is not None and counts else ""

    def verdicts(self, call: Call, context: Context, mode: Mode) -> tuple[HookVerdict, ...]:
        """The verdicts of the sandbox, and the questions that skipped hooks leave open."""
        known = Call(self.policy.tools.get(call.tool).name, call.input)
        found = self.confined.verdicts(known, mode)
        if not self.skipped_hooks:
            return found
        from checkrein.policy.hooks import unheard

        return (*found, *unheard(self.skipped_hooks, known, context))

    def runs_unguarded(self, input: Mapping[str, Any]) -> bool:
        """Whether every program of a Bash call is one that the user wants to run without the guard."""
        text = input.get("command")
        return bool(self.unguarded) and isinstance(text, str) and all_match(text, self.unguarded)

    def bound(self, policy: Policy) -> Policy:
        """A policy of this situation under the one above, and in its worktree."""
        if self.above is not None:
            policy = meet(self.above, policy)
        return policy if self.isolation is None else self.isolation.over(policy, self._memory, self.home)

    def facing(self, call: Call, context: Context) -> Context:
        """The context with the layers that hold for this call."""
        return replace(context, layers=()) if self.runs_unguarded(call.input) else context

    def decide(self, call: Call, context: Context) -> Decision:
        context = self.facing(call, context)
        return decide(self.bound(self.policy), call, context, hooks=self.verdicts(call, context, self.mode))


def below(
    parent: Situation,
    rules: Sequence[Rule],
    mode: Mode | None = None,
    hooks: tuple[Hook, ...] = (),
    memory: Directory | None = None,
) -> Situation:
    """The situation of a child: its parent's policy with more rules, in a mode of its own, under the
    parent's. `hooks` judge its calls too."""
    own = grant(parent.policy, rules)
    return replace(
        parent,
        policy=own if mode is None else with_mode(own, mode),
        above=parent.bound(parent.policy),
        hooks=(*parent.hooks, *hooks),
        trusting=None if parent.trusting is None else below(parent.trusting, rules, mode, hooks, memory),
        memory=memory,
    )


def caller_rules(allowed: Iterable[str], disallowed: Iterable[str], cwd: str) -> list[Rule]:
    """The rules that a caller gives with a session."""
    origin = Origin(COMMAND_LINE, "cli")
    rules = [parse_rule(text, "allow", origin, anchor=cwd) for text in allowed]
    return rules + [parse_rule(text, "deny", origin, anchor=cwd) for text in disallowed]


def known_mode(name: str | None) -> Mode | None:
    return next((mode for mode in MODES if mode == name), None)


def situation(project: Project, trust: Trust, terms: Terms = NO_TERMS) -> Situation:
    """Pure: the same project, trust and terms make the same situation."""
    made = _made(trust.project, trust, terms)
    if trust.trusted or trust.project is project:
        return made
    lifted = replace(trust, status=replace(trust.status, trusted=True), project=project, skipped_hooks=())
    return replace(made, trusting=_made(project, lifted, terms))


def _made(counted: Project, trust: Trust, terms: Terms) -> Situation:
    place = counted.place
    rules = caller_rules(terms.allowed, terms.disallowed, place.cwd)
    mode = known_mode(terms.mode)
    return Situation(
        policy=policy_of(counted, rules=(*rules, *terms.rules), mode=mode, tools=terms.tools),
        root=place.cwd,
        home=place.home,
        add_dirs=place.add_dirs,
        trusted=trust.trusted,
        chosen=mode_of(counted, mode),
        confined=terms.confined,
        layers=terms.layers,
        unguarded=terms.unguarded,
        hooks=counted.hooks if terms.hooks else (),
        skipped_hooks=trust.skipped_hooks if terms.hooks else (),
        trust=trust.status,
        memory=terms.memory,
    )
