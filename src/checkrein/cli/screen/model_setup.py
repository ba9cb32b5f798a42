"""The first run: which model, and its key. Model servers on this machine are found by themselves."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from checkrein.base.errors import CheckreinError
from checkrein.cli.model_choices import Found, found_models, keep_key, keep_model
from checkrein.cli.screen.dialog import Choice, Dialog, Entry

if TYPE_CHECKING:
    from checkrein.cli.screen.cockpit import Cockpit


def set_up(cockpit: Cockpit) -> str | None:
    """Ask for a model and, where it needs one, its key; keep both. Returns the model, or None."""
    cockpit.tell("Looking for model servers on this machine…")
    rows = [Choice(one.label, one, one.detail) for one in found_models(os.environ)]
    chosen: Found | None = cockpit.ask(
        Dialog("Which model?", rows, search=True, hint="type to search · Esc: leave")
    )
    if chosen is None:
        return None
    name = chosen.model
    if name is None:
        name = cockpit.ask(Entry(lambda: "The model, as provider:name:"))
        if not name:
            return None
    try:
        if chosen.key_variable is not None:
            key = cockpit.ask(
                Entry(
                    lambda: f"The key for {chosen.provider} ({chosen.key_variable}):",
                    hint="It goes into your own configuration, readable by you alone. Esc: leave",
                    hidden=True,
                )
            )
            if not key:
                return None
            keep_key(str(key).strip(), chosen)
        keep_model(name)
    except CheckreinError as error:
        cockpit.tell(f"{error.message} {error.hint or ''}".strip(), "bad")
        return None
    cockpit.tell(f"{name} is your model from now on (checkrein config set model.default …).")
    return str(name)
