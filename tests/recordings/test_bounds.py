"""Rules on files hold for the commands of a whole session, and protected files stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.runtime.process.sandbox import detect, detect_reading
from checkrein.testing import Call, Turn


def bash(text: str) -> Turn:
    return Turn(tool_calls=(Call("Bash", {"command": text}),))


def test_a_program_that_changes_settings_is_undone_and_said(play, write, project: Path) -> None:
    write(".claude/settings.json", {"permissions": {"deny": ["WebSearch"]}})
    before = (project / ".claude/settings.json").read_text()
    write("tool.py", "import glob; open(glob.glob('.cl*/set*.json')[0], 'w').write('{}')")
    run = play(bash("python3 tool.py"), Turn(text="done"), allowed=("Bash(python3 *)",))
    assert (project / ".claude/settings.json").read_text() == before
    assert "settings.json` was restored" in str(run.tools[0].content)


def test_an_allowed_change_of_settings_stays(play, write, project: Path) -> None:
    write(".mcp.json", {})
    write("tool.py", "open('.mcp' + '.json', 'w').write('[]')")
    run = play(bash("python3 tool.py"), Turn(text="done"), allowed=("Bash(python3 *)", "Edit(.mcp.json)"))
    assert "restored" not in str(run.tools[0].content)
    assert (project / ".mcp.json").read_text() == "[]"


@pytest.mark.skipif(detect().kind == "none", reason="nothing confines here")
def test_denied_reads_hold_without_the_sandbox(play, write, project: Path) -> None:
    write(".claude/settings.json", {"permissions": {"deny": ["Read(.env)"]}})
    write(".env", "SECRET=1")
    write("tool.py", "print(open('.' + 'env').read())")
    run = play(bash("python3 tool.py"), Turn(text="done"), allowed=("Bash(python3 *)",))
    assert "PermissionError" in str(run.tools[0].content)


@pytest.mark.skipif(detect_reading().kind == "none", reason="nothing confines here")
def test_a_command_that_only_reads_gets_no_more(play, write, project: Path) -> None:
    write("a.txt", "hello")
    run = play(bash('cat a.txt; echo "$TMPDIR"'), Turn(text="done"))
    said = str(run.tools[0].content)
    assert "hello" in said
    assert "checkrein-" in said
