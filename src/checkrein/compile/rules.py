"""Permission rules of the settings, in the form that the package's guard takes."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from checkrein.compile.values import Element
from checkrein.model.rule import split_rule


class Permission(Struct, frozen=True):
    """`example` is a call that the rule covers; the package's tests make it."""

    behavior: str
    tool: str
    specifier: str | None
    source: str
    example: tuple[str, str]

    @property
    def text(self) -> str:
        return self.tool if self.specifier is None else f"{self.tool}({self.specifier})"


_BEHAVIORS = {"M-26": "allow", "M-27": "ask", "M-28": "deny"}


def permissions(elements: tuple[Element, ...], behaviors: Collection[str]) -> tuple[Permission, ...]:
    found: dict[tuple[str, str, str | None], Permission] = {}
    for element in elements:
        behavior = _BEHAVIORS.get(element.row or "", "")
        if behavior not in behaviors or not element.content_full:
            continue
        tool, specifier, problem = split_rule(element.content_full)
        if problem is not None:
            if behavior == "allow" or not tool:
                continue
            specifier = None  # a rule that can't be read forbids the whole tool
        rule = Permission(
            behavior,
            tool,
            specifier,
            element.place,
            example(tool, specifier),
        )
        found.setdefault((behavior, tool, specifier), rule)
    return tuple(found.values())


def example(tool: str, specifier: str | None) -> tuple[str, str]:
    """A call that the rule covers: its stars filled in."""
    if specifier is None:
        return tool.replace("*", "x"), {"WebFetch": "https://example.com/"}.get(tool, "x")
    if tool == "WebFetch":
        host = specifier.removeprefix("domain:").replace("*", "www")
        return tool, f"https://{host}/"
    filled = specifier.removesuffix(":*")
    if specifier.endswith(":*"):
        return tool, f"{filled} x"
    while "**" in filled:
        filled = filled.replace("**", "x")
    return tool, filled.replace("*", "x").replace("?", "x").removeprefix("/")
