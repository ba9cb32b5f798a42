"""The interactive terminal: how soon the prompt takes keys, and how soon a key shows while a reply streams.

    python bench/terminal.py [PAIRS]

The start is compared with `python -c 'import prompt_toolkit'`, in interleaved pairs. The echo is measured on
a real pty while a scripted model streams; the table says how fast that was.
"""

from __future__ import annotations

import json
import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAIRS = 15
KEYS = "αβγδεζηθικλμνξοπρστυφχψω"
TOKEN = 4
"""Characters of a token."""
DELTA = 11
"""Tokens of a delta; one comes each millisecond."""
TEXT = 1_000_000
TARGET_RATIO = 1.5
TARGET_ECHO = 30.0
TARGET_RATE = 10_000
READY = b"\x1b[?2004h"


class Program:
    def __init__(self, cwd: Path, *words: str) -> None:
        self.master, slave = pty.openpty()
        env = {**os.environ, "TERM": "xterm-256color", "CHECKREIN_HOME": str(cwd / "home"), "HOME": str(cwd)}
        argv = [sys.executable, "-m", "checkrein", *words]
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            argv, cwd=cwd, stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True
        )
        os.close(slave)
        self.seen = b""

    def until(self, wanted: bytes, seconds: float = 60.0, start: int = 0) -> float:
        """The moment at which something was written."""
        end = time.perf_counter() + seconds
        while wanted not in self.seen[start:]:
            if not select.select([self.master], [], [], max(0.0, end - time.perf_counter()))[0]:
                raise SystemExit(f"{wanted!r} never came: {self.seen[-500:]!r}")
            self.seen += os.read(self.master, 1 << 16)
        return time.perf_counter()

    def drain(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            if select.select([self.master], [], [], left)[0]:
                self.seen += os.read(self.master, 1 << 16)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def start(cwd: Path) -> float:
    program = Program(cwd)
    took = program.until(b"> ", start=max(0, program.seen.find(READY))) - program.began
    program.end()
    return took * 1000


def imported() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import prompt_toolkit"], check=True)
    return (time.perf_counter() - began) * 1000


def echo(cwd: Path) -> tuple[list[float], float]:
    """Milliseconds until each key shows, and tokens a second meanwhile."""
    paragraph = "A paragraph with *some* words and `code` in it, as models write them. " * 3
    text = (paragraph + "\n\n") * (TEXT // len(paragraph))
    script = cwd / "script.jsonl"
    script.write_text(json.dumps({"text": text, "chunk": DELTA * TOKEN, "pace": 0.001}) + "\n")
    program = Program(cwd, "--model", f"scripted:{script}", "--no-session-persistence")
    program.until(b"leaves")
    os.write(program.master, b"go\r")
    program.until(b"interrupts)")
    program.drain(1.0)
    first, began = len(program.seen), time.perf_counter()
    found = []
    for key in KEYS:
        mark, sent = len(program.seen), time.perf_counter()
        os.write(program.master, key.encode())
        found.append((program.until(key.encode(), start=mark) - sent) * 1000)
        program.drain(0.15)
    rate = (
        program.seen[first:].count(b"paragraph") * len(paragraph) / 3 / TOKEN / (time.perf_counter() - began)
    )
    program.end()
    return found, rate


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    with tempfile.TemporaryDirectory() as name:
        cwd = Path(name)
        start(cwd), imported()
        rows = [(start(cwd), imported()) for _ in range(pairs)]
        ratios = sorted(ours / theirs for ours, theirs in rows)
        low, high = ratios[len(ratios) // 10], ratios[-1 - len(ratios) // 10]
        echoes, rate = echo(cwd)
    ours, theirs = (statistics.median(column) for column in zip(*rows, strict=True))
    print("| what | measured | target |")
    print("|---|---|---|")
    print(f"| start to a prompt that takes keys | {ours:.0f} ms | |")
    print(f"| `import prompt_toolkit` | {theirs:.0f} ms | |")
    ratio = statistics.median(ratios)
    print(
        f"| ratio, median of {pairs} pairs (10 % to 90 %) | {ratio:.2f} ({low:.2f} to {high:.2f}) "
        f"| {TARGET_RATIO} |"
    )
    print(f"| a key shows, median | {statistics.median(echoes):.1f} ms | {TARGET_ECHO:.0f} ms |")
    print(f"| a key shows, worst of {len(echoes)} | {max(echoes):.1f} ms | |")
    print(f"| tokens a second meanwhile | {rate:,.0f} | {TARGET_RATE:,} |")


if __name__ == "__main__":
    main()
