"""Tells people that a run waits for them: the Notification hooks of the project."""

from __future__ import annotations

from checkrein.llm.cancel import Cancel
from checkrein.recipes.journal import Wait
from checkrein.runtime.hooks.payloads import notification
from checkrein.serve.recipes.kitchen_steps import KitchenSteps

_KINDS = {"confirm": "recipe_confirm", "reconcile": "recipe_reconcile"}


class Doorbell:
    """For a run in a directory. Its hooks have ended when `ring` returns: the process may end then."""

    def __init__(self, steps: KitchenSteps, cwd: str) -> None:
        self._steps = steps
        self._cwd = cwd

    def ring(self, run: str, wait: Wait) -> None:
        verb = "approve" if wait.kind == "confirm" else "reconcile"
        message = f"{wait.shown}\ncheckrein recipe {verb} {run} {wait.path}"
        with self._steps.counter(self._cwd) as counter:
            hooks = counter.session.conversation.host.hooks
            kind = _KINDS.get(wait.kind, "recipe")
            for _ in hooks.fire(notification(hooks.common, message, kind, title=f"Recipe {run}"), Cancel()):
                pass
