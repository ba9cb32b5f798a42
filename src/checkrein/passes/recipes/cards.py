"""Contract cards: `contracts/NAME.yaml` beside a recipe. Whether one is stale is computed, never guessed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from checkrein.base.files import read_text
from checkrein.base.origin import Origin
from checkrein.base.yamltree import NotYaml, Tree, parse_tree
from checkrein.model.recipe import Recipe, Step
from checkrein.model.recipe_card import Card, CardStep, Stale
from checkrein.passes.recipes.captures import available
from checkrein.passes.recipes.contracts import FILE, Contracts, skill_file
from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.routes import every_step

VERSION = "1"
FOLDER = "contracts"


class Held(Struct, frozen=True):
    """A card in its file; `origin` is the place of a path in it."""

    card: Card
    file: str
    tree: Tree

    def origin(self, recipe: Recipe, path: str) -> Origin:
        spans = self.tree.spans()
        return Origin(self.file, recipe.origin.scope, spans.get(path, self.tree.span), f"$.{path}")


def card_file(recipe: Recipe) -> str:
    folder, name = os.path.split(recipe.origin.file)
    return os.path.join(folder, FOLDER, f"{os.path.splitext(name)[0]}.yaml")


def make_card(recipe: Recipe, library: Library, contracts: Contracts) -> Card:
    """The card of a recipe as it is now. The same files give the same card."""
    rows = tuple(_rows(recipe, library, contracts))
    skills = sorted({row.skill for row in rows if row.skill})
    hashes = {skill: digest for skill in skills if (digest := skill_hash(skill, library))}
    return Card(
        version=VERSION,
        skill_hashes=hashes,
        skills=tuple(skills),
        dataflow=rows,
        block_fingerprints=dict(sorted(fingerprints(recipe).items())),
    )


def read_card(recipe: Recipe, within: Sequence[str]) -> Held | None:
    """The card beside a recipe; None without one. Fields of the source's cards that we do not have are left
    out, and its `manifest version` is a version that is not ours."""
    file = card_file(recipe)
    found = read_text(file, within=within)
    if not found.text:
        return None
    tree = parse_tree(found.text)
    if isinstance(tree, NotYaml) or not isinstance(tree.value, dict):
        return None
    said = tree.value
    version = said.get("version", said.get("bundled_manifest_version", said.get("manifest_version", "")))
    skills = said.get("skills")
    names = [str(one) for one in skills] if isinstance(skills, (dict, list)) else []
    known = {**said, "version": str(version), "skills": names}
    try:
        card = msgspec.convert(known, Card, strict=False)
    except msgspec.ValidationError:
        card = Card(version=str(version))
    return Held(card, file, tree)


def staleness(held: Card, now: Card) -> Iterator[Stale]:
    """Every reason why a card no longer describes its recipe, in a fixed order."""
    if held.version != now.version:
        message = f"its form is version {held.version or 'unknown'}, and the present one is {now.version}"
        yield Stale("version_mismatch", "version", message)
    for skill in sorted(held.skill_hashes.keys() | now.skill_hashes.keys()):
        before, after = held.skill_hashes.get(skill), now.skill_hashes.get(skill)
        if before != after:
            what = "is new" if before is None else "is gone" if after is None else "has changed"
            yield Stale("hash_mismatch", skill, f"the skill `{skill}` {what}")
    for block in sorted(held.block_fingerprints.keys() | now.block_fingerprints.keys()):
        if held.block_fingerprints.get(block) != now.block_fingerprints.get(block):
            message = f"the steps of the block `{block}` have changed"
            yield Stale("block_composition_drift", block, message)


def fingerprints(recipe: Recipe) -> dict[str, str]:
    """For each block the digest of what its steps do, in order."""
    blocks: dict[str, list[str]] = {}
    for step in every_step(recipe):
        if step.block is not None:
            blocks.setdefault(step.block, []).append(f"{step.name} {step.kind} {step.subject}")
    return {name: digest_of(*lines) for name, lines in blocks.items()}


def skill_hash(skill: str, library: Library) -> str | None:
    """The digest of a skill's file with its contract; None for a skill that does not exist."""
    file = skill_file(skill, library.project)
    if file is None:
        return None
    contract = read_text(os.path.join(os.path.dirname(file), FILE)).text
    return digest_of(read_text(file).text, contract)


def digest_of(*texts: str) -> str:
    joined = "\0".join(text for text in texts if text)
    return f"sha256:{hashlib.sha256(joined.encode('utf-8', 'replace')).hexdigest()}"


def card_text(card: Card) -> str:
    """A card as YAML."""
    import yaml

    plain = msgspec.to_builtins(card)
    return str(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=100))


def _rows(recipe: Recipe, library: Library, contracts: Contracts) -> Iterator[CardStep]:
    inputs = {one.name for one in recipe.ingredients}
    for step, known in available(recipe, library):
        if step.skill is not None:
            yield CardStep(
                step=step.name,
                skill=step.skill,
                available=tuple(sorted(inputs | known)),
                required=_required(step, contracts),
                produced=tuple(sorted((*step.capture, *step.capture_list))),
            )


def _required(step: Step, contracts: Contracts) -> tuple[str, ...]:
    contract = contracts.of(step.skill or "")
    return () if contract is None else tuple(one.name for one in contract.inputs if one.required)
