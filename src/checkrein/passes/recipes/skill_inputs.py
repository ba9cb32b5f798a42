"""Which inputs of a skill's contract a step fills, and with what."""

from __future__ import annotations

from checkrein.model.skill_contract import Input
from checkrein.passes.recipes.case import SkillStep


def unfilled(one: SkillStep) -> tuple[Input, ...]:
    """The inputs that get nothing: no argument of their name, and none by position."""
    return _open(one)[len(_spare(one)) :]


def filled(one: SkillStep) -> tuple[tuple[Input, str], ...]:
    """The inputs that get an argument by position alone, with the argument."""
    return tuple(zip(_open(one), _spare(one), strict=False))


def _open(one: SkillStep) -> tuple[Input, ...]:
    inputs = one.contract.inputs if one.contract is not None else ()
    return tuple(
        each for each in inputs if not one.call.names_input(each.name) and each.name not in one.step.with_args
    )


def _spare(one: SkillStep) -> tuple[str, ...]:
    inputs = one.contract.inputs if one.contract is not None else ()
    return one.call.nameless(frozenset(each.name for each in inputs))
