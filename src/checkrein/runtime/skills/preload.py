"""Skills that an agent begins with: their text comes before its first prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from checkrein.base.errors import CheckreinError
from checkrein.runtime.session.events import Notice
from checkrein.runtime.skills.active import skill_text

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation
    from checkrein.runtime.tools.port import Aside


def preload(conversation: Conversation, names: Sequence[str], aside: Aside) -> None:
    """Load them as the model would. What a rule denies, or what can't be loaded, is told and left out."""
    opening = conversation.backdrop.opening_context
    for name in names:
        if conversation.gate.decide("Skill", {"skill": name}, conversation.host.cwd).verdict == "deny":
            aside.emit(Notice("warning", f"A rule denies the skill {name} to the agent."))
            continue
        try:
            invocation = conversation.skills.invoker.by_model(name, "", aside)
        except CheckreinError as error:
            aside.emit(Notice("warning", f"The agent starts without the skill {name}: {error.message}"))
            continue
        conversation.skills.active.show(invocation)
        opening += [skill_text(invocation), *invocation.attached]
