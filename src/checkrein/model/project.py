"""The resolved project: for every name the effective item and all candidates, in order of precedence."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Generic, Literal, TypeVar, get_args

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.files import beneath
from checkrein.base.origin import Origin, Scope
from checkrein.model.items import (
    Agent,
    AnyItem,
    Command,
    Credential,
    Hook,
    Instruction,
    Marketplace,
    Plugin,
    Server,
    Setting,
    Skill,
    SwitchedOff,
)
from checkrein.model.recipe import Recipe
from checkrein.model.rule import Rule

T = TypeVar("T")


class Sources(Struct, frozen=True, kw_only=True):
    """All source items, unresolved, in the order they were found. Writers and compile start here."""

    skills: tuple[Skill, ...] = ()
    commands: tuple[Command, ...] = ()
    agents: tuple[Agent, ...] = ()
    hooks: tuple[Hook, ...] = ()
    rules: tuple[Rule, ...] = ()
    servers: tuple[Server, ...] = ()
    instructions: tuple[Instruction, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    marketplaces: tuple[Marketplace, ...] = ()
    settings: tuple[Setting, ...] = ()
    credentials: tuple[Credential, ...] = ()
    switched_off: tuple[SwitchedOff, ...] = ()
    recipes: tuple[Recipe, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    def of(self, scopes: Collection[Scope]) -> Sources:
        """Only the items of these scopes."""
        names = self.__struct_fields__
        return Sources(**{n: tuple(i for i in getattr(self, n) if i.origin.scope in scopes) for n in names})

    def __add__(self, other: Sources) -> Sources:
        return Sources(**{f: getattr(self, f) + getattr(other, f) for f in self.__struct_fields__})


class Candidate(Struct, Generic[T], frozen=True):
    """One candidate for a name. `lost` says why it is not in effect; None means that it is."""

    item: T
    lost: str | None = None


class Resolved(Struct, Generic[T], frozen=True):
    """A name with its effective item and all candidates, highest precedence first."""

    name: str
    item: T
    candidates: tuple[Candidate[T], ...]

    @property
    def shadowed(self) -> tuple[Candidate[T], ...]:
        return tuple(candidate for candidate in self.candidates if candidate.lost)


class Effective(Struct, frozen=True):
    """A settings key: its merged value and every setting that contributed or lost."""

    name: str
    value: Any
    candidates: tuple[Candidate[Setting], ...]
    sensitive: bool = False


class Signal(Struct, frozen=True):
    """One piece of evidence for a dialect."""

    id: str
    dialect: str
    weight: float
    evidence: str
    file: str | None = None


class Detection(Struct, frozen=True):
    """Which dialect a project (or one spec file) is written in, and why."""

    dialect: str
    scores: dict[str, float]
    signals: tuple[Signal, ...]
    contributors: tuple[str, ...] = ()
    rule: str = ""


RootReason = Literal["claude", "git", "home", "fallback"]


class Place(Struct, frozen=True, kw_only=True):
    """The place from which a project was read.

    Paths are absolute and real; `setting_sources` None means all. `managed_servers`: the administrator has a
    file of servers, so no others count.
    """

    cwd: str
    root: str
    root_reason: RootReason
    home: str
    config_dir: str
    repo_root: str | None = None
    add_dirs: tuple[str, ...] = ()
    managed_dir: str | None = None
    managed_servers: bool = False
    setting_sources: tuple[str, ...] | None = None

    @property
    def within(self) -> tuple[str, ...]:
        """Where links and imports of the project may lead: its own directories and those the user added.

        A home directory, and what is above it, counts only if the user works right there.
        """
        wider = (self.root, self.repo_root or self.cwd)
        own = (directory for directory in wider if not beneath(self.home, directory))
        return tuple(dict.fromkeys((self.cwd, *own, *self.add_dirs)))


SessionMode = Literal["plain", "cook", "headless"]
"""A session as usual; one with every skill, for a person; a worker that runs one skill."""

MODES: tuple[SessionMode, ...] = get_args(SessionMode)

Tier = Literal[1, 2, 3]
TIERS: tuple[Tier, ...] = get_args(Tier)


class Placement(Struct, frozen=True):
    """The tier that the configuration gives to a skill."""

    tier: Tier
    origin: Origin


class Governance(Struct, frozen=True, kw_only=True):
    """What the configuration says about visibility.

    `tiers` are the skills that it moves, `contested` those that it puts into several tiers. `disabled` are
    the subsets that it switches off. `custom_tags` are more categories, with their skills. `packs` are the
    categories that are off by default, `enabled` those that it switches on. `origins` has the place of each
    key that is set.
    """

    tiers: dict[str, Placement] = {}
    contested: dict[str, tuple[Placement, ...]] = {}
    disabled: tuple[str, ...] = ()
    custom_tags: dict[str, tuple[str, ...]] = {}
    packs: frozenset[str] = frozenset()
    enabled: tuple[str, ...] = ()
    origins: dict[str, Origin] = {}


class Project(Struct, frozen=True, kw_only=True):
    """Everything in effect. `inactive` holds what is off although no item of its own kind won.

    That is a command behind a skill of its name, a part of a disabled plugin, a server or hook that a setting
    switches off, an excluded instruction file; `lost` says which.

    `others` holds, by dialect, the content of other agents' files. `show`, `why` and `check` use it.
    Sessions, trust, deploy and compile never do.

    `recipes` are those of the project's folders, without those that Checkrein brings: `Library` joins them.

    `governance` is set where Checkrein's configuration says which skills a session sees.
    """

    place: Place
    detection: Detection
    skills: dict[str, Resolved[Skill]] = {}
    commands: dict[str, Resolved[Command]] = {}
    agents: dict[str, Resolved[Agent]] = {}
    servers: dict[str, Resolved[Server]] = {}
    plugins: dict[str, Resolved[Plugin]] = {}
    recipes: dict[str, Resolved[Recipe]] = {}
    sub_recipes: dict[str, Resolved[Recipe]] = {}
    hooks: tuple[Hook, ...] = ()
    rules: tuple[Rule, ...] = ()
    instructions: tuple[Instruction, ...] = ()
    settings: dict[str, Effective] = {}
    inactive: tuple[Candidate[AnyItem], ...] = ()
    sources: Sources
    diagnostics: tuple[Diagnostic, ...] = ()
    others: dict[str, Project] = {}
    governance: Governance | None = None

    def setting(self, key: str, default: Any = None) -> Any:
        """The effective value of a settings key, including whole lists and objects."""
        found = self.settings.get(key)
        return default if found is None else found.value
