"""Diagrams: the graph that the engine walks, and names that can't break out of their labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from checkrein.passes.recipes.diagrams import diagram, marks, mermaid, plain
from checkrein.passes.recipes.library import Library

Shelf = Callable[[Mapping[str, str]], Library]

RECIPE = """\
name: draw
description: All shapes.
kitchen_rules: []
steps:
  each:
    foreach: "${{ inputs.parts }}"
    as: part
    steps:
      look: {tool: test_check}
    on_failure: ask
  both:
    parallel:
      left: {steps: {a: {tool: run_cmd}}}
      right: {steps: {b: {action: wait, with: {seconds: 1}}}}
    on_result:
      - {when: "${{ result.left.x }} == 1", route: ask}
      - {route: done}
  ask: {action: confirm, message: "Sure?", on_success: done, on_failure: each}
"""


def drawn(shelf: Shelf, text: str, form: Callable[..., str]) -> str:
    (resolved,) = [
        one for one in shelf({"draw.yaml": text}).recipes.values() if one.item.origin.scope == "project"
    ]
    return form(resolved.item)


def test_mermaid(shelf: Shelf) -> None:
    assert drawn(shelf, RECIPE, mermaid).splitlines() == [
        "flowchart TD",
        '  subgraph s0["each<br/>for each part of ${{ inputs.parts }}"]',
        '      s0b0x0["look<br/>test_check"]',
        "      s0b0x0 --> s0b0x_0",
        '      s0b0x_0(("done"))',
        "  end",
        '  subgraph s1["both<br/>parallel"]',
        '    subgraph s1b0["left"]',
        '      s1b0x0["a<br/>run_cmd"]',
        "      s1b0x0 --> s1b0x_0",
        '      s1b0x_0(("done"))',
        "    end",
        '    subgraph s1b1["right"]',
        '      s1b1x0("b<br/>wait")',
        "      s1b1x0 --> s1b1x_0",
        '      s1b1x_0(("done"))',
        "    end",
        "  end",
        '  s2{{"ask<br/>confirm: Sure?"}}',
        "  s0 --> s1",
        '  s0 -.->|"failure"| s2',
        '  s1 -->|"${{ result.left.x }} == 1"| s2',
        "  s1 --> s_0",
        "  s2 --> s_0",
        '  s2 -.->|"failure"| s0',
        '  s_0(("done"))',
    ]


def test_text(shelf: Shelf) -> None:
    assert drawn(shelf, RECIPE, plain) == (
        "draw: All shapes.\n"
        "  each: for each part of ${{ inputs.parts }}\n"
        "    | look: test_check\n"
        "    |   success -> done\n"
        "    success -> both\n"
        "    failure -> ask\n"
        "  both: parallel\n"
        "    | left\n"
        "    |   a: run_cmd\n"
        "    |     success -> done\n"
        "    | right\n"
        "    |   b: wait\n"
        "    |     success -> done\n"
        "    ${{ result.left.x }} == 1 -> ask\n"
        "    otherwise -> done\n"
        "  ask: confirm: Sure?\n"
        "    success -> done\n"
        "    failure -> each\n"
    )


def test_labels_hold_what_names_say(shelf: Shelf) -> None:
    text = """name: 'x"] --> y'\nsteps:\n  "a\\"]<b>#\\e[31m": {action: stop, message: "]) end\\n%% x"}\n"""
    found = drawn(shelf, text, mermaid)
    assert found.splitlines()[1:] == ['  s0(["a#quot;]#lt;b>#35;\\x1b[31m<br/>stop: ]) end %% x"])']
    assert "\x1b" not in drawn(shelf, text, plain)


def test_a_diagram_knows_its_recipe(shelf: Shelf) -> None:
    (found,) = shelf({"draw.yaml": RECIPE}).project.recipes.values()
    held = marks(diagram(found.item))
    assert (held.digest, held.format) == (found.item.digest, "1")
    old = marks("<!-- autoskillit-recipe-hash: sha256:ab -->\n<!-- autoskillit-diagram-format: v7 -->\n")
    assert (old.digest, old.format) == ("ab", "v7")
