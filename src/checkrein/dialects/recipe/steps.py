"""The steps of a recipe."""

from __future__ import annotations

from typing import Any, get_args

from checkrein.base.origin import Origin
from checkrein.base.yamltree import Tree
from checkrein.dialects.codes import Log
from checkrein.dialects.coerce import WRONG, as_scalar
from checkrein.dialects.recipe.members import Fields
from checkrein.facts.recipe_fields import DISCRIMINATORS, STEP_FIELDS
from checkrein.model.expression import equals
from checkrein.model.recipe import Arm, Branch, Effect, Step, StepKind

_ACTIONS: tuple[StepKind, ...] = ("route", "stop", "confirm", "wait")
_NAMED: dict[str, StepKind] = {"tool": "tool", "python": "python", "sub_recipe": "sub_recipe"}
_EFFECTS: tuple[Effect, ...] = get_args(Effect)
_BODY = "body"


def read_steps(tree: Tree, origin: Origin, log: Log) -> tuple[Step, ...]:
    """The members of a mapping of steps; `origin` is that of the mapping."""
    found = []
    for name, member in tree.members.items():
        place = origin.at(member.span, f"{origin.field}.{name}")
        step = _read_step(name, member, place, log)
        if step is not None:
            found.append(step)
    return tuple(found)


def _read_step(name: str, tree: Tree, origin: Origin, log: Log) -> Step | None:
    if not isinstance(tree.value, dict):
        Fields(Tree({}, tree.span), origin, (), log).refuse(name, "a step: a mapping of fields", tree)
        return None
    fields = Fields(tree, origin, STEP_FIELDS, log)
    kind, subject = _discriminated(fields)
    arms, routes_field = _arms(fields)
    return Step(
        name=name,
        origin=origin,
        spans=tree.spans(),
        unknown=fields.unknown,
        kind=kind,
        subject=subject,
        on_result=arms,
        routes_field=routes_field,
        effect=_effect(fields),
        branches=_branches(fields, kind),
        **fields.taken,
    )


def _discriminated(fields: Fields) -> tuple[StepKind, Any]:
    """What the step does. None, or more than one, is `none`; a check says so."""
    present = [key for key in DISCRIMINATORS if key in fields.tree.members]
    if len(present) != 1:
        return "none", None
    key = present[0]
    member = fields.tree.members[key]
    if key == "constant":
        return "constant", member.value
    if key == "foreach":
        return "foreach", member.value
    if key == "parallel":
        return "parallel", None
    word = fields.text(key)
    if word is None:
        fields.unknown.setdefault(key, member.value)
        return "none", None
    if key == "action":
        action = next((one for one in _ACTIONS if one == word), None)
        if action is None:
            fields.refuse(key, "one of " + ", ".join(_ACTIONS), member)
        return action or "none", None
    return _NAMED[key], word


def _effect(fields: Fields) -> Effect | None:
    word = fields.text("effect")
    found = next((one for one in _EFFECTS if one == word), None)
    member = fields.member("effect")
    if word is not None and found is None and member is not None:
        fields.refuse("effect", "one of " + ", ".join(_EFFECTS), member)
    return found


def _arms(fields: Fields) -> tuple[tuple[Arm, ...], str | None]:
    """The routes of `on_result`, and the field of its old form `{field, routes}`."""
    member = fields.member("on_result")
    if member is None:
        return (), None
    if isinstance(member.value, dict):
        return _old_arms(fields, member)
    if not isinstance(member.value, list):
        fields.refuse("on_result", "a list of {when, route}", member)
        return (), None
    arms = []
    for number, item in enumerate(member.items):
        arm = _arm(item, fields.at(f"on_result[{number}]", item))
        if arm is None:
            fields.refuse(f"on_result[{number}]", "a mapping with `route`, and `when` as a text", item)
        else:
            arms.append(arm)
    return tuple(arms), None


def _arm(tree: Tree, origin: Origin) -> Arm | None:
    if not isinstance(tree.value, dict) or not tree.value.keys() <= {"when", "route"}:
        return None
    route, when = as_scalar(tree.value.get("route")), tree.value.get("when")
    if route is WRONG:
        return None
    if when is None:
        return Arm(route=route, origin=origin)
    condition = as_scalar(when)
    return None if condition is WRONG else Arm(route=route, when=condition, origin=origin)


def _old_arms(fields: Fields, member: Tree) -> tuple[tuple[Arm, ...], str | None]:
    name, routes = as_scalar(member.value.get("field")), member.members.get("routes")
    if name is WRONG or routes is None or not isinstance(routes.value, dict):
        fields.refuse("on_result", "a list of {when, route}, or {field, routes}", member)
        return (), None
    arms = []
    for value, tree in routes.members.items():
        route = as_scalar(tree.value)
        place = fields.at(f"on_result.routes.{value}", tree)
        if route is WRONG:
            fields.refuse(f"on_result.routes.{value}", "the name of a step", tree)
        else:
            arms.append(Arm(route=route, when=equals(f"result.{name}", value), origin=place))
    return tuple(arms), name


def _branches(fields: Fields, kind: StepKind) -> tuple[Branch, ...]:
    if kind == "foreach":
        body = fields.member("steps")
        return () if body is None else _branch(fields, "steps", _BODY, body)
    if kind != "parallel":
        return ()
    member = fields.tree.members["parallel"]
    if not isinstance(member.value, dict):
        fields.refuse("parallel", "a mapping from branches to their steps", member)
        return ()
    found: list[Branch] = []
    for name, tree in member.members.items():
        inner = tree.members.get("steps")
        path = f"parallel.{name}"
        wrapped = inner is not None and tree.value.keys() == {"steps"}
        found += (
            _branch(fields, f"{path}.steps", name, inner)
            if wrapped and inner
            else _branch(fields, path, name, tree)
        )
    return tuple(found)


def _branch(fields: Fields, path: str, name: str, tree: Tree) -> tuple[Branch, ...]:
    if not isinstance(tree.value, dict):
        fields.refuse(path, "a mapping of steps", tree)
        return ()
    origin = fields.at(path, tree)
    return (Branch(name=name, steps=read_steps(tree, origin, fields.log), origin=origin),)
