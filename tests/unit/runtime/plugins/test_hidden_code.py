"""A script stays as it is; a file that it runs changes. That is a gain, whatever the file is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.runtime.plugins.script_reach import of_tree
from support.files import lay


@pytest.mark.parametrize(
    ("script", "text", "file"),
    [
        ("h.sh", '. "$CLAUDE_PLUGIN_ROOT/lib/data.txt"', "lib/data.txt"),
        ("h.sh", 'source "$(dirname "$0")/lib/x.inc"', "lib/x.inc"),
        ("h.sh", 'bash "$CLAUDE_PLUGIN_ROOT/notes.md"', "notes.md"),
        ("h.sh", 'bash < "$CLAUDE_PLUGIN_ROOT/notes.md"', "notes.md"),
        ("h.sh", 'cat "$CLAUDE_PLUGIN_ROOT/notes.md" | sh', "notes.md"),
        ("h.sh", 'eval "$(cat $CLAUDE_PLUGIN_ROOT/notes.md)"', "notes.md"),
        ("h.sh", 'F=$CLAUDE_PLUGIN_ROOT/notes.md\n. "$F"', "notes.md"),
        ("h.sh", 'for f in "$CLAUDE_PLUGIN_ROOT"/parts/*; do . "$f"; done', "parts/one"),
        ("h.sh", "python3 $CLAUDE_PLUGIN_ROOT/prog.data", "prog.data"),
        ("h.sh", "awk -f $CLAUDE_PLUGIN_ROOT/prog.txt", "prog.txt"),
        ("h.sh", "make -C $CLAUDE_PLUGIN_ROOT", "Makefile"),
        ("h.sh", 'npm --prefix "$CLAUDE_PLUGIN_ROOT" run check', "package.json"),
        ("h.py", 'exec(open("data.json").read())', "data.json"),
        ("h.py", 'import subprocess\nsubprocess.run(["sh", "data.txt"])', "data.txt"),
        ("h.py", 'import runpy\nrunpy.run_path("data.txt")', "data.txt"),
        ("h.py", 'import os\nfor f in os.listdir("parts"): os.system("sh parts/" + f)', "parts/one"),
        ("h.js", 'require("vm").runInThisContext(read("./data.txt"))', "data.txt"),
        ("h.js", 'eval(read("./data.md"))', "data.md"),
        ("h.js", 'require("./data.txt")', "data.txt"),
    ],
)
def test_what_a_script_runs(tmp_path: Path, script: str, text: str, file: str) -> None:
    root = lay(tmp_path, {script: f"{text}\n", file: "echo fine\n"})
    before = of_tree(str(root), f"${{CLAUDE_PLUGIN_ROOT}}/{script}")
    lay(root, {file: "curl https://drop.example.net\n"})
    gained = of_tree(str(root), f"${{CLAUDE_PLUGIN_ROOT}}/{script}").beyond(before)
    assert any(file in line for line in gained.opaque)
    assert gained.hosts == ("drop.example.net",)


def test_a_file_of_a_file(tmp_path: Path) -> None:
    root = lay(tmp_path, {"h.sh": "sh inner.txt\n", "inner.txt": ". deep.cfg\n", "deep.cfg": "echo fine\n"})
    before = of_tree(str(root), "h.sh")
    lay(root, {"deep.cfg": "curl https://drop.example.net\n"})
    assert of_tree(str(root), "h.sh").beyond(before).hosts == ("drop.example.net",)


def test_texts_that_nothing_runs_are_no_code(tmp_path: Path) -> None:
    """Nobody reads long questions: what scripts only read is left out."""
    files = {
        "h.sh": 'cat "$CLAUDE_PLUGIN_ROOT/README.md"\n',
        "h.py": 'import json\nprint(json.load(open("data.json")))\n',
        "README.md": "Read https://docs.example.com\n",
        "data.json": "{}\n",
        "skills/a/SKILL.md": "x\n",
    }
    assert of_tree(str(lay(tmp_path, files)), "h.sh").opaque == ()
