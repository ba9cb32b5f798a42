"""The campaign of docs/faults.md: each fault on each wire ends as the table says, in time, in little memory.

The short version takes a part of the table, by a seed; `CHECKREIN_CAMPAIGN=1` runs all of it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from support.fault_endpoint import FaultEndpoint, Wire
from support.fault_table import FAULTS, MEMORY, SECONDS
from support.programs import CHECKREIN, recorded, slack

EVERY = [(name, wire) for name, fault in FAULTS.items() for wire in fault.wires]
CHOSEN = EVERY if os.environ.get("CHECKREIN_CAMPAIGN") else random.Random(16).sample(EVERY, 24)

MEASURED = """
import os, resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
os.write(int(sys.argv[1]), b"%d" % resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status if status >= 0 else 128 - status)
"""
"""Starts a program from a small process: the peak of a process begins with that of the one that forked it."""


def test_the_table_is_long_enough() -> None:
    for wire in ("messages", "chat", "responses"):
        assert sum(wire in fault.wires for fault in FAULTS.values()) >= 60


@pytest.mark.campaign
@pytest.mark.untraced
@pytest.mark.parametrize(("name", "wire"), CHOSEN)
def test_a_fault(project: Path, name: str, wire: Wire) -> None:
    fault = FAULTS[name]
    endpoint = FaultEndpoint(fault.play)
    words = ("-p", "go", "--output-format", "json", "--max-seconds", f"{SECONDS:g}", *fault.words)
    began = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as peak:
        process = subprocess.Popen(
            [sys.executable, "-S", "-c", MEASURED, str(peak.fileno()), *CHECKREIN, *words],
            cwd=project,
            env={**os.environ, **endpoint.env(wire), "NO_PROXY": "*"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.DEVNULL,
            pass_fds=(peak.fileno(),),
        )
        try:
            process.wait()
        finally:
            endpoint.close()
        seconds = time.monotonic() - began
        out.seek(0)
        peak.seek(0)
        (line,) = out.read().splitlines()
        kilobytes = int(peak.read())
    assert endpoint.problem is None
    result = json.loads(line)
    said = f"{result.get('result', '')} {result.get('errors', '')}"
    assert (result["terminal_reason"], process.returncode) == (fault.ends, fault.status), said[:300]
    assert fault.text in said
    if "--max-seconds" not in fault.words:
        assert result["duration_ms"] < (SECONDS + 2) * 1000
        assert seconds < SECONDS + 2 + 1 + slack()  # and the start of the program
    assert kilobytes < MEMORY * 1024
    assert len(recorded()) == 1
