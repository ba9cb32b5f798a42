"""Every observed and documented permission row through the whole command line, with real tools.

    python bench/permissions_cli.py [--only P123,D045]

Prints the rows that differ, the skipped rows and why, and the time per row.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType

TESTS = Path(__file__).parent.parent / "tests" / "conformance" / "test_permissions_command_line.py"


def suite() -> ModuleType:
    spec = importlib.util.spec_from_file_location("permissions_command_line", TESTS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--only", default="")
    only = {name for name in arguments.parse_args().only.split(",") if name}
    tests = suite()
    times: list[float] = []
    skipped: collections.Counter[str] = collections.Counter()
    differing = 0
    with tempfile.TemporaryDirectory(prefix="checkrein-rows-") as folder:
        for row in tests.rows():
            if only and row.id not in only:
                continue
            if row.reason_to_skip is not None:
                skipped[f"{row.tool}: {row.reason_to_skip}"] += 1
                continue
            base = Path(folder).resolve() / row.id
            base.mkdir()
            began = time.perf_counter()
            try:
                found = tests.problem(row, tests.World(base, row))
            except Exception as error:  # one row must not hide the others
                found = f"{type(error).__name__}: {error}"
            times.append(time.perf_counter() - began)
            shutil.rmtree(base, ignore_errors=True)
            if found is not None:
                differing += 1
                print(f"{row.id} {row.tool} {row.input} {row.rules} {row.mode} wants {row.want}: {found}")
    print(f"\nrows run {len(times)}, differing {differing}, skipped {sum(skipped.values())}")
    for reason, count in skipped.items():
        print(f"  {count:4} {reason}")
    if times:
        print(f"time per row: median {statistics.median(times) * 1000:.0f} ms, all {sum(times):.1f} s")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
