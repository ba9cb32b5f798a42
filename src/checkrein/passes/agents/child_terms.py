"""The mode and the model of a subagent."""

from __future__ import annotations

from collections.abc import Mapping

from checkrein.facts.models_providers import FILE_KINDS, PROVIDERS
from checkrein.facts.subagents import ENV_MODEL
from checkrein.passes.agents.agent_type import AgentType
from checkrein.policy.modes import narrowed
from checkrein.policy.policy import LOOSER
from checkrein.policy.situation import known_mode

_INHERIT = "inherit"


def child_mode(parent: str, kind: AgentType, asked: str | None = None) -> str:
    """The mode of a subagent whose parent is in the mode `parent`. It never approves more than the parent's.

    `asked` is the mode that the call names. It comes first, and counts where it is narrower than the parent's
    in the order of `policy.modes`. Then comes `permissionMode` of the definition. It counts where it is
    narrower too, but not below a parent that works in `acceptEdits`, `auto` or `bypassPermissions`: what the
    user chose there holds for the whole tree. In every other case the subagent has its parent's mode.

    The mode is for the subagent's own layer of the policy. The parent's layers bind it as well (`meet`), so
    nothing here can widen what it may do.
    """
    above = known_mode(parent)
    if above is None:
        return parent
    wanted = known_mode("default" if asked == "manual" else asked)
    if wanted is not None:
        return narrowed(above, wanted)
    if kind.permission_mode is None or above in LOOSER:
        return above
    return narrowed(above, kind.permission_mode)


def is_file_model(name: str) -> bool:
    """Whether a model is a file that plays one: the user's choice alone."""
    provider = PROVIDERS.get(name.partition(":")[0])
    return provider is not None and provider.kind in FILE_KINDS


def child_model(
    env: Mapping[str, str], per_call: str | None, kind: AgentType, parent: str | None
) -> str | None:
    """The model of a subagent: that of the environment, of the call, of the definition, or else of the
    parent. `inherit` at any of these places means the parent's. None when the parent's is not known."""
    chosen = env.get(ENV_MODEL, "").strip() or per_call or kind.model
    return parent if not chosen or chosen == _INHERIT else chosen
