"""MCP servers for tests: plain Python programs that behave, and others that do not."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.runtime.mcp.entry import Entry, Times

ORIGIN = Origin("/project/.mcp.json", "project")
QUICK = Times(startup=20.0, call=20.0, idle=20.0, first_byte=10.0)

BASE = """
import json, os, sys, time

TOOLS = [{"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object"}}]
OFFERS = {"tools": {"listChanged": True}}

def send(message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()

def answer(request, result):
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})

def refuse(request, code, message):
    send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})

def text(said, **more):
    return {"content": [{"type": "text", "text": said}], **more}

def call(request, name, arguments):
    answer(request, text(json.dumps(arguments)))

def other(request):
    if "id" in request and "method" in request:
        refuse(request, -32601, "unknown method")

def initialize(request):
    version = request["params"]["protocolVersion"]
    about = {"name": "plain", "version": "1.0"}
    answer(request, {"protocolVersion": version, "capabilities": OFFERS, "serverInfo": about,
                     "instructions": "Be kind."})

def tools_list(request):
    answer(request, {"tools": TOOLS})

def serve():
    for line in sys.stdin:
        request = json.loads(line)
        method = request.get("method")
        if method == "initialize":
            initialize(request)
        elif method == "tools/list":
            tools_list(request)
        elif method == "tools/call":
            call(request, request["params"]["name"], request["params"].get("arguments") or {})
        else:
            other(request)
"""


def program(folder: Path, name: str, changes: str = "") -> Path:
    """A server whose functions `changes` replaces."""
    path = folder / f"{name}.py"
    path.write_text(f"{BASE}\n{changes}\n\nserve()\n", "utf-8")
    return path


def stdio(folder: Path, name: str, changes: str = "", **more: Any) -> Entry:
    path = program(folder, name, changes)
    entry = Entry(
        name=name,
        transport="stdio",
        origin=ORIGIN,
        argv=(sys.executable, "-I", str(path)),
        cwd=str(folder),
        env={"PATH": os.environ["PATH"]},
        times=QUICK,
    )
    return replace(entry, **more)


def impatient(**seconds: float | None) -> Times:
    return replace(QUICK, **seconds)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    limit = time.monotonic() + seconds
    while not holds() and time.monotonic() < limit:
        time.sleep(0.02)
    return holds()
