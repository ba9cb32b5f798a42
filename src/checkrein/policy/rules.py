"""Rules as decisions use them: each rule gets its meaning once and is indexed by tool and kind.

A rule without a meaning is in `problems` with its origin and never matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import translate
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.facts.tools import PATH_FAMILIES, RULE_ALIASES, VALUE_FIELDS
from checkrein.model.rule import Rule, Verdict
from checkrein.policy.globs import PathPattern, compile_path, fenced_path
from checkrein.policy.patterns import CommandPattern, compile_command
from checkrein.policy.remote import PREFIX, normal, normal_pattern
from checkrein.policy.tools import Tools

if TYPE_CHECKING:
    from checkrein.policy.fences import Fence

_PARAM = re.compile(r"\s*([A-Za-z_][\w-]*)\s*:\s*(.*?)\s*", re.DOTALL)
_ANY_TOOL = "\uffff"
"""Stands for any tool of a server."""
_SERVER_GLOB = re.compile(r"mcp__[^*?\[]+__.*")


class NameRule(Struct, frozen=True):
    rule: Rule
    name: str
    regex: re.Pattern[str] | None = None


class CommandRule(Struct, frozen=True):
    rule: Rule
    pattern: CommandPattern


class PathRule(Struct, frozen=True):
    rule: Rule
    pattern: PathPattern


class ParamRule(Struct, frozen=True):
    """`Tool(field:value)`: the input field has this value."""

    rule: Rule
    field: str
    value: CommandPattern


class ValueRule(Struct, frozen=True):
    """`Agent(Explore)`, `Skill(deploy *)`: the words of the input's naming fields."""

    rule: Rule
    pattern: CommandPattern


class DomainRule(Struct, frozen=True):
    rule: Rule
    domain: str


class RuleSet:
    """The rules of one verdict, by kind. `grants`: they allow."""

    __slots__ = (
        "_heads",
        "commands",
        "domains",
        "globs",
        "grants",
        "names",
        "others",
        "params",
        "paths",
        "values",
    )

    def __init__(self, *, grants: bool = False) -> None:
        self.grants = grants
        self.names: dict[str, NameRule] = {}
        self.globs: list[NameRule] = []
        self.commands: dict[str, dict[str, list[CommandRule]]] = {}
        self.others: dict[str, list[CommandRule]] = {}
        self.paths: dict[str, list[PathRule]] = {}
        self.params: dict[str, list[ParamRule]] = {}
        self.values: dict[str, list[ValueRule]] = {}
        self.domains: list[DomainRule] = []
        self._heads: dict[str, re.Pattern[str] | None] = {}

    def named(self, tool: str) -> Rule | None:
        """The rule for the whole tool, if there is one."""
        found = self.names.get(tool)
        if found is not None:
            return found.rule
        if tool.startswith(PREFIX):
            found = self._of_prefix(tool)
            if found is not None:
                return found.rule
        for glob in self.globs:
            if glob.regex is not None and glob.regex.match(tool):
                return glob.rule
        return None

    def _of_prefix(self, tool: str) -> NameRule | None:
        """The rule on the server. A name with `__` may split anywhere; only a strict rule counts for each."""
        first = tool.find("__", len(PREFIX))
        end = first
        while end >= 0:
            found = self.names.get(tool[:end])
            if found is not None and (end == first or found.rule.verdict != "allow"):
                return found
            end = tool.find("__", end + 1)
        return None

    def of_server(self, server: str) -> Rule | None:
        """The rule on everything of an MCP server: its tools, resources and prompts."""
        name = f"{PREFIX}{normal(server)}".lower()
        for rule in self.names.values():
            if rule.name.lower() == name:
                return rule.rule
        for rule in self.globs:
            if rule.regex is not None and rule.regex.match(f"{name}__{_ANY_TOOL}"):
                return rule.rule
        return None

    def any_server(self) -> Rule | None:
        """A rule on some MCP server."""
        for rule in (*self.names.values(), *self.globs):
            if rule.name.startswith(PREFIX):
                return rule.rule
        return None

    def command_rules(self, tool: str, names: Iterable[str]) -> Iterable[CommandRule]:
        """The command rules that can match a command of one of these names."""
        by_name = self.commands.get(tool)
        if by_name:
            for name in names:
                yield from by_name.get(name, ())
        yield from self.others.get(tool, ())

    def heads(self, tool: str) -> re.Pattern[str] | None:
        """Finds where commands that the rules name begin in a text; None without rules."""
        if tool not in self._heads:
            whole = [f"{re.escape(name)}(?![\\w./=-])" for name in self.commands.get(tool, ())]
            begun = [re.escape(_beginning(rule)) for rule in self.others.get(tool, ()) if _beginning(rule)]
            either = "|".join((*whole, *begun))
            self._heads[tool] = re.compile(rf"(?<![\w.$-])(?:{either})") if either else None
        return self._heads[tool]

    def all_commands(self, tool: str) -> Iterable[CommandRule]:
        for rules in self.commands.get(tool, {}).values():
            yield from rules
        yield from self.others.get(tool, ())


def _beginning(rule: CommandRule) -> str:
    """The literal text that a pattern such as `ls*` starts with."""
    text = rule.pattern.text.strip()
    return text.split("*", 1)[0].split(" ", 1)[0]


class Index:
    """All rules of a layer. `problems` are Diagnostics for rules without a meaning."""

    __slots__ = ("allow", "ask", "deny", "problems")

    def __init__(self, rules: Iterable[Rule], tools: Tools, fences: Iterable[Fence] = ()) -> None:
        self.allow, self.ask, self.deny = RuleSet(grants=True), RuleSet(), RuleSet()
        self.problems: list[Diagnostic] = []
        for rule in rules:
            problem = _add(self.of(rule.verdict), rule, tools)
            if problem:
                self.problems.append(_diagnostic(rule, problem))
        for fence in fences:
            self.deny.paths.setdefault("Edit", []).append(PathRule(fence.rule, fenced_path(fence)))

    def of(self, verdict: Verdict) -> RuleSet:
        return self.allow if verdict == "allow" else self.ask if verdict == "ask" else self.deny


def _diagnostic(rule: Rule, problem: str) -> Diagnostic:
    return Diagnostic(
        code="PERM001",
        severity="error" if rule.verdict == "deny" else "warning",
        message=f"`{rule.text}` in {rule.verdict} has no effect: {problem}",
        origin=rule.origin,
        hint="Correct the rule; `checkrein why` shows which rule decides a call.",
    )


def problem_of(rule: Rule, tools: Tools) -> str | None:
    """Why a rule never matches, or None."""
    return _add(RuleSet(), rule, tools)


def _add(rules: RuleSet, rule: Rule, tools: Tools) -> str | None:
    if rule.problem:
        return rule.problem
    tool = RULE_ALIASES.get(rule.tool, rule.tool)
    if rule.specifier is None:
        return _add_name(rules, rule, tool)
    if any(char in tool for char in "*?["):
        return "a pattern on tool names takes no specifier"
    family = tools.get(tool).family
    if tool in ("Bash", "PowerShell", "Monitor"):
        return _add_command(rules, rule, "Bash" if tool == "Monitor" else tool, tools)
    if tool == "WebFetch":
        return _add_domain(rules, rule, tools)
    if family in PATH_FAMILIES or tool == "Cd":
        return _add_path(rules, rule, tool, tools)
    if tool in VALUE_FIELDS:
        return _add_value(rules, rule, tool, tools)
    return _add_param(rules, rule, tool, tools) or None


def _add_name(rules: RuleSet, rule: Rule, tool: str) -> str | None:
    widely = rule.verdict != "allow" and tool.startswith(PREFIX)
    if widely:
        rules.names.setdefault(normal(tool), NameRule(rule, normal(tool)))
    if not any(char in tool for char in "*?["):
        rules.names.setdefault(tool, NameRule(rule, tool))
        return None
    if rule.verdict == "allow" and not _SERVER_GLOB.fullmatch(tool):
        return "an allow rule takes a pattern only after a literal `mcp__<server>__`"
    for pattern in dict.fromkeys((tool, normal_pattern(tool) if widely else tool)):
        rules.globs.append(NameRule(rule, pattern, re.compile(translate(pattern))))
    return None


def _add_command(rules: RuleSet, rule: Rule, tool: str, tools: Tools) -> str | None:
    """A command pattern; for deny and ask, `field:value` of a known input field is also a field rule."""
    spec = rule.specifier or ""
    found = _PARAM.fullmatch(spec)
    if found and found.group(1) in tools.get(tool).fields:
        if found.group(1) == tools.get(tool).primary:
            return f"use a plain pattern for `{found.group(1)}`: `{tool}({found.group(2)})`"
        if rule.verdict != "allow":
            value = compile_command(found.group(2))
            rules.params.setdefault(tool, []).append(ParamRule(rule, found.group(1), value))
        if found.group(2) != "*":
            return None if rule.verdict != "allow" else "only deny and ask rules can match input fields"
    pattern = compile_command(spec)
    if pattern.first is not None:
        rules.commands.setdefault(tool, {}).setdefault(pattern.first, []).append(CommandRule(rule, pattern))
    else:
        rules.others.setdefault(tool, []).append(CommandRule(rule, pattern))
    return None


def _add_domain(rules: RuleSet, rule: Rule, tools: Tools) -> str | None:
    spec = (rule.specifier or "").strip()
    if not spec.lower().startswith("domain:"):
        problem = _add_param(rules, rule, "WebFetch", tools)
        return problem if problem is None or _PARAM.fullmatch(spec) else "WebFetch takes `domain:<host>`"
    domain = spec[7:].strip()
    if not domain:
        return "no host after `domain:`"
    rules.domains.append(DomainRule(rule, domain))
    return None


def _add_path(rules: RuleSet, rule: Rule, tool: str, tools: Tools) -> str | None:
    spec = (rule.specifier or "").strip()
    found = _PARAM.fullmatch(spec)
    if found and found.group(1) in tools.get(tool).fields:
        return _add_param(rules, rule, tool, tools)
    if spec.startswith("!"):
        return "a pattern can't be negated here"
    if tool not in PATH_FAMILIES and tool != "Cd" and rule.verdict == "allow":
        family = tools.get(tool).family
        return f"path rules on {tool} have no effect: use `{family}({spec})`"
    if "\x00" in spec:
        return "a path can't hold a NUL character"
    pattern = compile_path(spec, grants=rule.verdict == "allow")
    rules.paths.setdefault(tool, []).append(PathRule(rule, pattern))
    return None


def _add_value(rules: RuleSet, rule: Rule, tool: str, tools: Tools) -> str | None:
    spec = (rule.specifier or "").strip()
    found = _PARAM.fullmatch(spec)
    if found and found.group(1) in tools.get(tool).fields and found.group(1) not in VALUE_FIELDS[tool]:
        return _add_param(rules, rule, tool, tools)
    rules.values.setdefault(tool, []).append(ValueRule(rule, compile_command(spec.lstrip("/"))))
    return None


def _add_param(rules: RuleSet, rule: Rule, tool: str, tools: Tools) -> str | None:
    found = _PARAM.fullmatch(rule.specifier or "")
    if found is None:
        return f"{tool} takes no specifier of this form"
    if rule.verdict == "allow":
        return "only deny and ask rules can match input fields"
    known = tools.get(tool)
    if found.group(1) == known.primary:
        return f"`{found.group(1)}` can't be matched as an input field"
    param = ParamRule(rule, found.group(1), compile_command(found.group(2)))
    for name in dict.fromkeys((tool, normal(tool))):
        rules.params.setdefault(name, []).append(param)
    return None


def scalar(value: Any) -> str | None:
    """An input value as a rule writes it; None for a list or an object."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return str(value)
    return None


def value_text(tool: str, values: Mapping[str, Any]) -> str | None:
    """The text that a value rule is compared with: the agent's name, the skill's name and arguments."""
    from checkrein.facts.tools import DEFAULT_AGENT

    if tool == "Agent":
        return scalar(values.get("subagent_type")) or DEFAULT_AGENT
    words = [scalar(values.get(field)) for field in VALUE_FIELDS.get(tool, ())]
    if words and words[0]:
        words[0] = words[0].lstrip("/")
    return " ".join(word for word in words if word) or None
