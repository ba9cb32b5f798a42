"""Why a call would be allowed, asked for or denied in a project."""

from __future__ import annotations

import os

from checkrein.base.errors import UsageError
from checkrein.base.nearest import nearest
from checkrein.facts.tools import VALUE_FIELDS
from checkrein.model.project import Project
from checkrein.model.rule import split_rule
from checkrein.policy.decide import decide
from checkrein.policy.project import policy_of
from checkrein.policy.tools import builtin_tools
from checkrein.policy.values import Call, Context, Decision


def parse_call(text: str) -> Call:
    """`Bash(git push)` as a call: the text between the parentheses fills the tool's main field."""
    name, specifier, problem = split_rule(text)
    tool = builtin_tools().get(name)
    if problem is not None:
        raise UsageError(f"{text!r} is not a call: {problem}.", kind="call_invalid")
    if specifier is None:
        return Call(tool.name, {})
    if tool.name in VALUE_FIELDS:
        words = specifier.split(" ", len(VALUE_FIELDS[tool.name]) - 1)
        return Call(tool.name, dict(zip(VALUE_FIELDS[tool.name], words)))
    if not tool.declared and (meant := nearest(tool.name, builtin_tools().names())):
        raise UsageError(
            f"There is no tool {tool.name!r}.",
            kind="call_invalid",
            hint=f"Did you mean {meant}({specifier})?",
        )
    if tool.primary is None:
        raise UsageError(
            f"{tool.name} has no main field that the text in the parentheses could fill.",
            kind="call_invalid",
            hint=f"Write the call without parentheses: {tool.name}.",
        )
    return Call(tool.name, {tool.primary: specifier})


def explain_call(project: Project, text: str, *, mode: str | None = None, trusted: bool = True) -> Decision:
    """The decision with every piece it was made of. Links are looked up where the project lies."""
    place = project.place
    context = Context(
        cwd=place.cwd,
        root=place.cwd,
        home=place.home,
        add_dirs=place.add_dirs,
        links=_links(place.cwd),
        trusted=trusted,
    )
    return decide(policy_of(project, mode=mode), parse_call(text), context)


def _links(cwd: str) -> dict[str, str]:
    """The links in the directories above, so that the project is found under its real name."""
    found: dict[str, str] = {}
    path = cwd
    while path != "/":
        if os.path.islink(path):
            found[path] = os.readlink(path)
        path = os.path.dirname(path)
    return found
