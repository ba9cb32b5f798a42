"""The model wire against httpx: imports, first request, time per request, growth over 500 requests.

    python bench/llm_imports.py [--pairs 15] [--turns 500]

Both clients are fresh processes that talk to a scripted endpoint on loopback, interleaved (A B A B). A ratio
is the median over the pairs, with the interval that holds the median in 95 of 100 bootstrap samples.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from itertools import pairwise
from statistics import median

from checkrein.llm.server import ScriptedServer

IMPORTS = {
    "bare interpreter": "pass",
    "http.client": "import http.client",
    "checkrein.llm.anthropic": "import checkrein.llm.anthropic",
    "httpx, asyncio": "import httpx, asyncio",
}

CHECKREIN = """
import sys
from checkrein.llm.anthropic import AnthropicModel
from checkrein.llm.port import Cancel, Request, ToolResult, ToolSpec, collect, user
tool = ToolSpec("bash", "Run a shell command.", {"type": "object"})
model = AnthropicModel(api_key="x", base_url=sys.argv[1], env={})
messages = [user("go")]
for _ in range(int(sys.argv[2])):
    reply = collect(model.stream(Request(model="m", messages=tuple(messages), tools=(tool,)), Cancel()))
    messages.append(reply.message)
    messages.append(user(*(ToolResult(call.id, "k") for call in reply.tool_calls)))
"""

HTTPX = """
import asyncio, json, sys
import httpx
TOOL = {"name": "bash", "description": "Run a shell command.", "input_schema": {"type": "object"}}
async def ask(client, messages):
    body = {"model": "m", "max_tokens": 32000, "stream": True, "tools": [TOOL], "messages": messages}
    blocks, arguments = [], ""
    async with client.stream("POST", sys.argv[1] + "/v1/messages", json=body) as answer:
        async for line in answer.aiter_lines():
            if not line.startswith("data: "):
                continue
            event = json.loads(line[6:])
            if event["type"] == "content_block_start":
                blocks.append(event["content_block"])
                arguments = ""
            elif event["type"] == "content_block_delta":
                arguments += event["delta"].get("partial_json", "")
            elif event["type"] == "content_block_stop" and blocks[-1]["type"] == "tool_use":
                blocks[-1]["input"] = json.loads(arguments)
    return blocks
async def main():
    messages = [{"role": "user", "content": "go"}]
    async with httpx.AsyncClient(timeout=600, trust_env=False, verify=False) as client:
        for _ in range(int(sys.argv[2])):
            blocks = await ask(client, messages)
            messages.append({"role": "assistant", "content": blocks})
            results = [{"type": "tool_result", "tool_use_id": b["id"], "content": "k"} for b in blocks]
            messages.append({"role": "user", "content": results})
asyncio.run(main())
"""

TURN = {"tool_calls": [{"name": "bash", "input": {"command": "echo k"}}], "repeat": 0}


def run(code: str, *arguments: str) -> float:
    """Seconds from exec to exit."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)
    return time.perf_counter() - start


def session(code: str, requests: int) -> tuple[float, list[float]]:
    """Seconds from exec to the first request, and between the arrivals of one request and the next."""
    with ScriptedServer([TURN]) as server:
        start = time.monotonic()
        subprocess.run([sys.executable, "-c", code, server.url, str(requests)], check=True)
        arrivals = [asked.at for asked in server.requests]
    return arrivals[0] - start, [later - earlier for earlier, later in pairwise(arrivals)]


def interval(ratios: list[float]) -> str:
    draw = random.Random(1)
    medians = sorted(median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return f"{median(ratios):.2f} [{medians[50]:.2f}, {medians[1949]:.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--turns", type=int, default=500, help="how many requests the long run makes")
    options = parser.parse_args()
    times: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for _ in range(options.pairs + 1):
        for name, code in IMPORTS.items():
            times[name].append(run(code) * 1000)
    bare = times["bare interpreter"][1:]
    print("| imports | median ms | over bare |\n|---|---|---|")
    for name, found in times.items():
        extra = median(after - before for after, before in zip(found[1:], bare, strict=True))
        print(f"| {name} | {median(found[1:]):.0f} | {extra:.0f} |")
    first: list[tuple[float, float]] = []
    later: list[tuple[float, float]] = []
    for _ in range(options.pairs):
        ours, other = session(CHECKREIN, 30), session(HTTPX, 30)
        first.append((ours[0] * 1000, other[0] * 1000))
        later.append((median(ours[1]) * 1000, median(other[1]) * 1000))
    print("\n| | checkrein ms | httpx ms | ratio [95 %] |\n|---|---|---|---|")
    for name, pairs in (("exec to first request", first), ("request to request", later)):
        ratio = interval([ours / other for ours, other in pairs])
        print(f"| {name} | {median(a for a, _ in pairs):.2f} | {median(b for _, b in pairs):.2f} | {ratio} |")
    gaps = session(CHECKREIN, options.turns)[1]
    size = max(1, len(gaps) // 10)
    parts = [median(gaps[i : i + size]) * 1000 for i in range(0, len(gaps) - size + 1, size)]
    print(f"\nms per request over {options.turns} requests: {' '.join(f'{part:.2f}' for part in parts)}")


if __name__ == "__main__":
    main()
