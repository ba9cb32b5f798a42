"""Plans for tests, made by hand."""

from __future__ import annotations

from typing import Any

from checkrein.base.origin import Origin
from checkrein.model.recipe_plan import Plan, PlanBody, PlanStep

HERE = Origin("recipe.yaml", "project", None)


def step(
    name: str, kind: Any = "tool", subject: Any = "run_cmd", to: str | None = "done", **more: Any
) -> PlanStep:
    chosen = {
        "on_failure": "escalate",
        "on_context_limit": "escalate",
        "on_exhausted": "escalate",
        "skipped_to": to or "done",
        "effect": "pure",
        **more,
    }
    return PlanStep(name=name, kind=kind, subject=subject, origin=HERE, on_success=to, **chosen)


def body(*steps: PlanStep, name: str = "main") -> PlanBody:
    return PlanBody(name=name, steps={one.name: one for one in steps})


def plan(*steps: PlanStep, **inputs: Any) -> Plan:
    return Plan(name="test", origin=HERE, inputs=inputs, body=body(*steps), digest="d")
