"""The floor: the least a Python loop on httpx can do. One tool, no rules, no records. Needs httpx."""

from __future__ import annotations

import asyncio
import json
import os
import sys

import httpx

URL = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOL = {"name": "Bash", "description": "Run a shell command.", "input_schema": SCHEMA}


async def shell(command: str) -> str:
    process = await asyncio.create_subprocess_exec(
        "/bin/bash", "-c", command, stdin=-3, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    output, _ = await process.communicate()
    return output.decode(errors="replace") or "(no output)"


async def reply(client: httpx.AsyncClient, messages: list) -> list:
    body = {"model": "m", "max_tokens": 4096, "stream": True, "tools": [TOOL], "messages": messages}
    blocks: list = []
    text = ""
    async with client.stream("POST", URL, json=body, headers={"x-api-key": "x"}) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if not line.startswith("data: "):
                continue
            event = json.loads(line[6:])
            if event["type"] == "content_block_start":
                blocks.append(event["content_block"])
                text = ""
            elif event["type"] == "content_block_delta":
                delta = event["delta"]
                text += delta.get("partial_json", "")
                if "text" in delta:
                    blocks[-1]["text"] += delta["text"]
            elif event["type"] == "content_block_stop" and blocks[-1]["type"] == "tool_use":
                blocks[-1]["input"] = json.loads(text or "{}")
    return blocks


async def main() -> None:
    messages: list = [{"role": "user", "content": sys.argv[1]}]
    async with httpx.AsyncClient(timeout=600, trust_env=False, verify=False) as client:
        while True:
            blocks = await reply(client, messages)
            messages.append({"role": "assistant", "content": blocks})
            calls = [block for block in blocks if block["type"] == "tool_use"]
            if not calls:
                return
            outputs = await asyncio.gather(*(shell(call["input"]["command"]) for call in calls))
            results = [
                {"type": "tool_result", "tool_use_id": call["id"], "content": output}
                for call, output in zip(calls, outputs, strict=True)
            ]
            messages.append({"role": "user", "content": results})


asyncio.run(main())
