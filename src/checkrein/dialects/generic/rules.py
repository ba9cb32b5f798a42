"""Permission rules in other agents' forms. A written rule allows the same, or less."""

from __future__ import annotations

from typing import Any

from checkrein.base.diagnostic import Severity
from checkrein.dialects.generic.tools import convert_tool
from checkrein.dialects.generic.written import Ledger
from checkrein.facts.agents import Target
from checkrein.model.rule import Rule

_PART_OF_EDIT = ("Write", "MultiEdit", "NotebookEdit")
"""opencode has one word for these and Edit: allowing one would allow all."""


def rule_lost(rule: Rule, target: Target, ledger: Ledger, why: str) -> None:
    """A lost deny or ask loosens the project there, a lost allow only makes it ask more."""
    severity: Severity = "info" if rule.verdict == "allow" else "warning"
    ledger.item_lost(
        f"the rule `{rule.verdict}: {rule.text}` has no effect in {target.label}: {why}", severity
    )


def claude_rules(rules: list[tuple[Rule, Ledger]]) -> dict[str, list[Any]]:
    """`permissions` of a settings file."""
    lists: dict[str, list[Any]] = {}
    for rule, _ in rules:
        lists.setdefault(rule.verdict, []).append(rule.text)
    return {behavior: lists[behavior] for behavior in ("allow", "ask", "deny") if behavior in lists}


def opencode_rules(rules: list[tuple[Rule, Ledger]], target: Target) -> dict[str, Any]:
    """`permission` of opencode.json: the last rule that matches wins there, so denies come last.

    A call that no rule names is allowed there and needs approval here, so patterns of a tool start with `*:
    ask`.
    """
    permission: dict[str, Any] = {}
    rank = {"allow": 0, "ask": 1, "deny": 2}
    for rule, ledger in sorted(rules, key=lambda pair: rank[pair[0].verdict]):
        pattern = _opencode_pattern(rule)
        name = convert_tool(rule.tool, target)
        if rule.problem or name is None or pattern is None:
            rule_lost(rule, target, ledger, rule.problem or f"`{rule.text}` has no form in opencode.json")
            continue
        if rule.verdict == "allow" and rule.tool in _PART_OF_EDIT:
            rule_lost(rule, target, ledger, "it would allow every edit there")
            continue
        held = permission.setdefault(name, {"*": "ask"} if pattern != "*" else {})
        held.pop(pattern, None)
        held[pattern] = rule.verdict
        if pattern != "*":
            ledger.approximated("", f"`{rule.text}` is the pattern `{pattern}` of `{name}` there")
    return {
        name: patterns["*"] if list(patterns) == ["*"] else patterns for name, patterns in permission.items()
    }


def _opencode_pattern(rule: Rule) -> str | None:
    if rule.specifier is None:
        return "*"
    if rule.tool == "Bash":
        text = rule.specifier
        return text.removesuffix(":*") + " *" if text.endswith(":*") else text
    if rule.tool in ("Skill", "Agent", "Task") and rule.specifier.isprintable():
        return rule.specifier
    return None


def amp_rules(rules: list[tuple[Rule, Ledger]], target: Target) -> list[dict[str, Any]]:
    """`amp.permissions`: the first entry that matches wins there, so denies come first."""
    entries: list[dict[str, Any]] = []
    rank = {"deny": 0, "ask": 1, "allow": 2}
    action = {"deny": "reject", "ask": "ask", "allow": "allow"}
    for rule, ledger in sorted(rules, key=lambda pair: rank[pair[0].verdict]):
        name = convert_tool(rule.tool, target)
        if rule.problem or name is None:
            rule_lost(rule, target, ledger, rule.problem or f"there is no tool like `{rule.tool}`")
            continue
        entry: dict[str, Any] = {"tool": name, "action": action[rule.verdict]}
        if rule.specifier is not None:
            if rule.tool != "Bash":
                rule_lost(rule, target, ledger, f"`{rule.text}` has no form in Amp's settings")
                continue
            text = rule.specifier
            pattern = text.removesuffix(":*") + " *" if text.endswith(":*") else text
            entry["matches"] = {"cmd": pattern}
            ledger.approximated("", f"`{rule.text}` is `{pattern}` of `{name}` there")
        entries.append(entry)
    return entries
