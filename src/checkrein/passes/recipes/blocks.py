"""The named blocks of a flow: steps that belong together, with one way in and one way out."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checkrein.model.recipe import Step
from checkrein.passes.recipes.flow_graph import Flow


class Block(Struct, frozen=True):
    """`steps` are in the order of the file."""

    name: str
    steps: tuple[Step, ...]
    entries: tuple[Step, ...]
    exits: tuple[Step, ...]


def blocks(flow: Flow) -> Iterator[Block]:
    held: dict[str, list[Step]] = {}
    for step in flow.steps.values():
        if step.block:
            held.setdefault(step.block, []).append(step)
    for name, steps in held.items():
        inside = {step.name for step in steps}
        yield Block(
            name,
            tuple(steps),
            tuple(step for step in steps if _is_entry(flow, step, inside)),
            tuple(
                step for step in steps if not any(edge.target in inside for edge in flow.written[step.name])
            ),
        )


def _is_entry(flow: Flow, step: Step, inside: set[str]) -> bool:
    """Without a way from inside the block, except back to it by a loop."""
    sources = {
        name for name, edges in flow.written.items() if any(edge.target == step.name for edge in edges)
    }
    within = sources & inside
    if not within:
        return True
    begins = step.name == flow.entry or bool(sources - inside)
    return begins and within <= flow.after(step.name, follow=lambda edge: edge.target in inside) | {step.name}
