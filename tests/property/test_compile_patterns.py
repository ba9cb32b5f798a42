"""No body makes a compile slow: the beginning of what a pattern looks for, then the same again and again."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import tempfile
import time
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import checkrein.compile
import checkrein.facts
from checkrein.compile.package import compile_spec

MORE = 25 if os.environ.get("CHECKREIN_CAMPAIGN") else 1
"""How many times the examples of CI; the long run is with CHECKREIN_CAMPAIGN=1."""
SIZE = 40_000
AGAIN = [
    *" \n\ta1-*`\"'[(<#.,:/_|>\\",
    *(
        "= ",
        "\n ",
        "\n\n- ",
        ". ",
        ", a",
        "`a`, ",
        "a ",
        "a, ",
        "A ",
        "**",
        "a.",
        "a/",
        "a:",
        "- a\n",
        "  \n",
    ),
]
WITHIN = [
    "{}",
    "- {}",
    "> {}",
    "# {}",
    "**{}**",
    "## {}\n\nText.",
    "## Output\n\n{}",
    "## Output\n\n- {}",
    "## Inputs\n\n- {}",
    "Report:\n\n- {}",
    "## Process\n\n1. Write it\n2. {}",
    "### Step 1: A\n\n{}\n\n### Step 2: B\n\nx",
    "```\n{}\n```",
    "```bash\n{}\n```",
    "## Output\n\n```json\n{}\n```",
    "## Output\n\n```ts\n{}\n```",
    "| a | b |\n|---|---|\n| {} | x |",
]


def _patterns() -> list[re.Pattern[str]]:
    """Every pattern of the compiler's modules, also those in tables."""
    found: dict[tuple[str, int], re.Pattern[str]] = {}

    def collect(value: Any) -> None:
        if isinstance(value, re.Pattern):
            found[value.pattern, value.flags] = value
        elif isinstance(value, dict):
            collect(tuple(value.values()))
        elif isinstance(value, tuple | list):
            for one in value:
                collect(one)

    for module in pkgutil.walk_packages(checkrein.compile.__path__, "checkrein.compile."):
        collect(tuple(vars(importlib.import_module(module.name)).values()))
    for module in pkgutil.iter_modules(checkrein.facts.__path__, "checkrein.facts."):
        if module.name.startswith("checkrein.facts.compile"):
            collect(tuple(vars(importlib.import_module(module.name)).values()))
    return [found[key] for key in sorted(found)]


PATTERNS = _patterns()


def _seconds(body: str) -> float:
    with tempfile.TemporaryDirectory() as base:
        path = Path(base, "demo", "SKILL.md")
        path.parent.mkdir()
        path.write_text(f"---\nname: demo\ndescription: d\n---\n\n{body}\n", "utf-8", errors="replace")
        began = time.process_time()
        compile_spec(path, env={"HOME": base})
        return time.process_time() - began


@settings(
    max_examples=150 * MORE,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(st.data())
def test_what_patterns_look_for_costs_no_more_than_its_length(data: st.DataObject) -> None:
    found = data.draw(st.from_regex(data.draw(st.sampled_from(PATTERNS))))
    head = found[: data.draw(st.integers(0, min(60, len(found))))]
    again, end = (
        data.draw(st.sampled_from(AGAIN)),
        data.draw(st.sampled_from(["", ":", ".", "x", "?", "`", ")"])),
    )
    within, rows = data.draw(st.sampled_from(WITHIN)), data.draw(st.booleans())

    def body(size: int) -> str:
        text = (head + again) * (size // len(head + again)) if rows else head + again * (size // len(again))
        return within.replace("{}", text + end)

    spent = _seconds(body(SIZE))
    assert spent < 2 or spent < 9 * _seconds(body(SIZE // 4))


def test_the_patterns_are_found() -> None:
    assert len(PATTERNS) > 150
