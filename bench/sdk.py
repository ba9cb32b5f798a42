"""The real claude-agent-sdk in front of Checkrein: how long `query("hello")` takes, beside the product where
that is installed; many clients at once; what is left when the program dies.

    python bench/sdk.py [--pairs 12] [--product PATH] [--clients 50] [--kills 5] [--json FILE]

*Hello* is the time from the start of the command's process to the result message, in a program that has
imported the SDK; the runs of a pair are interleaved, and the ratio is the median of the pairs with its 95 %
interval. The product is a black box: `--product` names its program, else the one that the SDK brings along,
else none. Every client of the crowd has a permission callback, a hook and a tool of its own. A killed program
(SIGKILL, while its agent runs a command) must leave no process behind. Only loopback is used.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from checkrein.testing import ScriptedServer

AIM = 0.4
LIMIT = 300.0
COMMAND = str(Path(sys.executable).with_name("checkrein"))
HELLO = {"text": "Hello from the mock."}
MARK = "CHECKREIN_BENCH_MARK"
PROGRAM = """
import asyncio, sys
from claude_agent_sdk import ClaudeAgentOptions, query

async def main():
    options = ClaudeAgentOptions(cli_path=sys.argv[1], model="claude-mock-1", allowed_tools=["Bash"])
    async for _ in query(prompt="go", options=options):
        pass

asyncio.run(main())
"""


def environment(root: Path, url: str) -> dict[str, str]:
    """What the command gets: a home of its own, a scripted model, no other traffic."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-bench",
        "HOME": str(root),
        "CLAUDE_CONFIG_DIR": str(root / "config"),
        "CHECKREIN_HOME": str(root / "checkrein"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


async def hello(command: str, root: Path, url: str) -> float:
    """Seconds from the start of the process to the result."""
    from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

    options = ClaudeAgentOptions(
        cli_path=command,
        cwd=root,
        model="claude-mock-1",
        env=environment(root, url),
        stderr=lambda line: None,
    )
    began, took = time.perf_counter(), 0.0
    async for message in query(prompt="hello", options=options):
        if isinstance(message, ResultMessage):
            took = time.perf_counter() - began
            if message.is_error:
                raise SystemExit(f"{command}: {message.result}")
    return took


def interval(ratios: list[float]) -> tuple[float, float]:
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[1949]


async def pairs(count: int, product: str | None, root: Path) -> dict[str, Any]:
    commands = [COMMAND, *([product] if product else [])]
    homes = {command: root / str(at) for at, command in enumerate(commands)}
    taken: dict[str, list[float]] = {command: [] for command in commands}
    with ScriptedServer([HELLO] * 4 * (count + 3)) as server:
        for command, home in homes.items():
            home.mkdir()
            for _ in range(2):
                await hello(command, home, server.url)
        for _ in range(count):
            for command, home in homes.items():
                taken[command].append(await hello(command, home, server.url))
    row: dict[str, Any] = {"checkrein_ms": statistics.median(taken[COMMAND]) * 1000}
    if product:
        ratios = [ours / theirs for ours, theirs in zip(*taken.values(), strict=True)]
        row |= {"product_ms": statistics.median(taken[product]) * 1000, "ratio": statistics.median(ratios)}
        row["interval"] = interval(ratios)
    return row


async def one_of_many(number: int, root: Path, url: str) -> str:
    """A client with a callback of each kind; returns what is wrong with its session, if anything."""
    from claude_agent_sdk import (
        ClaudeAgentOptions,
        ClaudeSDKClient,
        HookMatcher,
        PermissionResultAllow,
        ResultMessage,
        create_sdk_mcp_server,
        tool,
    )

    called: list[str] = []

    @tool("add", "Adds two numbers", {"a": int, "b": int})
    async def add(given: dict[str, Any]) -> dict[str, Any]:
        called.append("tool")
        return {"content": [{"type": "text", "text": str(given["a"] + given["b"])}]}

    async def allow(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
        called.append("permission")
        return PermissionResultAllow()

    async def hook(input: Any, call: str | None, context: Any) -> Any:
        called.append("hook")
        return {}

    options = ClaudeAgentOptions(
        cli_path=COMMAND,
        cwd=root,
        model="claude-mock-1",
        env=environment(root, url),
        mcp_servers={"calc": create_sdk_mcp_server("calc", tools=[add])},
        can_use_tool=allow,
        hooks={"PreToolUse": [HookMatcher(hooks=[hook])]},
    )
    async with ClaudeSDKClient(options) as client:
        await client.query("go")
        results = [one async for one in client.receive_response() if isinstance(one, ResultMessage)]
    if [one.is_error for one in results] != [False]:
        return f"{number}: {results}"
    wanted = ["hook", "hook", "permission", "permission", "tool"]
    return "" if sorted(called) == wanted else f"{number}: callbacks {sorted(called)}"


async def crowd(count: int, root: Path) -> dict[str, Any]:
    """So many clients at once, each against a model of its own."""
    turns = [
        {"tool_calls": [{"name": "mcp__calc__add", "input": {"a": 1, "b": 2}}]},
        {"tool_calls": [{"name": "Bash", "input": {"command": "touch made", "description": "x"}}]},
        HELLO,
    ]
    began = time.perf_counter()
    with ExitStack() as stack:
        places = [(root / f"client{at}", stack.enter_context(ScriptedServer(turns))) for at in range(count)]
        for place, _ in places:
            place.mkdir()
        clients = [one_of_many(at, place, server.url) for at, (place, server) in enumerate(places)]
        wrong = [text for text in await asyncio.wait_for(asyncio.gather(*clients), LIMIT) if text]
    wrong += [f"{place} has no file" for place, _ in places if not (place / "made").exists()]
    return {"clients": count, "seconds": time.perf_counter() - began, "wrong": wrong}


def marked(mark: str) -> list[int]:
    """The processes that somebody started with this mark in the environment."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                if mark.encode() in Path(f"/proc/{entry}/environ").read_bytes():
                    found.append(int(entry))
            except OSError:
                continue
    return found


def killed(root: Path, patience: float = 30.0) -> float:
    """Kill a program on the SDK while its agent runs a command; seconds until all of it has ended."""
    seconds = f"{random.randint(10_000, 99_999)}"
    turns = [{"tool_calls": [{"name": "Bash", "input": {"command": f"sleep {seconds}", "description": "x"}}]}]
    mark = uuid.uuid4().hex
    with ScriptedServer([*turns, HELLO]) as server:
        env = {**os.environ, **environment(root, server.url), MARK: mark}
        argv = [sys.executable, "-c", PROGRAM, COMMAND]
        program = subprocess.Popen(argv, cwd=root, env=env, stdout=subprocess.DEVNULL)
        limit = time.monotonic() + patience
        while not _sleeps(seconds):
            if time.monotonic() > limit or program.poll() is not None:
                program.kill()
                raise TimeoutError("the agent never began its command")
            time.sleep(0.02)
        program.send_signal(signal.SIGKILL)
        program.wait()
        began = time.monotonic()
        while left := marked(mark):
            if time.monotonic() - began > patience:
                for pid in left:
                    os.kill(pid, signal.SIGKILL)
                raise TimeoutError(f"{len(left)} processes outlived the program")
            time.sleep(0.02)
    return time.monotonic() - began


def _sleeps(seconds: str) -> bool:
    wanted = f"sleep\0{seconds}\0".encode()
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                if Path(f"/proc/{entry}/cmdline").read_bytes() == wanted:
                    return True
            except OSError:
                continue
    return False


def product_of_the_sdk() -> str | None:
    import claude_agent_sdk

    found = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
    return str(found) if found.exists() else None


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--product")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each command would compile all that it imports
    product = given.product or product_of_the_sdk()
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        if given.pairs:
            rows["hello"] = row = asyncio.run(pairs(given.pairs, product, root))
            print(f"hello: Checkrein {row['checkrein_ms']:.0f} ms", end="")
            if product:
                low, high = row["interval"]
                theirs = f", product {row['product_ms']:.0f} ms, ratio {row['ratio']:.2f}"
                print(f"{theirs} ({low:.2f}-{high:.2f}), aim {AIM}", end="")
            print(flush=True)
        if given.clients:
            rows["crowd"] = row = asyncio.run(crowd(given.clients, root))
            print(
                f"{row['clients']} clients at once: {row['seconds']:.1f} s, wrong: {row['wrong']}", flush=True
            )
        if given.kills:
            rows["killed_s"] = [killed(root) for _ in range(given.kills)]
            print(f"killed: all gone after at most {max(rows['killed_s']):.2f} s", flush=True)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
