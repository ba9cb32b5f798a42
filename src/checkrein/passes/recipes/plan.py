"""Recipe -> Plan. A recipe with an error, or a run without its inputs, has no plan."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from checkrein.base.diagnostic import Diagnostic
from checkrein.facts.kitchen import kitchen_tools
from checkrein.facts.recipe_codes import recipe_finding
from checkrein.facts.tools import TOOLS
from checkrein.model.expression import Failure
from checkrein.model.expression_value import Scope, render
from checkrein.model.recipe import BODY_ITEM, ESCALATE, Effect, Recipe, Step, input_name
from checkrein.model.recipe_plan import Plan, PlanBody, PlanStep
from checkrein.passes.recipes.campaign import campaign_steps
from checkrein.passes.recipes.inputs import Surroundings, input_values
from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.merge import merge
from checkrein.passes.recipes.routes import skipped_to, success_of
from checkrein.passes.recipes.subset_gate import needs, refusals
from checkrein.passes.recipes.validity import errors, problems

_ONLY_READ = frozenset(fact.name for fact in TOOLS if fact.effect in ("read", "search"))
_REPEATED = ("tool", "python", "sub_recipe", "dispatch")
"""The kinds of steps that are tried again."""


def plan(
    recipe: Recipe,
    library: Library,
    inputs: Mapping[str, Any],
    surroundings: Surroundings | None = None,
) -> Plan | tuple[Diagnostic, ...]:
    """What an engine runs, or the errors that forbid it: those of the files, of the inputs, and what the
    recipe needs and the configuration hides."""
    around = surroundings or Surroundings()
    children = _children(recipe, library)
    wrong = tuple(error for one in (recipe, *children) for error in errors(problems(one, library)))
    if wrong:
        return wrong
    merged = merge(recipe, library, inputs)
    whole = merged.recipe
    values = input_values(whole, inputs, around)
    wrong = values.diagnostics + tuple(
        recipe_finding(
            "RECIPE014", f"The sub-recipe `{step.subject}` can't be used here", step.where("sub_recipe")
        )
        for step in merged.missing
    )
    workspace = render(whole.workspace, Scope(inputs=values.values))
    if not wrong and isinstance(workspace, Failure):
        wrong = (recipe_finding("RECIPE015", f"`workspace`: {workspace}", recipe.where("workspace")),)
    needed = [need for one in (whole, *children) for need in needs(one, library)]
    if not around.enable_once:
        wrong += tuple(refusals(need for need in needed if need.subset not in around.enabled))
    if wrong:
        return wrong
    digest = hashlib.sha256("\n".join(one.digest for one in (recipe, *merged.parts)).encode()).hexdigest()
    is_campaign = whole.kind == "campaign"
    return Plan(
        name=recipe.name,
        origin=recipe.origin,
        inputs=values.values,
        body=campaign_steps(whole) if is_campaign else _body(recipe.name, whole.steps),
        packs=whole.requires_packs,
        enabled=tuple(dict.fromkeys(need.subset for need in needed)),
        is_campaign=is_campaign,
        rules=whole.kitchen_rules or (),
        workspace=workspace if isinstance(workspace, str) else None,
        digest=digest,
    )


def _children(recipe: Recipe, library: Library) -> list[Recipe]:
    """The recipes that a campaign dispatches, each once. They are looked at before the first one starts."""
    found = {one.recipe: library.recipe(one.recipe) for one in recipe.dispatches if one.recipe is not None}
    return [one for one in found.values() if one is not None and one.kind != "campaign"]


def default_effect(step: Step) -> Effect:
    """What a second start of a step means when its file does not say so."""
    if step.kind == "tool":
        known = kitchen_tools().get(str(step.subject))
        if known is not None:
            return known.effect
        return "pure" if step.subject in _ONLY_READ else "once"
    return "once" if step.kind == "python" else "pure"


def _body(name: str, steps: Sequence[Step]) -> PlanBody:
    return PlanBody(name=name, steps={step.name: _step(steps, step) for step in steps})


def _step(steps: Sequence[Step], step: Step) -> PlanStep:
    on_failure = step.on_failure or ESCALATE
    return PlanStep(
        name=step.name,
        kind=step.kind,
        origin=step.origin,
        subject=step.subject,
        with_args=step.with_args,
        capture=step.capture,
        capture_list=step.capture_list,
        on_success=success_of(steps, step),
        on_failure=on_failure,
        on_context_limit=step.on_context_limit or on_failure,
        on_exhausted=step.on_exhausted,
        on_result=step.on_result,
        retries=step.retries if step.kind in _REPEATED else 0,
        skip_when_false=_condition(step.skip_when_false),
        skipped_to=skipped_to(steps, step),
        message=step.message or "",
        model=step.model,
        stale_threshold=step.stale_threshold,
        idle_output_timeout=step.idle_output_timeout,
        timeout=step.timeout,
        effect=step.effect or default_effect(step),
        queue=step.queue,
        optional_refs=frozenset(step.optional_context_refs),
        variable=step.variable or (BODY_ITEM if step.kind == "foreach" else None),
        limit=step.limit,
        bodies=tuple(_body(branch.name, branch.steps) for branch in step.branches),
    )


def _condition(skip_when_false: str | None) -> str | None:
    """The name of an input as a condition; an expression stays as it is."""
    if skip_when_false is None:
        return None
    name = input_name(skip_when_false)
    return f"${{{{ inputs.{name} }}}}" if name.replace("-", "_").isidentifier() else skip_when_false
