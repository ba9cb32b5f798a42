"""The Skill tool: the model loads a skill by name."""

from __future__ import annotations

from typing import Any

from checkrein.base.errors import CheckreinError
from checkrein.policy.tools import builtin_tools
from checkrein.runtime.skills.active import ActiveSkills, skill_text
from checkrein.runtime.skills.invoker import FORK, Invoker
from checkrein.runtime.tools.port import Aside, ToolContext, ToolDeclaration, ToolFailure, ToolOutput

_DESCRIPTION = (
    "Load a skill: instructions for a kind of task, listed with their names in the first message. "
    "Load one when the task fits its description, before you start; then follow it."
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "skill": {"type": "string", "description": "name from the list"},
        "args": {"type": "string", "description": "arguments, as typed after the name"},
    },
    "required": ["skill"],
}


class SkillTool:
    name = "Skill"
    eager = True
    read_only = False
    aliases = ("SlashCommand",)
    meaning = builtin_tools().get("Skill")

    def __init__(self, invoker: Invoker, active: ActiveSkills) -> None:
        self.declaration = ToolDeclaration(
            name=self.name, schema=_SCHEMA, description=_DESCRIPTION, eager=True
        )
        self._invoker = invoker
        self._active = active

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        try:
            aside = Aside(context.cancel, context.emit, context.call_id)
            invocation = self._invoker.by_model(input["skill"], input.get("args") or "", aside)
            if invocation.item.context == FORK:
                return self._invoker.forked(invocation, context.state.delegate, aside)
        except CheckreinError as error:
            raise ToolFailure(f"{error.message} {error.hint or ''}".strip()) from error
        structured = {"success": True, "commandName": invocation.name}
        if not self._active.show(invocation):
            text = f"The skill {invocation.name} is already loaded; its text is above."
            return ToolOutput(content=text, structured=structured)
        parts = (skill_text(invocation), *invocation.attached)
        return ToolOutput(content="\n\n".join(parts), structured=structured)
