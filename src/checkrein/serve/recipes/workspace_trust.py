"""Whether a run may clone and push: a recipe's `workspace` is used as the user, so it needs trust."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from checkrein.base.errors import PolicyError
from checkrein.base.secrets import redact_url

if TYPE_CHECKING:
    from checkrein.model.recipe_plan import Plan
    from checkrein.runtime.session.options import Options


def require_trust(plan: Plan, cwd: str | None, options: Options) -> None:
    """Raises PolicyError unless `--trust` was given, or the project in `cwd` is trusted and has this recipe.
    `cwd` is None for a run of another machine. What the plan says of itself counts for nothing: whoever
    writes the database writes it."""
    if plan.workspace is None or options.trust or (cwd is not None and _has_trusted(plan, cwd)):
        return
    raise PolicyError(
        f"The workspace {redact_url(plan.workspace)} of {plan.name} is not trusted.",
        kind="untrusted_origin",
        hint="`checkrein trust` shows and approves it, on the machine of the project; or give --trust.",
        origin=plan.origin,
    )


def _has_trusted(plan: Plan, cwd: str) -> bool:
    from checkrein.passes.load import load
    from checkrein.runtime.trust.status import status

    if not os.path.isdir(cwd):
        return False
    found = status(load(cwd))
    files = {item.origin.file for item in found.items if item.kind == "workspace"}
    return found.trusted and plan.origin.file in files
