"""EnterPlanMode and ExitPlanMode. The gate shows the user the plan before `leave` runs."""

from __future__ import annotations

from typing import Any

from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput


def enter(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    if context.set_mode is None:
        raise ToolFailure("This session can't change its mode.")
    context.set_mode("plan")
    message = "Plan mode is on. Look around, change nothing, and present your plan with ExitPlanMode."
    return ToolOutput(content=message, structured={"message": message})


def leave(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    """Carry out an approved plan, in the mode that its approval leads to."""
    plan = str(input.get("plan") or "")
    structured = {"plan": plan or None, "isAgent": False}
    if isinstance(input.get("planFilePath"), str):
        structured["filePath"] = input["planFilePath"]
    if context.set_mode is not None:
        context.set_mode(context.mode_after_plan)
    text = "The plan has been approved. Plan mode is off: carry it out."
    return ToolOutput(content=f"{text}\n\n{plan}" if plan else text, structured=structured)
