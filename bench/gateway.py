"""What the gateway adds to a call: the same tool of the same server, directly and through it.

    python bench/gateway.py [--calls 300]

Both ways use the official client over stdio, in one process each. The calls alternate; the table has the
medians, and the median of the differences of neighbours with its interval.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SERVER = """
import sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("small")

@server.tool()
def echo(text: str) -> str:
    return text

server.run()
"""
LIMIT_MS = 5.0


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what the gateway adds to a call.")
    parser.add_argument("--calls", type=int, default=300)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        direct, through = asyncio.run(measure(Path(folder), given.calls))
    added = [b - a for a, b in zip(direct, through, strict=True)]
    low, high = interval(added)
    print(f"{'way':<10}{'median ms':>12}{'p95 ms':>10}")
    for name, values in (("direct", direct), ("gateway", through)):
        print(f"{name:<10}{statistics.median(values):>12.2f}{sorted(values)[int(len(values) * 0.95)]:>10.2f}")
    print(f"{'added':<10}{statistics.median(added):>12.2f}  [{low:.2f}, {high:.2f}]  (limit {LIMIT_MS:g})")
    return 0 if statistics.median(added) < LIMIT_MS else 1


async def measure(folder: Path, calls: int) -> tuple[list[float], list[float]]:
    from mcp import StdioServerParameters
    from mcp.client import Client
    from mcp.client.stdio import stdio_client

    (folder / "server.py").write_text(SERVER)
    (folder / "home" / ".claude").mkdir(parents=True)
    (folder / "project").mkdir()
    entry = {"command": sys.executable, "args": [str(folder / "server.py")]}
    (folder / "home" / ".claude.json").write_text(json.dumps({"mcpServers": {"small": entry}}))
    rules = {"permissions": {"allow": ["mcp__small"]}}
    (folder / "home" / ".claude" / "settings.json").write_text(json.dumps(rules))
    env = {**os.environ, "HOME": str(folder / "home"), "CHECKREIN_HOME": str(folder / "checkrein")}
    words = ["-m", "checkrein", "serve", "mcp", "-C", str(folder / "project"), "--through", "small"]
    plain = StdioServerParameters(command=sys.executable, args=entry["args"], env=env)  # type: ignore[arg-type]
    governed = StdioServerParameters(command=sys.executable, args=words, env=env)
    async with (
        Client(stdio_client(plain), mode="legacy") as one,
        Client(stdio_client(governed), mode="legacy") as two,
    ):
        for client in (one, two):
            for _ in range(20):
                await timed(client)
        pairs = [(await timed(one), await timed(two)) for _ in range(calls)]
    return [a for a, _ in pairs], [b for _, b in pairs]


async def timed(client: Any) -> float:
    began = time.perf_counter()
    result = await client.call_tool("echo", {"text": "hello"})
    took = (time.perf_counter() - began) * 1000
    assert not result.is_error, result
    return took


def interval(values: list[float], rounds: int = 1_000) -> tuple[float, float]:
    """The middle 95 % of medians of resampled values."""
    chance = random.Random(1)
    found = sorted(statistics.median(chance.choices(values, k=len(values))) for _ in range(rounds))
    return found[int(rounds * 0.025)], found[int(rounds * 0.975)]


if __name__ == "__main__":
    sys.exit(main())
