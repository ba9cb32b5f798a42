"""Replies of a model that writes JSON under a grammar: either text for the user or one tool call.

The grammar makes every reply of every model well-formed; it does not make it wise.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from checkrein.base.ids import short_id
from checkrein.llm.blocks import Blocks
from checkrein.llm.bodies import encode_json
from checkrein.llm.content import Message, Text, ToolResult, ToolUse
from checkrein.llm.port import ModelEvent, Request, ToolSpec

_SAY = re.compile(r'\s*\{\s*"say"\s*:\s*"')
_STRING_END = re.compile(r'((?:[^"\\]|\\.)*)"', re.DOTALL)


def reply_schema(request: Request) -> dict[str, Any]:
    """What the model may write. `tool_choice` rules out text, or all tools but one."""
    say = _object({"say": {"type": "string"}})
    choice = request.tool_choice
    calls = [
        _object({"tool": {"const": tool.name}, "input": tool.schema})
        for tool in request.tools
        if choice in ("auto", "any", tool.name)
    ]
    options = calls if calls and choice not in ("auto", "none") else [say, *calls]
    # llguidance reads this key: no blanks between tokens
    return {"anyOf": options, "x-guidance": {"whitespace_flexible": False}}


def render(request: Request) -> list[dict[str, str]]:
    """The conversation as plain chat messages, which every chat template can print."""
    system = "\n\n".join(block.text for block in request.system)
    if request.tools:
        system = "\n\n".join(part for part in (system, _instructions(request.tools)) if part)
    messages = [{"role": "system", "content": system}] if system else []
    names = {
        block.id: block.name
        for message in request.messages
        for block in message.content
        if isinstance(block, ToolUse)
    }
    for message in request.messages:
        content = "\n".join(part for part in _parts(message, names, bool(request.tools)) if part)
        if content and messages and messages[-1]["role"] == message.role:
            messages[-1]["content"] += f"\n{content}"  # some templates refuse two messages of one role
        elif content:
            messages.append({"role": message.role, "content": content})
    return messages


class ReplyReader:
    """Takes the model's text as it comes. It passes text on at once, and a call when the call is whole."""

    def __init__(self) -> None:
        self.blocks = Blocks()
        self._text = ""
        self._said = 0
        self._start = -1

    def add(self, piece: str) -> list[ModelEvent]:
        self._text += piece
        events: list[ModelEvent] = []
        if self._start < 0:
            opening = _SAY.match(self._text)
            if opening is None:
                return events
            self._start = opening.end()
            events += self.blocks.open("say", "text")
        said = _spoken(self._text[self._start :])
        if len(said) > self._said:
            events += self.blocks.add("say", said[self._said :])
            self._said = len(said)
        return events

    def end(self) -> list[ModelEvent]:
        if self._start >= 0:
            return self.blocks.close("say")
        try:
            value = msgspec.json.decode(self._text, type=_Call)
        except msgspec.DecodeError:
            return self._unfinished()
        events = self.blocks.open("call", "tool_use", short_id("call_"), value.tool)
        return [*events, *self.blocks.add("call", bytes(value.input).decode()), *self.blocks.close("call")]

    def _unfinished(self) -> list[ModelEvent]:
        """A call that the token limit cut off, if its name is known."""
        named = re.match(r'\s*\{\s*"tool"\s*:\s*"([^"]+)"\s*,\s*"input"\s*:\s*(.*)', self._text, re.DOTALL)
        if named is None:
            return []
        events = self.blocks.open("call", "tool_use", short_id("call_"), named[1])
        return [*events, *self.blocks.add("call", named[2]), *self.blocks.close("call")]


class _Call(msgspec.Struct):
    tool: str
    input: msgspec.Raw


def _spoken(text: str) -> str:
    """The part of an open JSON string that can already be decoded."""
    end = _STRING_END.match(text)
    body = end[1] if end else text
    for cut in range(len(body), max(-1, len(body) - 13), -1):  # an escape at the end is 12 characters at most
        try:
            return str(msgspec.json.decode(f'"{body[:cut]}"'))
        except msgspec.DecodeError:
            continue
    return ""


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _instructions(tools: tuple[ToolSpec, ...]) -> str:
    listed = "\n".join(
        f"- {tool.name}: {tool.description} Input schema: {encode_json(tool.schema).decode()}"
        for tool in tools
    )
    return (
        'Answer with one JSON object. To use a tool: {"tool": NAME, "input": {...}}; its result comes in the '
        f'next message. To speak to the user: {{"say": TEXT}}.\nTools:\n{listed}'
    )


def _parts(message: Message, names: dict[str, str], framed: bool) -> list[str]:
    parts: list[str] = []
    for block in message.content:
        if isinstance(block, Text) and block.text:
            framed_text = framed and message.role == "assistant"
            parts.append(encode_json({"say": block.text}).decode() if framed_text else block.text)
        elif isinstance(block, ToolUse):
            parts.append(encode_json({"tool": block.name, "input": block.input}).decode())
        elif isinstance(block, ToolResult):
            content = block.content
            text = (
                content
                if isinstance(content, str)
                else "\n".join(part.text for part in content if isinstance(part, Text))
            )
            state = "Error" if block.is_error else "Result"
            parts.append(f"{state} of {names.get(block.tool_use_id, 'the tool')}:\n{text}")
    return parts
