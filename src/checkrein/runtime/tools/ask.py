"""AskUserQuestion: a choice that only the user can make."""

from __future__ import annotations

from typing import Any

from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput


def run(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    """`context.ask_user` gets `{"kind": "questions", "questions": [...]}` and answers `{"answers": {question:
    answer}}`, with `response` when the user wrote something else, or None when they declined. A host that
    already asked puts `answers` into the input."""
    questions: list[dict[str, Any]] = input["questions"]
    _check(questions)
    reply: dict[str, Any] | None = None
    if isinstance(input.get("answers"), dict):
        reply = {"answers": input["answers"], "annotations": input.get("annotations")}
    elif context.ask_user is None:
        raise ToolFailure("No user can answer now. Decide yourself, and say what you assumed.")
    else:
        reply = context.ask_user({"kind": "questions", "questions": questions})
    if reply is None:
        raise ToolFailure("The user declined to answer.")
    answers = {question: _spell(answer) for question, answer in (reply.get("answers") or {}).items()}
    structured: dict[str, Any] = {"questions": questions, "answers": answers}
    for extra in ("response", "annotations"):
        if reply.get(extra):
            structured[extra] = reply[extra]
    lines = [f"{question}\n-> {answer}" for question, answer in answers.items()]
    if reply.get("response"):
        lines.append(f"The user says: {reply['response']}")
    return ToolOutput(content="\n".join(lines) or "The user gave no answer.", structured=structured)


def _check(questions: list[dict[str, Any]]) -> None:
    texts = [question["question"] for question in questions]
    if len(set(texts)) < len(texts):
        raise ToolFailure("All questions must be different.")
    for question in questions:
        labels = [option["label"] for option in question["options"]]
        if len(set(labels)) < len(labels):
            raise ToolFailure(f"The answers to {question['question']!r} must have different labels.")
        if len(question["header"]) > 12:
            raise ToolFailure(f"The header {question['header']!r} is longer than 12 characters.")


def _spell(answer: Any) -> str:
    return ", ".join(str(part) for part in answer) if isinstance(answer, list) else str(answer)
