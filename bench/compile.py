"""What a compile costs compared with reading the same files.

    python bench/compile.py [SPEC...]

Without specs, it makes skills of 2, 7, 26 and 100 KB from one section of prose, steps, rules, a table and
code. For every spec, in processor time of a warm process: the median over interleaved rounds of a whole
compile (no writing), of `checkrein.load` on it, of the Markdown parser alone on the body, and of plain reads
of the files in the inventory. *Both* is load and parser together: what it takes to read a spec at all. Ratios
are medians of the ratios of a round. Caches are cleared before each compile. The exit
status is 1 when a cost is over a bound of docs/decisions/0007-compile-cost.md.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import checkrein
from checkrein.compile.blocks import plain
from checkrein.compile.checks import executable_check
from checkrein.compile.grammar import consequence, is_imperative, leading_verb, parts
from checkrein.compile.headings import marks_of, role_of
from checkrein.compile.markdown import tokens
from checkrein.compile.package import compile_spec

ROUNDS = 15
GOAL = 20
MOST_MS = 1000
SIZES = (2, 7, 26, 100)
HEAD = "---\nname: review-{size}\ndescription: Reviews a change. Use when asked for a review.\n---\n\n"
SECTION = """\
## Part {n}: what to look at

You are careful with part {n}. Most changes are small, and most faults are at the edges: what happens with
nothing, with one, with many? Read the surrounding code before you judge.

1. Read the diff of part {n} with `git diff`
2. Check every call of the changed functions
3. Write one finding per fault, with file and line

- Never change a file while you review
- Keep the report under 300 words

| Sign | Meaning |
|---|---|
| high | must be fixed before part {n} ships |
| low | may wait |

```bash
git log --oneline -n 5
```

"""


class Cost(NamedTuple):
    spec: str
    compiling: float
    load: float
    both: float


def main() -> int:
    with tempfile.TemporaryDirectory() as made:
        specs = [Path(name) for name in sys.argv[1:]] or [_make(Path(made), size) for size in SIZES]
        seen = _table(specs)
    broken = _broken(seen, real=len(sys.argv) > 1)
    for line in broken:
        print(line)
    return 1 if broken else 0


def _make(base: Path, size: int) -> Path:
    path = base / str(size) / ".claude" / "skills" / f"review-{size}" / "SKILL.md"
    path.parent.mkdir(parents=True)
    text, number = HEAD.format(size=size), 0
    while len(text) < size * 1024:
        number += 1
        text += SECTION.format(n=number)
    path.write_text(text)
    return path


def _table(specs: list[Path]) -> list[Cost]:
    env = {"HOME": "/nonexistent"}
    heads = ("read ms", "load ms", "parse ms", "compile ms", "x read", "x load", "x both")
    print(f"{'spec':30} {'KB':>6} " + " ".join(f"{head:>10}" for head in heads))
    seen: list[Cost] = []
    for spec in specs:
        compiled = compile_spec(spec, env=env)
        root, body = Path(compiled.inventory.spec.workspace), compiled.inventory.spec.body
        paths = [
            root / file.path
            for file in compiled.inventory.files
            if file.read and not file.path.startswith("~")
        ]
        works: tuple[Callable[[], object], ...] = (
            partial(_read, paths),
            partial(checkrein.load, spec, env=env),
            partial(tokens, body),
            partial(compile_spec, spec, env=env),
        )
        rows = [[_timed(work) for work in works] for _ in range(ROUNDS)]
        times = [statistics.median(column) for column in zip(*rows, strict=True)]
        bases = [(read, load, load + parse) for read, load, parse, _ in rows]
        ratios = [
            statistics.median(row[3] / base[n] for row, base in zip(rows, bases, strict=True))
            for n in range(3)
        ]
        shown = [*(f"{value:10.2f}" for value in times), *(f"{value:10.1f}" for value in ratios)]
        print(f"{spec.parent.name[:30]:30} {spec.stat().st_size / 1024:6.1f} {' '.join(shown)}")
        seen.append(Cost(str(spec), compiling=times[3], load=times[1], both=times[1] + times[2]))
    _summary("load", seen, [cost.load for cost in seen])
    _summary("load and parse", seen, [cost.both for cost in seen])
    return seen


def _summary(base: str, seen: list[Cost], readings: list[float]) -> None:
    ratios = sorted(cost.compiling / reading for cost, reading in zip(seen, readings, strict=True))
    total = sum(cost.compiling for cost in seen) / sum(readings)
    within = sum(ratio <= GOAL for ratio in ratios)
    print(
        f"together {total:.1f} times {base}; median {statistics.median(ratios):.1f}, 95 % within "
        f"{ratios[len(ratios) * 95 // 100]:.1f}; {within} of {len(ratios)} within {GOAL}"
    )


def _broken(seen: list[Cost], *, real: bool) -> list[str]:
    lines = [
        f"{cost.spec}: {cost.compiling / cost.both:.1f} times load and parse, {cost.compiling:.0f} ms"
        for cost in seen
        if cost.compiling > GOAL * cost.both or cost.compiling > MOST_MS
    ]
    if real and sum(cost.compiling for cost in seen) > GOAL * sum(cost.load for cost in seen):
        lines.append(f"all together: more than {GOAL} times load")
    return lines


def _read(paths: list[Path]) -> list[bytes]:
    return [path.read_bytes() for path in paths]


def _timed(work: Callable[[], object]) -> float:
    for remembers in (
        plain,
        parts,
        role_of,
        marks_of,
        leading_verb,
        consequence,
        is_imperative,
        executable_check,
    ):
        remembers.cache_clear()
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    sys.exit(main())
