"""Permission rules in other agents' forms. A written rule allows the same, or less.

Deny and ask rules come first. An allow rule is left out where it would cover a call that a deny or ask rule
is about and that rule has no form there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from checkrein.dialects.generic import rule_files, rule_lists
from checkrein.dialects.generic.rule_forms import Assembly, Form, Shape
from checkrein.dialects.generic.rule_subjects import Subject, overlap, subject_of
from checkrein.dialects.generic.written import GUARD_LOST, File, Ledger
from checkrein.facts.agents import RuleForm, Target
from checkrein.model.rule import Rule

_RANK = {"deny": 0, "ask": 1, "allow": 2}
_SHAPES: dict[str, Shape] = {**rule_lists.SHAPES, **rule_files.SHAPES}

Pair = tuple[Rule, Ledger]


class Guard(Struct, frozen=True):
    """A deny or ask rule that does not hold in full there."""

    rule: Rule
    subject: Subject | None


def write_rules(
    pairs: Sequence[Pair], target: Target, documents: dict[str, dict[str, Any]], root: str
) -> list[File]:
    """Put the rules into `documents`, or into files of their own. The ledgers say what became of each."""
    form = target.rules
    if form is None:
        for rule, ledger in pairs:
            rule_lost(rule, ledger, f"{target.label} has no permission rules in a project")
        return []
    if form.shape == "claude":
        if pairs:
            documents.setdefault(form.file, {})["permissions"] = _as_they_are(pairs)
        return []
    shape = _SHAPES[form.shape]
    assembly = Assembly(target, form, documents, root)
    weak: list[Guard] = []
    chosen: list[tuple[Rule, Form]] = []
    for rule, ledger in sorted(pairs, key=lambda pair: _RANK[pair[0].verdict]):
        subject = subject_of(rule)
        found = _form(rule, subject, shape, assembly)
        if isinstance(found, Form) and rule.verdict == "allow":
            guard = next((one for one in weak if overlap(subject, one.subject)), None)
            if guard is not None:
                found = f"it would cover what `{guard.rule.verdict}: {guard.rule.text}` is about"
        if isinstance(found, str):
            rule_lost(rule, ledger, found)
        else:
            chosen.append((rule, found))
            _account(rule, found, form, ledger)
        if rule.verdict != "allow" and (isinstance(found, str) or found.weaker):
            weak.append(Guard(rule, subject))
    return shape.assemble(chosen, assembly) if chosen else []


def rule_lost(rule: Rule, ledger: Ledger, why: str) -> None:
    """A lost deny or ask loosens the project there, a lost allow only makes it ask more."""
    message = f"the rule `{rule.verdict}: {rule.text}` has no effect in {ledger.target.label}: {why}"
    if rule.verdict == "allow":
        ledger.item_lost(message, "info")
    else:
        ledger.item_lost(message, code=GUARD_LOST)


def _form(rule: Rule, subject: Subject | None, shape: Shape, assembly: Assembly) -> Form | str:
    label, form = assembly.target.label, assembly.form
    if rule.problem or subject is None:
        return rule.problem or f"`{rule.text}` has no form there"
    if subject.kind not in form.subjects:
        return f"{label} takes no rules about {_PLURALS[subject.kind]} from a project"
    if rule.verdict not in form.verdicts:
        return f"{label} takes no `{rule.verdict}` rules from a project"
    return shape.form(rule, subject, assembly)


_PLURALS = {
    "tool": "whole tools",
    "command": "shell commands",
    "file": "files",
    "host": "hosts",
    "server": "MCP servers",
    "mcp_tool": "tools of MCP servers",
    "skill": "skills",
    "agent": "subagents",
}


def _account(rule: Rule, found: Form, form: RuleForm, ledger: Ledger) -> None:
    ledger.kept(*(name for name in ("match", "not_match") if getattr(rule, name)))
    if found.weaker:
        message = f"the rule `{rule.verdict}: {rule.text}` is weaker in {ledger.target.label}: {found.weaker}"
        ledger.weakened(message)
        return
    condition = f", {form.condition}" if form.condition else ""
    if not found.exact or condition:
        ledger.approximated("", f"`{rule.text}` is {found.said} there{condition}")


def _as_they_are(pairs: Sequence[Pair]) -> dict[str, list[str]]:
    """`permissions` of a settings file."""
    lists: dict[str, list[str]] = {}
    for rule, ledger in pairs:
        lists.setdefault(rule.verdict, []).append(rule.text)
        ledger.kept(*(name for name in ("match", "not_match") if getattr(rule, name)))
    return {verdict: lists[verdict] for verdict in ("allow", "ask", "deny") if verdict in lists}
