"""TodoWrite: the model's own list of steps, replaced as a whole."""

from __future__ import annotations

from typing import Any

from checkrein.runtime.tools.port import ToolContext, ToolOutput


def run(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    new: list[dict[str, Any]] = input["todos"]
    state = context.state
    with state.lock:
        old = state.todos
        state.todos = [] if all(todo["status"] == "completed" for todo in new) else new
        state.store("todos.json", state.todos)
    return ToolOutput(
        content="The list has been updated. Continue with the step that is in progress.",
        structured={"oldTodos": old, "newTodos": new},
    )
