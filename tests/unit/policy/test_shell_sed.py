"""Scripts of sed: what they read, write and run."""

from __future__ import annotations

import pytest

from checkrein.policy.shell.sed import read_sed


@pytest.mark.parametrize(
    "script",
    [
        *(
            "p",
            "1,5p",
            "$=",
            "s/a/b/",
            "s,a,b,g;s/c/d/2p",
            "/^$/d",
            ":a;N;$!ba;s/\\n/ /g",
            "1!G;h;$!d",
            "y/a/b/;p",
        ),
        *(
            "0~3p",
            "{p;p}",
            "a foo;w x",
            "$!{n;d}",
            "s/[0-9]\\{2\\}/x/",
            "/a/,+2!d",
            "\\,a,p",
            "l 5;q5",
            "#w x",
        ),
    ],
)
def test_a_script_that_prints(script: str) -> None:
    call = read_sed(["-n", script, "f"])
    assert call.only_reads
    assert (call.operands, call.script.reads) == (("f",), [])


@pytest.mark.parametrize(
    ("script", "reads", "writes", "runs"),
    [
        ("/a/Ir .env", [".env"], [], False),
        ("\\,a,r .env", [".env"], [], False),
        ("1,/x/IR .env", [".env"], [], False),
        ("s/a/b/mw x", [], ["x"], False),
        ("s:a:b:w ../x", [], ["../x"], False),
        (":x w x", [], ["x"], False),
        ("s/a/b/ ; w x", [], ["x"], False),
        ("y/a/b/;W x", [], ["x"], False),
        ("1etouch x", [], [], True),
        ("s/a/b/ge", [], [], True),
        ("a\\\ntext\nw x", [], ["x"], False),
        ("w /dev/stdout", [], [], False),
    ],
)
def test_files_and_commands_of_a_script(script: str, reads: list[str], writes: list[str], runs: bool) -> None:
    found = read_sed([script, "f"]).script
    assert (found.reads, found.writes, found.runs, found.known) == (reads, writes, runs, True)


@pytest.mark.parametrize("words", [["-f", "x"], ["s/[/]/_/w x"], ["s/a/b"], ["k"], ["\ue000"]])
def test_a_script_that_is_not_all_there(words: list[str]) -> None:
    assert not read_sed(words).script.known


@pytest.mark.parametrize(
    "words", [["-i", "p"], ["-ni", "p"], ["-i.bak", "p"], ["--in-pl", "p"], ["-Ei", "p"]]
)
def test_in_place(words: list[str]) -> None:
    assert read_sed([*words, "f"]).in_place


def test_a_backup_in_another_directory() -> None:
    assert read_sed(["-isrc/*", "p", "f"]).backups == ("src",)
