"""Any text is judged, or given up, in a short time."""

from __future__ import annotations

import random
import time

import pytest

from support.attacks import judged

PERMISSIONS = {"allow": ["Bash"], "deny": ["Bash(rm *)", "Bash(curl:*)", "Read(.env)", "Edit(config/**)"]}
SECONDS = 1.0
UNITS = (
    *(
        "{a,b}",
        "{",
        "$(",
        "$(echo ",
        "`ls`",
        "\\`",
        "(",
        "{ ",
        "if true; then ",
        "while read x; do ",
        "|cat",
        "&&ls",
    ),
    *(
        "ls;",
        "x=a;",
        "echo $x$x;",
        "<<E\n",
        "'",
        '"',
        "$",
        "${x:-",
        "$((",
        "+x",
        "[[ a -eq b && ",
        "! ",
        "*",
        "*a",
    ),
    *(
        "rm ",
        "-a ",
        "env ",
        "sudo ",
        "bwrap a ",
        "xargs ",
        "-exec ls {} \\; ",
        "eval ",
        "bash -c ",
        ">a ",
        "<a ",
        "<>a ",
    ),
    *(
        "# x\n",
        "\\\n",
        "é ",
        "a=(",
        "f() ",
        "<<<",
        ";;&|",
        "((a;",
        "$[",
        ";&",
        "$\\x",
        "@(",
        "! { ls; };",
        "~",
        "../",
    ),
)
HEADS = (
    "",
    "echo ",
    "foo ",
    "ls; ",
    "f() { f; f; }; f ",
    "git ",
    "env -S '",
    "bash -c '",
    "awk '",
    "sed '",
    "cat <<E\n",
)


def seconds(text: str) -> float:
    row = {
        "permissions": PERMISSIONS,
        "mode": "default",
        "tool": "Bash",
        "input": {"command": text},
        "want": ["ask"],
    }
    start = time.process_time()
    judged(row)
    return time.process_time() - start


def texts(random_: random.Random) -> str:
    unit = random_.choice(UNITS) + random_.choice(("", "", *UNITS))
    length = random_.choice((4_000, 9_900, 64_000))
    return (random_.choice(HEADS) + unit * (length // len(unit)))[:length]


@pytest.mark.untraced
@pytest.mark.parametrize("shard", range(4))
def test_any_text_is_judged_in_time(shard: int) -> None:
    random_ = random.Random(shard)
    for _ in range(12):
        text = texts(random_)
        assert seconds(text) < SECONDS, text[:80]


FOUND = {
    "a wrapper of unknown options": "bwrap " + "a " * 4_000,
    "many files written": "".join(f"echo x > f{at}.py;" for at in range(500)) + "python3 f1.py;" * 20,
    "many choices": "".join(f"if ls; then x{at}=a; else x{at}=b; fi;" for at in range(200))
    + "echo $x1$x2$x3",
    "many parameters": "set -- " + "a " * 2_000 + ";" + "echo $@;" * 200,
    "functions of functions": "".join(f"f{at}() {{ f{at + 1}; f{at + 1}; }};" for at in range(250)) + "f0",
    "open patterns in an open text": "cat <<E\n" + "bash -c @(" * 6_400,
    "open arrays": "a=(" * 20_000,
    "redirections both ways": "ls " + "<>a " * 16_000,
    "brackets of sed": "sed 's/" + "[" * 8_000 + "/' f",
    "classes of sed": "sed 's/" + "[[:" * 3_000 + "/' f",
    "names of awk": "awk '{" + "a=b;" * 2_000 + "print $1}' f",
    "actions of find": "find . -name x " + "-exec cat {} + " * 600,
}


@pytest.mark.parametrize("name", FOUND)
def test_a_text_that_was_slow_is_judged_in_time(name: str) -> None:
    assert seconds(FOUND[name]) < SECONDS
