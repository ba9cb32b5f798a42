"""A Request as the body of the Responses API. The endpoint stores nothing, so every request is whole."""

from __future__ import annotations

from typing import Any

from checkrein.llm.bodies import MessageBytes, assemble, encode_json
from checkrein.llm.content import Base64, Block, Document, Image, Message, Text, Thinking, ToolResult, ToolUse
from checkrein.llm.openai_chat_body import data_url
from checkrein.llm.port import Request
from checkrein.llm.tool_ids import RESPONSES

SIGNATURE = "openai-responses:"


def encode(request: Request, kept: MessageBytes) -> bytes:
    head: dict[str, Any] = {"model": request.model, "max_output_tokens": request.max_tokens}
    head |= {"stream": True, "store": False}
    if request.temperature is not None:
        head["temperature"] = request.temperature
    if request.effort or request.thinking == "adaptive":
        reasoning: dict[str, Any] = {"summary": "auto"}
        if request.effort:
            reasoning["effort"] = request.effort
        head["reasoning"] = reasoning
        head["include"] = ["reasoning.encrypted_content"]
    if request.output_schema is not None:
        form = {"type": "json_schema", "name": "output", "schema": request.output_schema, "strict": False}
        head["text"] = {"format": form}
    if request.tools:
        if request.tool_choice != "auto":
            head["tool_choice"] = _choice(request.tool_choice)
        if not request.parallel_tools:
            head["parallel_tool_calls"] = False
        head["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                "strict": False,
            }
            for tool in request.tools
        ]
    if request.search is not None:
        tool: dict[str, Any] = {"type": "web_search"}
        if request.search.allowed:
            tool["filters"] = {"allowed_domains": request.search.allowed}
        head.setdefault("tools", []).append(tool)
        head["include"] = [*head.get("include", ()), "web_search_call.action.sources"]
        head["max_tool_calls"] = request.search.most
    if request.cache_key:
        head["prompt_cache_key"] = request.cache_key
    if request.user_id:
        head["safety_identifier"] = request.user_id
    head.update(request.extra)
    if request.system:
        head["instructions"] = "\n\n".join(block.text for block in request.system)
    return assemble(head, "input", [data for _, data in kept.sent(request.messages, RESPONSES)])


def encode_message(message: Message) -> bytes:
    """One of our messages becomes one or more of their items, in the same order."""
    items: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    for block in message.content:
        item = _item(block)
        if item is None:
            if part := _part(block, message.role):
                parts.append(part)
            continue
        if parts:
            items.append({"type": "message", "role": message.role, "content": parts})
            parts = []
        items.append(item)
    if parts:
        items.append({"type": "message", "role": message.role, "content": parts})
    return b",".join(encode_json(item) for item in items)


def _item(block: Block) -> dict[str, Any] | None:
    """The item for a block that stands alone; None for a block that is part of a message."""
    if isinstance(block, ToolUse):
        arguments = encode_json(block.input).decode()
        return {"type": "function_call", "call_id": block.id, "name": block.name, "arguments": arguments}
    if isinstance(block, ToolResult):
        output: Any = block.content
        if not isinstance(output, str):
            output = [part for entry in output if (part := _part(entry, "user"))]
        return {"type": "function_call_output", "call_id": block.tool_use_id, "output": output}
    if isinstance(block, Thinking) and block.signature.startswith(SIGNATURE):
        id, _, secret = block.signature.removeprefix(SIGNATURE).partition(":")
        summary = [{"type": "summary_text", "text": block.thinking}] if block.thinking else []
        return {"type": "reasoning", "id": id, "summary": summary, "encrypted_content": secret}
    return None


def _part(block: Block, role: str) -> dict[str, Any] | None:
    if isinstance(block, Text):
        kind = "output_text" if role == "assistant" else "input_text"
        return {"type": kind, "text": block.text} if block.text else None
    if isinstance(block, Image):
        return {"type": "input_image", "image_url": data_url(block.source)}
    if isinstance(block, Document):
        if isinstance(block.source, Base64):
            name = block.title or "document.pdf"
            return {"type": "input_file", "filename": name, "file_data": data_url(block.source)}
        return {"type": "input_file", "file_url": data_url(block.source)}
    return None


def _choice(choice: str) -> Any:
    if choice in ("auto", "none"):
        return choice
    return "required" if choice == "any" else {"type": "function", "name": choice}
