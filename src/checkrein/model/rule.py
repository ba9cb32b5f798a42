"""Permission rules as written: `Tool`, `Tool(specifier)`. The policy layer gives them their meaning."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from checkrein.base.origin import Origin

Verdict = Literal["allow", "ask", "deny"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""From the loosest to the strictest."""


class Rule(Struct, frozen=True, kw_only=True, tag_field="item", tag="rule"):
    """One rule of one list of one file.

    `specifier` is None for a bare tool name and the text between the parentheses otherwise. A rule that
    can't be parsed is kept with `problem` set; it never matches. `anchor` is the directory that a
    path specifier starting with `/` is relative to.
    """

    verdict: Verdict
    text: str
    tool: str
    specifier: str | None = None
    origin: Origin
    anchor: str | None = None
    match: tuple[str, ...] = ()
    not_match: tuple[str, ...] = ()
    problem: str | None = None


def parse_rule(
    text: str,
    verdict: Verdict,
    origin: Origin,
    *,
    anchor: str | None = None,
    match: tuple[str, ...] = (),
    not_match: tuple[str, ...] = (),
) -> Rule:
    tool, specifier, problem = split_rule(text)
    return Rule(
        verdict=verdict,
        text=text,
        tool=tool,
        specifier=specifier,
        origin=origin,
        anchor=anchor,
        match=match,
        not_match=not_match,
        problem=problem,
    )


def split_rule(text: str) -> tuple[str, str | None, str | None]:
    """(tool, specifier, problem) of a rule's text. `Tool()` and `Tool(*)` mean the bare tool."""
    stripped = text.strip()
    if not stripped:
        return "", None, "the rule is empty"
    open_at = stripped.find("(")
    if open_at < 0:
        if ")" in stripped:
            return stripped, None, "a `)` without its `(`"
        return stripped, None, None
    tool = stripped[:open_at].rstrip()
    if not tool:
        return "", None, "no tool name before the `(`"
    if not stripped.endswith(")"):
        return tool, None, "text after the closing `)`" if ")" in stripped else "the `(` is never closed"
    specifier = stripped[open_at + 1 : -1]
    if specifier.strip() in ("", "*"):
        return tool, None, None
    return tool, specifier, None


def split_rule_list(text: str) -> list[str]:
    """Split `Bash(git log:*), Read Edit(src/**)` on commas and blanks outside parentheses."""
    parts: list[str] = []
    depth = 0
    current = ""
    for char in text:
        if char == "(":
            depth += 1
        elif char == ")":
            depth = max(0, depth - 1)
        if depth == 0 and (char == "," or char.isspace()):
            if current:
                parts.append(current)
            current = ""
        else:
            current += char
    if current:
        parts.append(current)
    return parts
