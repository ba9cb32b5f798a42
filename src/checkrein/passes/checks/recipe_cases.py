"""What the checks of recipes walk over: recipes, campaigns, and the skills that steps name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checkrein.base.nearest import nearest
from checkrein.model.expression import references_in
from checkrein.model.items import Skill
from checkrein.model.recipe import Dispatch, Recipe
from checkrein.model.skill_contract import Contract
from checkrein.passes.checks.check import Subject
from checkrein.passes.checks.prose import Line
from checkrein.passes.recipes.case import Case
from checkrein.passes.recipes.skill_shelf import ContractFile


def campaigns(subject: Subject) -> Iterator[Case]:
    """The recipes that dispatch others, or say that they do."""
    return (case for case in subject.cases if case.recipe.kind == "campaign" or case.recipe.dispatches)


def dispatched(subject: Subject) -> Iterator[tuple[Case, Dispatch]]:
    return ((case, dispatch) for case in campaigns(subject) for dispatch in case.recipe.dispatches)


def targeted(subject: Subject) -> Iterator[tuple[Case, Dispatch, Recipe]]:
    """The dispatches whose recipe exists, with it."""
    for case, dispatch in dispatched(subject):
        target = case.library.recipe(dispatch.recipe or "")
        if target is not None:
            yield case, dispatch, target


def named_skills(subject: Subject) -> Iterator[tuple[Skill, Contract | None]]:
    """Each skill that a step runs, once."""
    seen: set[str] = set()
    for case in subject.cases:
        for one in case.skills:
            if isinstance(one.item, Skill) and one.item.directory not in seen:
                seen.add(one.item.directory)
                yield one.item, one.contract


def contract_files(subject: Subject) -> Iterator[tuple[Skill, ContractFile]]:
    """The skills that steps run and that have a contract beside them, of whatever form."""
    if subject.cases:
        shelf = subject.cases[0].shelf
        for skill, _ in named_skills(subject):
            file = shelf.contract_file(skill)
            if file is not None:
                yield skill, file


def named_contracts(subject: Subject) -> Iterator[tuple[Skill, ContractFile, Contract]]:
    """The same, where the contract has its form."""
    for skill, file in contract_files(subject):
        contract = subject.contracts.of(skill.name)
        if contract is not None:
            yield skill, file, contract


def meant(name: str, known: Iterable[str]) -> str | None:
    """A hint with the nearest known name; None when nothing is near."""
    likely = nearest(name, known)
    return f"Did you mean `{likely}`?" if likely else None


def literal(value: object) -> bool:
    """Whether a value of `with` is set, and known before a run."""
    return value not in (None, "") and not references_in(value)


def fenced(subject: Subject, skill: Skill, *languages: str) -> Iterator[Line]:
    """The lines of a skill's code in one of these languages, without the marks of the fences."""
    for line in subject.body(skill).lines():
        if line.fenced and line.language in languages and not line.text.lstrip().startswith(("```", "~~~")):
            yield line
