"""A recipe as a picture: Mermaid, or plain text. Both come from the graph that the engine walks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from checkrein.base.harmless import one_line
from checkrein.model.recipe import Dispatch, Recipe, Step
from checkrein.passes.recipes.campaign import in_order
from checkrein.passes.recipes.routes import Route, routes

FORMAT = "1"
FOLDER = "diagrams"
_MARK = re.compile(r"<!--\s*(?:checkrein|autoskillit)-(recipe-hash|diagram-format):\s*(\S+)\s*-->")
_SHAPES = {
    "route": ("{", "}"),
    "confirm": ("{{", "}}"),
    "stop": ("([", "])"),
    "wait": ("(", ")"),
    "sub_recipe": ("[[", "]]"),
}
_BOX = ("[", "]")
_WORDS = 60


class Marks(Struct, frozen=True):
    """What the file of a diagram says about itself; None where it says nothing."""

    digest: str | None = None
    format: str | None = None


def diagram_file(recipe: Recipe) -> str:
    folder, name = os.path.split(recipe.origin.file)
    return os.path.join(folder, FOLDER, f"{os.path.splitext(name)[0]}.md")


def diagram(recipe: Recipe) -> str:
    """The file of a diagram: Markdown with the recipe's hash in it."""
    return (
        f"<!-- checkrein-recipe-hash: sha256:{recipe.digest} -->\n"
        f"<!-- checkrein-diagram-format: {FORMAT} -->\n\n"
        f"# {_line(recipe.name)}\n\n```mermaid\n{mermaid(recipe)}```\n"
    )


def marks(text: str) -> Marks:
    found = dict(_MARK.findall(text))
    digest = found.get("recipe-hash")
    return Marks(digest and digest.removeprefix("sha256:"), found.get("diagram-format"))


def mermaid(recipe: Recipe) -> str:
    lines = ["flowchart TD"]
    lines += _campaign(recipe) if recipe.kind == "campaign" else _Canvas().body(recipe.steps, "s", "  ")
    return "\n".join(lines) + "\n"


def plain(recipe: Recipe) -> str:
    """The same as text: each step with its routes below it."""
    head = f"{_line(recipe.name)}: {_line(recipe.description)}" if recipe.description else _line(recipe.name)
    if recipe.kind != "campaign":
        return "\n".join([head, *_plain_body(recipe.steps, "  ")]) + "\n"
    lines = [head]
    for dispatch in in_order(recipe):
        after = f" after {', '.join(map(_line, dispatch.depends_on))}" if dispatch.depends_on else ""
        lines.append(f"  {_line(dispatch.name)}: {_dispatch_label(dispatch)}{after}")
    return "\n".join(lines) + "\n"


def summary(step: Step) -> str:
    """What a step does, in a few words."""
    match step.kind:
        case "tool":
            return f"{step.subject} {step.skill}" if step.skill else str(step.subject)
        case "foreach":
            return f"for each {step.variable or 'item'} of {step.subject}"
        case "python" | "constant" | "sub_recipe":
            return f"{step.kind.replace('_', '-')} {step.subject}"
        case "stop" | "confirm":
            return f"{step.kind}: {step.message or ''}"
        case _:
            return step.kind


class _Canvas:
    """One picture. Names of steps may hold anything, so nodes have numbers."""

    def body(self, steps: Sequence[Step], prefix: str, indent: str) -> Iterator[str]:
        nodes = {step.name: f"{prefix}{number}" for number, step in enumerate(steps)}
        for step in steps:
            yield from self._node(step, nodes[step.name], indent)
        ends: dict[str, str] = {}
        for step in steps:
            for route in drawn(steps, step):
                target = nodes.get(route.target)
                if target is None:
                    target = ends.setdefault(route.target, f"{prefix}_{len(ends)}")
                yield f"{indent}{nodes[step.name]} {_arrow(route)} {target}"
        for name, node in ends.items():
            yield f"{indent}{node}(({_quoted(name)}))"

    def _node(self, step: Step, node: str, indent: str) -> Iterator[str]:
        label = _quoted(f"{step.name}\n{summary(step)}")
        if not step.branches:
            left, right = _SHAPES.get(step.kind, _BOX)
            yield f"{indent}{node}{left}{label}{right}"
            return
        yield f"{indent}subgraph {node}[{label}]"
        for number, branch in enumerate(step.branches):
            inner = f"{node}b{number}x"
            if step.kind == "parallel":
                yield f"{indent}  subgraph {node}b{number}[{_quoted(branch.name)}]"
            yield from self.body(branch.steps, inner, indent + "    ")
            if step.kind == "parallel":
                yield f"{indent}  end"
        yield f"{indent}end"


def drawn(steps: Sequence[Step], step: Step) -> Iterator[Route]:
    """The routes worth a line: those of the file, and the way to the step below."""
    for route in routes(steps, step):
        if route.is_written or route.kind == "success":
            yield route


def _arrow(route: Route) -> str:
    if route.kind == "success":
        return "-->"
    if route.kind == "result":
        return "-->" if route.when is None else f"-->|{_quoted(route.when)}|"
    return f"-.->|{_quoted(_kind(route))}|"


def _kind(route: Route) -> str:
    return "skipped" if route.kind == "skip" else route.kind.replace("_", " ")


def _plain_body(steps: Sequence[Step], indent: str) -> Iterator[str]:
    for step in steps:
        yield f"{indent}{_line(step.name)}: {_line(summary(step))}"
        for branch in step.branches:
            if step.kind == "parallel":
                yield f"{indent}  | {_line(branch.name)}"
            yield from _plain_body(branch.steps, indent + ("  |   " if step.kind == "parallel" else "  | "))
        for route in drawn(steps, step):
            said = (
                _line(route.when) if route.when else "otherwise" if route.kind == "result" else _kind(route)
            )
            yield f"{indent}  {said} -> {_line(route.target)}"


def _campaign(recipe: Recipe) -> Iterator[str]:
    ordered = in_order(recipe)
    nodes = {dispatch.name: f"s{number}" for number, dispatch in enumerate(ordered)}
    for dispatch in ordered:
        left, right = _SHAPES["confirm"] if dispatch.gate is not None else _SHAPES["sub_recipe"]
        label = _quoted(f"{dispatch.name}\n{_dispatch_label(dispatch)}")
        yield f"  {nodes[dispatch.name]}{left}{label}{right}"
    for dispatch in ordered:
        for name in dispatch.depends_on:
            if name in nodes:
                yield f"  {nodes[name]} --> {nodes[dispatch.name]}"


def _dispatch_label(dispatch: Dispatch) -> str:
    if dispatch.gate is not None:
        return f"{_line(dispatch.gate)}: {_line(dispatch.message or '')}"
    return f"recipe {_line(dispatch.recipe or '?')}"


def _quoted(text: str) -> str:
    """A label of Mermaid. Its own marks would end the label or start another node."""
    lines = [_line(line) for line in text.split("\n", 1)]
    safe = [line.replace("#", "#35;").replace('"', "#quot;").replace("<", "#lt;") for line in lines if line]
    return '"' + "<br/>".join(safe) + '"'


def _line(text: str) -> str:
    """One line of it, not too long, without marks that steer a terminal."""
    words = one_line(" ".join(str(text).split()))
    return words if len(words) <= _WORDS else words[: _WORDS - 1] + "…"
