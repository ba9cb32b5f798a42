"""Lists of tools in another product's words."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checkrein.facts.foreign_tools import product_of
from checkrein.model.items import Agent, Command, Skill
from checkrein.passes.checks import toolnames
from checkrein.passes.checks.check import Subject
from checkrein.passes.checks.parts import bodies
from checkrein.passes.checks.toolnames import Mention


class Foreign(Struct, frozen=True):
    """The entries of one list that are names of `product`."""

    owner: Skill | Command | Agent
    product: str
    mentions: tuple[Mention, ...]


def foreign(subject: Subject) -> Iterator[Foreign]:
    for owner in bodies(subject.project):
        by_product: dict[str, list[Mention]] = {}
        for mention in toolnames.listed(owner):
            product = product_name(mention, subject)
            if product is not None:
                by_product.setdefault(product, []).append(mention)
        for product, mentions in by_product.items():
            yield Foreign(owner, product, tuple(mentions))


def product_name(mention: Mention, subject: Subject) -> str | None:
    """The other product whose tool an entry names; None for our tools and for names that nobody has."""
    return None if toolnames.is_known(mention.tool, subject) else product_of(mention.tool)
