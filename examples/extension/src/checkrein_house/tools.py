"""A tool that counts the words of a text. It touches nothing: only rules on its own name speak of it."""

from __future__ import annotations

from typing import Any

from checkrein import Tool, ToolContext, ToolDeclaration, ToolOutput


def count(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    words = len(str(input["text"]).split())
    return ToolOutput(content=f"{words} words", structured={"words": words})


COUNT_WORDS = Tool(
    declaration=ToolDeclaration(
        name="CountWords",
        description="Count the words of a text.",
        schema={
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
        read_only=True,
    ),
    work=count,
)
