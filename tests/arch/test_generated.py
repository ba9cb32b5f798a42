"""Pages that are made from the code are current."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("generate", ROOT / "scripts" / "generate.py")
assert spec
assert spec.loader
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)


@pytest.mark.parametrize("page", sorted(generate.PAGES))
def test_generated_page_is_current(page: str) -> None:
    assert (ROOT / page).read_text("utf-8") == generate.PAGES[page](), "run python scripts/generate.py"
