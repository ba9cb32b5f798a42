"""A tool that counts the words of a text. It touches nothing, so it needs no approval of a path."""

from __future__ import annotations

from typing import Any

from checkrein.runtime.tools.port import Tool, ToolContext, ToolDeclaration, ToolOutput


class CountWords:
    name = "CountWords"
    eager = False
    read_only = True

    @property
    def declaration(self) -> ToolDeclaration:
        return ToolDeclaration(
            name=self.name,
            description="Count the words of a text.",
            schema={
                "type": "object",
                "properties": {"text": {"type": "string"}},
                "required": ["text"],
                "additionalProperties": False,
            },
            read_only=True,
        )

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        count = len(str(input["text"]).split())
        return ToolOutput(content=f"{count} words", structured={"words": count})


COUNT_WORDS: Tool = CountWords()
