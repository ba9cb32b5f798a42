"""Changes of permissions that a user's answer can carry, in the product's shape, and what they mean.

The SDK calls them permission updates. In a session they change the conversation's own policy and nothing
above it. A deny stays until the session ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.model.rule import Rule, Verdict, parse_rule
from checkrein.policy.policy import Directory, Layer, Policy
from checkrein.policy.values import Mode

Destination = Literal["session", "localSettings", "projectSettings", "userSettings"]
SESSION = "<session>"
"""The file of rules that live as long as the session."""


class RuleText(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A rule as updates write it: `Bash`, or `Bash` with `touch *`."""

    tool_name: str
    rule_content: str | None = None

    @property
    def text(self) -> str:
        return self.tool_name if self.rule_content is None else f"{self.tool_name}({self.rule_content})"


class _Rules(Struct, frozen=True, kw_only=True, tag_field="type"):
    """`behavior` is the wire's word for the verdict of the rules."""

    rules: tuple[RuleText, ...]
    behavior: Verdict
    destination: Destination


class AddRules(_Rules, frozen=True, tag="addRules"):
    pass


class ReplaceRules(_Rules, frozen=True, tag="replaceRules"):
    """Replaces all rules of this verdict at the destination."""


class RemoveRules(_Rules, frozen=True, tag="removeRules"):
    pass


class SetMode(Struct, frozen=True, kw_only=True, tag_field="type", tag="setMode"):
    mode: Mode
    destination: Destination


class _Directories(Struct, frozen=True, kw_only=True, tag_field="type"):
    directories: tuple[str, ...]
    destination: Destination


class AddDirectories(_Directories, frozen=True, tag="addDirectories"):
    pass


class RemoveDirectories(_Directories, frozen=True, tag="removeDirectories"):
    pass


Update = AddRules | ReplaceRules | RemoveRules | SetMode | AddDirectories | RemoveDirectories


def rules_of(update: Update, origin: Origin, anchor: str) -> tuple[Rule, ...]:
    """The rules that an update writes, with `origin` as their place."""
    if not isinstance(update, AddRules | ReplaceRules | RemoveRules):
        return ()
    return tuple(parse_rule(one.text, update.behavior, origin, anchor=anchor) for one in update.rules)


def problem_of(update: Update) -> str | None:
    """Why an update has no meaning; None for a usable one."""
    for rule in rules_of(update, Origin(SESSION, "cli"), "/"):
        if rule.problem is not None:
            return f"`{rule.text}`: {rule.problem}"
    if isinstance(update, AddRules | ReplaceRules | RemoveRules):
        for one in update.rules:
            if not one.tool_name or any(char in one.tool_name for char in "(), "):
                return f"`{one.tool_name}` is not the name of a tool"
    if isinstance(update, AddDirectories) and any("\0" in path or not path for path in update.directories):
        return "a directory needs a path"
    return None


def updated(policy: Policy, update: Update, rules: Sequence[Rule] = (), file: str = SESSION) -> Policy:
    """The policy after an update.

    `rules` are those of the update with their origins, `file` is the file whose rules it replaces or removes.
    The paths of directories are absolute.
    """
    return Policy((_layer(layer, update, rules, file) for layer in policy.layers), policy.tools)


def _layer(layer: Layer, update: Update, rules: Sequence[Rule], file: str) -> Layer:
    match update:
        case AddRules():
            return _with_rules(layer, (*layer.rules, *rules))
        case ReplaceRules():
            kept = (rule for rule in layer.rules if not _is_loose(rule, update.behavior, file))
            return _with_rules(layer, (*kept, *rules))
        case RemoveRules():
            return _with_rules(layer, _without(layer.rules, update.behavior, rules, file))
        case SetMode():
            return replace(layer, mode=update.mode, mode_scope="cli")
        case AddDirectories():
            added = (Directory(path, "cli") for path in update.directories)
            return replace(layer, directories=tuple(dict.fromkeys((*layer.directories, *added))))
        case RemoveDirectories():
            left = tuple(one for one in layer.directories if one.path not in update.directories)
            return replace(layer, directories=left)


def _with_rules(layer: Layer, rules: Sequence[Rule]) -> Layer:
    return replace(layer, rules=tuple(dict.fromkeys(rules)))


def _is_loose(rule: Rule, verdict: Verdict, file: str) -> bool:
    """Whether a rule may be removed: it is in this file, and it does not deny."""
    return verdict != "deny" and rule.verdict == verdict and rule.origin.file == file


def _without(rules: Sequence[Rule], verdict: Verdict, gone: Sequence[Rule], file: str) -> tuple[Rule, ...]:
    meant = {(rule.tool, rule.specifier) for rule in gone}

    def kept() -> Iterator[Rule]:
        for rule in rules:
            if not (_is_loose(rule, verdict, file) and (rule.tool, rule.specifier) in meant):
                yield rule

    return tuple(kept())
