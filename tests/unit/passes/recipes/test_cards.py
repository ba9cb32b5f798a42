"""Contract cards and contracts of skills, in our form and in the source's."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from checkrein.model.recipe_card import Card
from checkrein.passes.checks.recipe_cards import SKILL_STEP
from checkrein.passes.checks.recipe_examples import ingredients, recipe
from checkrein.passes.recipes.cards import card_text, make_card, read_card, staleness
from checkrein.passes.recipes.contracts import Contracts
from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.validity import problems

Shelf = Callable[[Mapping[str, str]], Library]

REVIEW = {"/.claude/skills/review/SKILL.md": "---\ndescription: Review. Use when asked.\n---\nReview.\n"}
BUILD = recipe(
    SKILL_STEP % " ${{ inputs.task }}", head=ingredients("task: {description: The task, default: x}")
)
SHARED = """\
version: 0.1.0
skills:
  review:
    inputs:
    - {name: task, type: string, required: true}
    - {name: depth, required: false, recommended: true}
    outputs:
    - {name: report, type: file_path}
    - {name: verdict, type: enum, allowed_values: [go, stop]}
    expected_output_patterns: ["report\\\\s*=\\\\s*/.+"]
    write_behavior: always
    read_only: true
  broken: {outputs: 3}
"""
OLD_CARD = """\
generated_at: '2026-03-02T02:12:41+00:00'
bundled_manifest_version: 0.1.0
skill_hashes: {review: "sha256:00"}
skills:
  review: {inputs: [{name: topic, required: true}], outputs: []}
dataflow:
- {step: review, available: [task], required: [topic], produced: []}
- {step: gone, available: [], required: [x], produced: []}
"""


def card_of(library: Library) -> Card:
    found = library.recipe("build")
    assert found is not None
    return make_card(found, library, Contracts(library.project))


def test_the_source_s_file_of_contracts_is_read(shelf: Shelf) -> None:
    library = shelf({"build.yaml": BUILD, **REVIEW, "/.autoskillit/skill_contracts.yaml": SHARED})
    contracts = Contracts(library.project)
    found = contracts.of("review")
    assert found is not None
    assert [(one.name, one.required, one.recommended) for one in found.inputs] == [
        ("task", True, False),
        ("depth", False, True),
    ]
    assert [(one.name, one.type) for one in found.outputs] == [("report", "file_path"), ("verdict", "string")]
    assert found.write_behavior == "always"
    assert contracts.of("broken") is None
    assert contracts.of("nothing") is None
    assert card_of(library).dataflow[0].required == ("task",)


def test_a_skill_s_own_contract_wins(shelf: Shelf) -> None:
    own = {"/.claude/skills/review/contract.yaml": "inputs: [{name: diff, required: true}]\n"}
    files = {"build.yaml": BUILD, **REVIEW, **own, "/.checkrein/skill_contracts.yaml": SHARED}
    assert card_of(shelf(files)).dataflow[0].required == ("diff",)


def test_a_card_says_the_flow_and_is_the_same_bytes(shelf: Shelf) -> None:
    library = shelf({"build.yaml": BUILD, **REVIEW})
    card = card_of(library)
    row = card.dataflow[0]
    assert (row.step, row.skill, row.available, row.produced) == ("review", "review", ("task",), ("report",))
    assert card.skills == ("review",)
    assert card_text(card) == card_text(card_of(library))
    again = shelf({"build.yaml": BUILD, **REVIEW, "contracts/build.yaml": card_text(card)})
    recipe_ = again.recipe("build")
    assert recipe_ is not None
    held = read_card(recipe_, again.project.place.within)
    assert held is not None
    assert held.card == card
    assert list(staleness(held.card, card)) == []


def test_a_changed_skill_makes_the_card_stale(shelf: Shelf) -> None:
    before = card_of(shelf({"build.yaml": BUILD, **REVIEW}))
    for files in (
        {"/.claude/skills/review/SKILL.md": "Other.\n"},
        {"/.claude/skills/review/contract.yaml": "{}"},
    ):
        after = card_of(shelf({"build.yaml": BUILD, **REVIEW, **files}))
        assert [(one.reason, one.subject) for one in staleness(before, after)] == [
            ("hash_mismatch", "review")
        ]


def test_a_card_of_the_source_is_read_and_stale(shelf: Shelf) -> None:
    library = shelf({"build.yaml": BUILD, **REVIEW, "contracts/build.yaml": OLD_CARD})
    recipe_ = library.recipe("build")
    assert recipe_ is not None
    found = {one.code: one for one in problems(recipe_, library)}
    assert {"RCP021", "RCP022"} <= found.keys()
    assert "`review` requires `topic`" in found["RCP021"].message


@pytest.mark.parametrize("text", ["- x", "version: [1]\ndataflow: 3\n", "a: [", "", "skills: 3\n"])
def test_a_card_of_another_form_never_raises(shelf: Shelf, text: str) -> None:
    library = shelf({"build.yaml": BUILD, **REVIEW, "contracts/build.yaml": text})
    recipe_ = library.recipe("build")
    assert recipe_ is not None
    problems(recipe_, library)
