"""What a compile costs beside reading the same files.

    python bench/compile.py SPEC...

For every spec, in processor time: the median over interleaved rounds of a whole compile (no writing), of
`bridle.load` on it, and of plain reads of the files in the inventory. The ratio that counts is compile to
load: both parse what they read.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import bridle
from bridle.compile.package import compile_spec

ROUNDS = 15


def timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


def main() -> int:
    specs = [Path(name) for name in sys.argv[1:]]
    if not specs:
        print(__doc__)
        return 2
    env = {"HOME": "/nonexistent"}
    print(f"{'spec':42} {'KB':>6} {'read ms':>8} {'load ms':>8} {'compile ms':>10} {'x load':>7}")
    ratios = []
    for spec in specs:
        made = compile_spec(spec, env=env)
        root = Path(made.inventory.spec.workspace)
        paths = [
            root / file.path for file in made.inventory.files if file.read and not file.path.startswith("~")
        ]
        rows = []
        for _ in range(ROUNDS):
            read = timed(lambda paths=paths: [path.read_bytes() for path in paths])
            load = timed(lambda spec=spec: bridle.load(spec, env=env))
            rows.append((read, load, timed(lambda spec=spec: compile_spec(spec, env=env))))
        read, load, whole = (statistics.median(column) for column in zip(*rows, strict=True))
        ratio = statistics.median(row[2] / row[1] for row in rows)
        ratios.append(ratio)
        size = spec.stat().st_size / 1024
        print(f"{spec.parent.name[:42]:42} {size:6.1f} {read:8.2f} {load:8.2f} {whole:10.1f} {ratio:7.1f}")
    print(f"median ratio to load {statistics.median(ratios):.1f}, worst {max(ratios):.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
