"""The pages on tools and the sandbox say what the code does."""

from __future__ import annotations

from pathlib import Path

from checkrein.facts.shell_paths import KEPT_PLACES, WATCHED_PLACES
from checkrein.runtime.process.sandbox.policy import _KEYS
from checkrein.runtime.tools import bash, bash_output, glob, grep, read
from checkrein.runtime.tools.declarations import TOOLS

DOCS = Path(__file__).parents[4] / "docs"


def test_every_tool_is_on_the_page() -> None:
    page = (DOCS / "tools.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    for entry in TOOLS:
        row = next(line for line in rows if f"`{entry.name}`" in line.split("|")[1])
        names, _, read_only, eager = (cell.strip() for cell in row.strip("|").split("|"))
        assert (eager == "yes") == entry.eager, entry.name
        if "," not in names:
            assert (read_only == "yes") == entry.read_only, entry.name


def test_limits_are_those_of_the_code() -> None:
    page = (DOCS / "tools.md").read_text("utf-8")
    for number in (
        bash_output.SUCCESS_LIMIT,
        bash_output.LARGEST_LIMIT,
        bash_output.FAILURE_LIMIT,
        read.TOKENS,
    ):
        assert f"{number:,}" in page
    for text in (
        f"{bash.DEFAULT_TIMEOUT_MS // 1000} s",
        f"{bash.MAX_TIMEOUT_MS // 1000} s",
        f"at most {glob.MOST} files",
        f"{grep.DEFAULT_LIMIT} lines",
    ):
        assert text in page


def test_every_setting_and_place_of_the_sandbox_is_on_the_page() -> None:
    page = (DOCS / "sandbox.md").read_text("utf-8")
    for place in (*KEPT_PLACES, *WATCHED_PLACES):
        assert f"`{place}`" in page
    for key in _KEYS.values():
        assert f"{key.rpartition('.')[2]}`" in page, key
