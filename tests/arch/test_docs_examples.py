"""The Python examples of the pages are programs: `mypy --strict` takes them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks() -> dict[str, str]:
    found = {}
    for page in PAGES:
        for number, code in enumerate(_BLOCK.findall(page.read_text("utf-8")), 1):
            found[f"{page.stem.replace('-', '_').lower()}_{number}"] = code
    return found


@pytest.mark.untraced
def test_examples_are_typed(tmp_path: Path) -> None:
    examples = blocks()
    assert len(examples) > 5
    for name, code in examples.items():
        (tmp_path / f"example_{name}.py").write_text(code)
    words = [
        "--strict",
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--cache-dir",
        str(ROOT / ".mypy_cache"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words, *map(str, sorted(tmp_path.glob("example_*.py")))],
        cwd=ROOT,
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
