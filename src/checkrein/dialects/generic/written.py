"""What a writer returns, and the ledger that makes every loss visible.

A writer is `write(sources, options) -> Written`: pure, deterministic, byte-identical on repeat. For each
item it opens a `Ledger` and says of each field whether it was kept or approximated. `close()` turns every
field that was not mentioned into a loss, so a forgotten field can't vanish.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic, Severity
from checkrein.base.origin import Origin, Span
from checkrein.dialects.generic.keys import NOT_CONTENT, written_key
from checkrein.dialects.generic.loss_codes import CODES
from checkrein.facts.agents import Target
from checkrein.model.items import Item
from checkrein.model.rule import Rule

Status = Literal["kept", "approximated", "lost"]
GUARD_LOST = "DEP016"
WHOLE = ""
"""The field of an outcome about an item as a whole."""


class File(Struct, frozen=True):
    """A file to write. `path` is relative to the project, with forward slashes.

    `shared`: users keep their own settings in this JSON or TOML file, so it is merged with the
    existing file.
    """

    path: str
    content: bytes
    executable: bool = False
    shared: bool = False

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


class Outcome(Struct, frozen=True):
    """What became of one field (or, with an empty `field`, of one item) for one agent."""

    target: str
    kind: str
    name: str
    field: str
    status: Status
    origin: Origin
    message: str = ""
    code: str = ""
    severity: Severity = "warning"

    @property
    def diagnostic(self) -> Diagnostic:
        hint = CODES[self.code].hint if self.code in CODES else None
        return Diagnostic(self.code, self.severity, f"{self.target}: {self.message}", self.origin, hint=hint)

    @property
    def variable(self) -> str | None:
        """The variable that replaced a secret."""
        name: str = self.field.rpartition(".")[2]
        return name if self.code == "DEP004" else None


class Written(Struct, frozen=True):
    """`losses` are the outcomes that are not `kept`, as diagnostics, then the findings about behavior."""

    files: tuple[File, ...]
    losses: tuple[Diagnostic, ...]
    outcomes: tuple[Outcome, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(loss for loss in self.losses if loss.severity == "error")


class Attachment(Struct, frozen=True):
    """A file of a skill's directory beside its SKILL.md; `path` is relative to that directory."""

    path: str
    content: bytes
    executable: bool = False


class Options(Struct, frozen=True, kw_only=True):
    """How to write.

    `root` is the project's directory; `models` maps agent and capability to a model name and wins over the
    profile's; `degrade` writes the closest form if an agent lacks a concept; `skills_layout` prefers skills
    to the older agent files (Copilot); `command_dir` is where the `generic` agent reads commands; `neutral`
    keeps `behavior` and `agents` in Claude Code's files, for sources that are deployed again; `home` writes
    for agents that read only from the user's home, with paths relative to it; `attachments` are the other
    files of each skill, by the skill's directory; `extensions` is what every recipe declares (goose).
    """

    root: str = ""
    profile: str = "seed"
    models: dict[str, dict[str, str]] = {}
    degrade: bool = False
    skills_layout: bool = False
    home: bool = False
    neutral: bool = False
    command_dir: str | None = None
    attachments: dict[str, tuple[Attachment, ...]] = {}
    extensions: tuple[dict[str, Any], ...] = ()


class Variables:
    """The environment variables that replace secrets: each secret has its own, the same one every time."""

    def __init__(self) -> None:
        self._secrets: dict[str, str] = {}

    def name(self, name: str, secret: str, owner: str = "", *, own: bool = False) -> str:
        """A variable for the secret that `owner` calls `name`: LINEAR_AUTHORIZATION. `own`: NAME if free."""
        short = _variable(name)
        whole = _variable(f"{owner}_{name}")
        numbered = (f"{whole}_{number}" for number in range(2, len(self._secrets) + 3))
        candidates: list[str] = [*([short] if own else []), whole, *numbered]
        for variable in candidates:
            if self._secrets.setdefault(variable, secret) == secret:
                return variable
        raise AssertionError("there are more numbers than secrets")


def _variable(text: str) -> str:
    plain = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_").upper() or "SECRET"
    return plain if plain[0].isalpha() else f"S_{plain}"


class Ledger:
    """Accounts for the fields of one item. A field that was mentioned once keeps its first entry."""

    def __init__(
        self,
        target: Target,
        kind: str,
        item: Item | Rule,
        name: str = "",
        variables: Variables | None = None,
    ) -> None:
        self.variables = Variables() if variables is None else variables
        self.target = target
        self.kind = kind
        self.item = item
        self.name = name or (item.text if isinstance(item, Rule) else item.name)
        self.outcomes: dict[str, Outcome] = {}

    def kept(self, *fields: str) -> None:
        for field in fields:
            self._enter(field, "kept", "", "", "info")

    def approximated(self, field: str, message: str) -> None:
        self._enter(field, "approximated", message, "DEP003", "info")

    def lost(self, field: str, message: str, severity: Severity = "warning") -> None:
        self._enter(field, "lost", message, "DEP002", severity)

    def guard_lost(self, field: str, message: str) -> None:
        """A field that limits what the item may do has no form there."""
        self._enter(field, "lost", message, GUARD_LOST, "warning")

    def weakened(self, message: str) -> None:
        """A deny or ask rule was written, and guards less there."""
        self._enter(WHOLE, "approximated", message, GUARD_LOST, "warning")

    def secret(self, field: str, variable: str) -> None:
        """A reference replaced a value that looks like a secret."""
        key = f"{field}.{variable}"
        message = (
            f"`{key}` of {self.subject} looks like a secret; a reference to ${variable} was written instead"
        )
        self._enter(key, "approximated", message, "DEP004", "warning")

    def repeat(self, field: str, other: Outcome) -> None:
        """`field` has the same outcome as `other`."""
        self._enter(field, other.status, other.message, other.code, other.severity)

    def renamed(self, name: str) -> None:
        if name != self.name:
            self.approximated("name", f"{self.subject} is called `{name}` there")

    @property
    def subject(self) -> str:
        return f"{self.kind} `{self.name}`"

    def item_lost(
        self, message: str, severity: Severity = "warning", code: str = "DEP001", at: str = WHOLE
    ) -> None:
        """The whole item is lost because of the field `at`; its fields are not listed one by one."""
        self.outcomes.clear()
        place = self._place(at)
        self.outcomes[WHOLE] = Outcome(
            self.target.key, self.kind, self.name, WHOLE, "lost", place, message, code, severity
        )

    def close(self) -> tuple[Outcome, ...]:
        """Every outcome of the item; fields with a value that nobody mentioned are lost."""
        if WHOLE not in self.outcomes or self.outcomes[WHOLE].status != "lost":
            injected = getattr(self.item, "injected", ())
            for field in content_fields(self.item):
                if field not in self.outcomes and field not in injected:
                    key = written_key(field)
                    self.lost(field, f"`{key}` of {self.subject} has no counterpart in {self.target.label}")
            self.kept(WHOLE)
        return tuple(self.outcomes.values())

    def _enter(self, field: str, status: Status, message: str, code: str, severity: Severity) -> None:
        if field not in self.outcomes:
            self.outcomes[field] = Outcome(
                self.target.key,
                self.kind,
                self.name,
                field,
                status,
                self._place(field),
                message,
                code,
                severity,
            )

    def _place(self, field: str) -> Origin:
        """The place of a field, or else the start of the item; always with a line."""
        item = self.item
        if not isinstance(item, Rule):
            if field == "body" and (line := getattr(item, "body_line", 0)):
                return item.origin.at(Span(line), "body")
            for name in (field, written_key(field), field.split(".")[0]):
                if name in item.spans:
                    return item.where(name)
        return item.origin if item.origin.span is not None else item.origin.at(Span(1), item.origin.field)


def content_fields(item: Item | Rule) -> tuple[str, ...]:
    """The fields that say something: those that differ from their default. `unknown` counts per key."""
    if isinstance(item, Rule):
        return tuple(name for name in ("match", "not_match") if getattr(item, name))
    found: list[str] = []
    for name, default in zip(_optional_fields(type(item)), _defaults(type(item)), strict=True):
        value = getattr(item, name)
        if name in NOT_CONTENT or value == default:
            continue
        if name in _PER_KEY:
            found.extend(f"{name}.{key}" for key in value)
        else:
            found.append(name)
    found.extend(f"unknown.{key}" for key in item.unknown)
    return tuple(found)


_PER_KEY = frozenset({"behavior", "agents"})
_FIELDS: dict[type, tuple[tuple[str, ...], tuple[Any, ...]]] = {}


def _optional_fields(type_: type[Item]) -> tuple[str, ...]:
    return _described(type_)[0]


def _defaults(type_: type[Item]) -> tuple[Any, ...]:
    return _described(type_)[1]


def _described(type_: type[Item]) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    if type_ not in _FIELDS:
        import msgspec

        names, defaults = [], []
        for field in msgspec.structs.fields(type_):
            if not field.required:
                names.append(field.name)
                made = field.default_factory
                defaults.append(field.default if made is msgspec.NODEFAULT else made())
        _FIELDS[type_] = (tuple(names), tuple(defaults))
    return _FIELDS[type_]


def finish(files: Iterable[File], outcomes: Iterable[Outcome], notes: Iterable[Diagnostic] = ()) -> Written:
    """Order the parts of a result: files by path, outcomes and notes as given."""
    all_outcomes = tuple(outcomes)
    losses = tuple(outcome.diagnostic for outcome in all_outcomes if outcome.status != "kept")
    return Written(tuple(sorted(files, key=lambda file: file.path)), losses + tuple(notes), all_outcomes)


def guards_first(losses: Iterable[Diagnostic], *, strict: bool = False) -> tuple[Diagnostic, ...]:
    """Lost deny rules, then lost ask rules, then lost limits, then everything else in its order. With
    `strict`, those guards are errors."""
    ranked = sorted(losses, key=_rank)
    return tuple(replace(one, severity="error") if strict and is_guard(one) else one for one in ranked)


def is_guard(loss: Diagnostic) -> bool:
    """Whether a deny rule, an ask rule or a limit of tools does not hold somewhere."""
    return loss.code == GUARD_LOST


def _rank(loss: Diagnostic) -> int:
    if not is_guard(loss):
        return 3
    return 0 if "`deny: " in loss.message else 1 if "`ask: " in loss.message else 2
