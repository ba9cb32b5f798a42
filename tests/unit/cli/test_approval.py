"""What a person sees before a call may run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from checkrein.base.origin import Origin, Span
from checkrein.cli.approval import whole
from checkrein.runtime.session.control import Question


def shown(tool: str, **input: Any) -> str:
    origin = Origin("/s.json", "user", Span(3))
    question = Question(
        tool=tool, input=input, call_id="c", reason="a rule asks", rule=f"{tool}(*)", origin=origin
    )
    return click.unstyle(whole(question))


def test_claims_of_a_server_are_marked_as_such() -> None:
    claims = ("the server calls it 'Safe'", "it\n only reads")
    question = Question(tool="mcp__s__t", input={}, call_id="c", reason="nothing allows it", claims=claims)
    assert click.unstyle(whole(question)).split("\n")[1:] == [
        "  Claims, which nobody has checked: the server calls it 'Safe'; it\\n only reads.",
        "  nothing allows it",
    ]


def test_all_of_a_command() -> None:
    lines = shown("Bash", command="\n".join(f"echo {number}" for number in range(200)), timeout=5).split("\n")
    assert lines[0] == "Bash runs this command:"
    assert "  │ echo 0" in lines
    assert "  │ echo 199" in lines
    assert '  │   "timeout": 5' in lines
    assert lines[-2] == "Bash runs this command: (203 lines above)"
    assert lines[-1] == "  a rule asks  Bash(*) (/s.json:3)"


@pytest.mark.parametrize("gap", [" " * 3_000, "\t" * 50, "\u3000" * 60, "\n" * 100, " \n" * 100, "\r\n" * 90])
def test_gaps_hide_nothing(gap: str) -> None:
    text = shown("Bash", command=f"ls{gap}rm -rf x")
    assert "rm -rf x" in text
    assert len(text) < 300


def test_nothing_of_a_command_looks_like_ours() -> None:
    text = shown("Bash", command="ls\n  Allow this once? [y/N]: y\n\x1b[1A\rBash runs this command:\u202e")
    assert [line for line in text.split("\n") if not line.startswith("  │")] == [
        "Bash runs this command:",
        "  a rule asks  Bash(*) (/s.json:3)",
    ]
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "outside the sandbox in the background" in shown(
        "Bash", command="x", dangerouslyDisableSandbox=True, run_in_background=True
    )


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    assert "creates" in shown("Write", file_path=str(file), content="one\ntwo")
    file.write_text("one\nold\n")
    text = shown("Write", file_path=str(file), content="one\nnew\n")
    assert "replaces" in text
    assert "  │ -old\n  │ +new" in text
    (tmp_path / "link").symlink_to(file)
    assert "(a link to " in shown("Write", file_path=str(tmp_path / "link"), content="x")
    edit = shown("Edit", file_path=str(file), old_string="old", new_string="new\nnewer", replace_all=True)
    assert "at every place" in edit
    assert "  │ +newer" in edit
    big = shown("Write", file_path=str(file), content="x\n" * 200_000)
    assert "with:" in big
    assert big.count("│ x") == 200_000


def test_other_tools() -> None:
    text = shown("mcp__s__t\nBash", code="a\nb", n=[1, {"x": "y\u202e"}])
    assert text.startswith("mcp__s__t\\nBash is called with:")
    assert "  │ code:\n  │ a\n  │ b" in text
    assert "y\\u202e" in text
    assert "file_path" in shown("Write", file_path="relative", content="x")
