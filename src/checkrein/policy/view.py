"""One layer in one context: which rules match a path, a host, a tool, a command."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from checkrein.model.rule import Rule
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.globs import PathPattern, matches, may_match_path
from checkrein.policy.paths import inside, is_protected, normal, relative, spellings, working_dirs
from checkrein.policy.policy import Compiled
from checkrein.policy.rules import PathRule, RuleSet, scalar, value_text
from checkrein.policy.tools import Meaning
from checkrein.policy.values import Call, Context, Mode, Piece, Verdict


class View:
    """Answers the questions about a layer while one call is judged."""

    def __init__(self, compiled: Compiled, context: Context) -> None:
        index = compiled.index(context.trusted)
        self.allow, self.ask, self.deny = index.allow, index.ask, index.deny
        self.mode: Mode = compiled.mode(context.trusted)
        self.added = compiled.directories(context.trusted)
        self.fences = compiled.layer.fences
        self.context = context

    @cached_property
    def dirs(self) -> tuple[str, ...]:
        return working_dirs(self.context, self.added)

    @property
    def bypass(self) -> bool:
        return self.mode == "bypassPermissions"

    @cached_property
    def settles_effects(self) -> bool:
        """Whether the layers that hold decide about every file and host that a rule may be about. They can't
        ask about files."""
        layers = self.context.layers
        denied, asked = (
            any(family in rules.paths or family in rules.names for family in ("Read", "Edit"))
            for rules in (self.deny, self.ask)
        )
        hosts = bool(self.deny.domains or self.ask.domains)
        return not asked and ("files" in layers or not denied) and ("network" in layers or not hosts)

    @property
    def holds_readers(self) -> bool:
        """Whether the layers can hold a command to reading: without writes, network and other programs."""
        return "exec" in self.context.layers and "files" in self.context.layers

    def base(self, rule: PathRule) -> str:
        kind = rule.pattern.base
        if kind == "root":
            return self.context.start
        if kind == "abs":
            return "/"
        if kind == "home":
            return self.context.home or "/nonexistent"
        return rule.rule.anchor or self.context.start

    # Paths. `family` is Read, Edit, or a tool whose own path rules count in addition to its family's.

    def path_rule(self, rules: RuleSet, families: Iterable[str], path: str) -> Rule | None:
        """The first rule that certainly matches the spelling `path`."""
        for family in families:
            named = rules.names.get(family)
            if named is not None:
                return named.rule
            for rule in rules.paths.get(family, ()):
                below = relative(path, self.base(rule))
                if below is not None and matches(rule.pattern, below):
                    return rule.rule
        return None

    def path_rule_may(self, rules: RuleSet, families: Iterable[str], path: str) -> Rule | None:
        """The first rule that may match a partly known path."""
        for family in families:
            named = rules.names.get(family)
            if named is not None:
                return named.rule
            for rule in rules.paths.get(family, ()):
                if path.startswith(ANY) or self._may(rule.pattern, normal(self.base(rule)), path):
                    return rule.rule
        return None

    def _may(self, pattern: PathPattern, base: str, path: str) -> bool:
        below = relative(path, base)
        if below is not None:
            return may_match_path(pattern, below)
        # The unknown part of the path may lead to the base itself.
        prefix = "/" if base == "/" else base + "/"
        head = path.split(ANY, 1)[0]
        if ANY in path and prefix.startswith(head):
            return True
        located = f"{prefix.lstrip('/')}{pattern.pattern.lstrip('/')}"
        wide = PathPattern(
            "abs", "/" + (located if not pattern.floating else f"{prefix.strip('/')}/**"), False, "", False
        )
        return not is_static(path) and may_match_path(wide, path[1:])

    def covered(self, rules: RuleSet, families: Iterable[str], path: str) -> Rule | None:
        """The rule that matches every spelling of `path`, for approvals."""
        chosen: Rule | None = None
        families = tuple(families)
        for name in spellings(path, self.context):
            chosen = self.path_rule(rules, families, name)
            if chosen is None:
                return None
        return chosen

    def hit(self, rules: RuleSet, families: Iterable[str], path: str) -> Rule | None:
        """The rule that matches any spelling of `path`, for deny and ask."""
        families = tuple(families)
        if not any(family in rules.paths or family in rules.names for family in families):
            return None
        for name in spellings(path, self.context):
            rule = (
                self.path_rule(rules, families, name)
                if is_static(name)
                else self.path_rule_may(rules, families, name)
            )
            if rule is not None:
                return rule
        return None

    def below(self, rules: RuleSet, families: Iterable[str], path: str) -> Iterator[tuple[PathRule, str]]:
        """Every rule that may match a path below the directory `path`, with the spelling it was found by."""
        for name in spellings(path, self.context):
            for family in families:
                for rule in rules.paths.get(family, ()):
                    if self._may_hold(rule, normal(self.base(rule)), name):
                        yield rule, name

    def _may_hold(self, rule: PathRule, base: str, name: str) -> bool:
        if name.startswith(ANY) or inside(base, (name,)):
            return True
        if not is_static(name):
            return self._may(rule.pattern, base, f"{name}/{ANY}")
        below = relative(name, base)
        return below is not None and may_match_path(rule.pattern, f"{below}/{ANY}")

    def first_strict(self) -> Rule | None:
        """A deny rule on files or hosts."""
        for family in ("Read", "Edit"):
            for rule in self.deny.paths.get(family, ()):
                return rule.rule
        return self.deny.domains[0].rule if self.deny.domains else None

    def in_dirs(self, path: str) -> bool:
        return all(inside(name, self.dirs) for name in spellings(path, self.context))

    def in_memory(self, path: str) -> bool:
        """Whether a path is in the agent's own memory. What is protected anywhere is so in there too."""
        memory = self.context.memory
        found = [relative(name, memory) for name in spellings(path, self.context)] if memory else [None]
        return all(below is not None and not is_protected(below) for below in found)

    # Hosts, names, fields.

    def host_rule(self, rules: RuleSet, host: str) -> Rule | None:
        """The rule on the host. A rule that denies or asks also counts for other names of this machine."""
        from checkrein.policy.hosts import matches_host, names_of

        spelled = (host,) if rules is self.allow else names_of(host)
        for rule in rules.domains:
            if any(matches_host(rule.domain, name) for name in spelled):
                return rule.rule
        return None

    def field_rule(self, rules: RuleSet, tool: Meaning, call: Call) -> Rule | None:
        """The rule on an input field or a named value that matches the call."""
        names = (tool.name,) if tool.remote is None else tool.remote.names(tool.name)
        for rule in (one for name in names for one in rules.params.get(name, ())):
            value = scalar(call.input.get(rule.field))
            if value is not None and rule.value.matches(value):
                return rule.rule
        values = rules.values.get(tool.name)
        if values:
            text = value_text(tool.name, call.input)
            for one in values:
                if text is not None and one.pattern.matches(text):
                    return one.rule
        return None


def piece(text: str, verdict: Verdict, reason: str, rule: Rule | None = None, **more: Any) -> Piece:
    return Piece(
        text=text,
        verdict=verdict,
        reason=reason,
        rule=rule.text if rule else None,
        origin=rule.origin if rule else None,
        **more,
    )
