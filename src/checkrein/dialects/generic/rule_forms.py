"""What a shape of permission rules is: one rule's form, and the files that hold all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from checkrein.dialects.generic.rule_subjects import Path
from checkrein.dialects.generic.written import File
from checkrein.facts.agents import RuleForm, Target
from checkrein.model.rule import Rule

WIDER_EDIT = "it would allow every edit there"


class Form(Struct, frozen=True):
    """One rule there. `entries` are in the agent's own form, `said` names them for a person.

    `exact`: it means the same. `weaker` says how a deny or ask rule guards less than here.
    """

    entries: tuple[Any, ...]
    said: str
    exact: bool = False
    weaker: str = ""


class Assembly(Struct, frozen=True):
    """Where rules are put: `documents` are the JSON and TOML files so far, `root` is the project."""

    target: Target
    form: RuleForm
    documents: dict[str, dict[str, Any]]
    root: str

    def place(self, rule: Rule) -> str:
        """File and line of a rule, the file relative to the project."""
        file = rule.origin.file.replace("\\", "/").removeprefix(self.root.rstrip("/") + "/")
        return f"{file}:{rule.origin.line}" if rule.origin.line else file


class Shape(Struct, frozen=True):
    """`form` says what one rule becomes, or why it has no form. `assemble` writes all that have one."""

    form: Callable[..., Form | str]
    assemble: Callable[[Sequence[tuple[Rule, Form]], Assembly], list[File]]


def globs_of(path: Path, *, guards: bool) -> list[str]:
    """The pattern as globs that start at the project's root; for a guard also what is below a folder."""
    pattern = path.pattern + "**" if path.pattern.endswith("/") else path.pattern
    lead = {"project": "", "home": "~/", "root": "/"}[path.base]
    if not guards:
        return [f"**/{pattern}" if path.floating else lead + pattern]
    found = [lead + pattern, *([f"**/{pattern}"] if path.floating else [])]
    return found if pattern.endswith("*") else [one + end for one in found for end in ("", "/**")]


def by_verdict(chosen: Sequence[tuple[Rule, Form]]) -> dict[str, list[Any]]:
    """The entries of each verdict, each once."""
    lists: dict[str, dict[Any, None]] = {}
    for rule, form in chosen:
        lists.setdefault(rule.verdict, {}).update(dict.fromkeys(form.entries))
    return {verdict: list(lists[verdict]) for verdict in ("allow", "ask", "deny") if verdict in lists}
