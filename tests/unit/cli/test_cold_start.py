"""What a run has imported when its first request goes out, and how it reads its words without click."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.cli import parser, plain_words
from checkrein.cli.run_args import RUN_ARGS

MOST_OWN = 301
MOST_OTHERS = 160
LATER = {
    "click": "a plain command line is read without it",
    "yaml": "no file of the project needs it",
    "json": "msgspec reads and writes the wire",
    "shlex": "nothing was refused",
    "queue": "no tool runs",
    "subprocess": "no process starts",
    "encodings.idna": "the host is an address",
    "tree_sitter": "no command is judged",
    "checkrein.policy.judge_shell": "no command is judged",
    "checkrein.policy.hosts": "no host is judged",
    "checkrein.passes.resolve.servers": "nobody names a server",
    "checkrein.runtime.tools.validate": "no tool runs",
    "checkrein.runtime.process.binder": "no command starts",
    "checkrein.base.secret_shapes": "there is no result to look at",
}
PROGRAM = """
import os, socket, sys

def sent(*arguments):
    with open("modules", "w") as file:
        file.write("\\n".join(sys.modules))
    os._exit(0)

socket.socket.connect = sent
sys.argv = ["checkrein", "-p", "hi", "--dangerously-skip-permissions"]
from checkrein.__main__ import main
main()
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The modules at the first request."""
    home = tmp_path_factory.mktemp("home")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
    }
    subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, cwd=home, check=True, capture_output=True, timeout=60
    )
    return set((home / "modules").read_text().split("\n"))


def test_the_first_request_needs_few_modules(imported: set[str]) -> None:
    own = {name for name in imported if name.partition(".")[0] == "checkrein"}
    assert len(own) <= MOST_OWN
    assert len(imported - own) <= MOST_OTHERS


@pytest.mark.parametrize("name", LATER)
def test_what_comes_later_is_not_imported(imported: set[str], name: str) -> None:
    assert name not in imported, LATER[name]


def test_the_grammar_comes_alone() -> None:
    code = (
        "import sys\n"
        "from checkrein.policy.shell.grammar import parser\n"
        "assert parser().parse(b'echo k').root_node.type == 'program'\n"
        "print('importlib.resources' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def by_click(argv: list[str]) -> Any:
    return parser.root().main(args=argv, prog_name="checkrein", standalone_mode=False)


PLAIN = [
    ["run", "--print", "hi", "--dangerously-skip-permissions"],
    ["run", "-p", "hi", "--model", "anthropic:m", "--output-format", "json", "--max-turns", "3"],
    ["run", "go", "--max-seconds", "2.5", "-C", "/tmp", "--json", "--verbose"],
    ["run", "--model", "a", "--model", "b", "--effort", "low"],
    ["run", "--max-turns", " 7", "hi"],
    ["run", "--model=a", "--system-prompt", "", "--setting-sources=", "--append-system-prompt=-x"],
    ["run", "--tools", "Bash", "Read", "--add-dir", "a", "--add-dir", "b", "--betas", "c,d"],
    ["run", "--resume", "--resume=x", "--worktree", "w", "--debug", "--verbose"],
    ["run", "--mcp-config", '{"mcpServers": {"a": {"type": "sdk"}}}', "--input-format", "stream-json"],
]


@pytest.mark.parametrize("argv", PLAIN)
def test_plain_words_are_read_as_click_reads_them(argv: list[str]) -> None:
    assert plain_words.read(argv) == by_click(argv)


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--model"],
        ["--model", "-x"],
        ["--effort", "none"],
        ["--max-turns", "x"],
        ["one", "two"],
        ["--", "hi"],
        ["-pc"],
        [""],
        ["-"],
        ["--nope"],
    ],
)
def test_other_words_are_for_click(words: list[str]) -> None:
    assert plain_words.read(["run", *words]) is None


def test_other_commands_and_completion_are_for_click(monkeypatch: pytest.MonkeyPatch) -> None:
    assert plain_words.read(["check", "."]) is None
    assert plain_words.read([]) is None
    monkeypatch.setenv("_CHECKREIN_COMPLETE", "bash_source")
    assert plain_words.read(["run", "hi"]) is None


WORDS = st.sampled_from(
    [
        *(flag for arg in RUN_ARGS for flag in arg.flags),
        *("hi", "json", "low", "3", "2.5", "plan", "", "-", "--", "--model=x", "nan", "1_0", "x y", "ü"),
    ]
)


@given(st.lists(WORDS, max_size=6))
def test_no_plain_reading_differs(words: list[str]) -> None:
    read = plain_words.read(["run", *words])
    if read is not None:
        read_by_click = by_click(["run", *words])
        assert json.dumps(read, sort_keys=True) == json.dumps(read_by_click, sort_keys=True)
