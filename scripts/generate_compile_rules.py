"""docs/compile-rules.md, from the table that tests/conformance/test_compile_rules.py builds."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests" / "conformance" / "test_compile_rules.py"
SECTIONS = (
    (r"PRE-", "Premises"),
    (r"DET-", "Detection"),
    (r"2", "Inventory"),
    (r"3", "Frontmatter"),
    (r"M-|4", "Mapping"),
    (r"5", "Modality"),
    (r"6", "Quirks"),
    (r"7", "Reference output"),
    (r"8", "Deferred"),
)


def rules() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("test_compile_rules", TESTS)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, str] = module.RULES
    return found


def page() -> str:
    """The page: one row per rule, in the order of the format's sections."""
    found = rules()
    lines = [
        "# Rules of `checkrein compile`",
        "",
        "Made by `python scripts/generate.py`; do not edit. Each rule is a test of the same",
        "name in `tests/conformance/test_compile_rules.py`.",
    ]
    for pattern, title in SECTIONS:
        names = sorted((name for name in found if re.match(pattern, name)), key=_order)
        lines += ["", f"## {title}", "", "| Rule | What holds |", "|---|---|"]
        lines += [f"| {name} | {found[name].replace('|', chr(92) + '|')} |" for name in names]
    return "\n".join(lines) + "\n"


def _order(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.findall(r"\d+|\D+", name)]
