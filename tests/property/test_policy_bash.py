"""What bash really runs: a line that is allowed under `deny Bash(rm *)` never starts rm.

Lines are damaged at random and given to bash with a search path that holds harmless stand-ins only; the one
for rm leaves a mark.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from checkrein.policy.lines import answer

BASH = shutil.which("bash")
PERMISSIONS = {"allow": ["Bash"], "deny": ["Bash(rm *)"]}

SEEDS = (
    "rm a",
    "\\rm a",
    "r''m a",
    "$'\\x72m' a",
    "ls; rm a",
    "ls\n\\rm a",
    "X=rm; $X a",
    "${X:-rm} a",
    'A=(rm a); "${A[@]}"',
    'f() { "$@"; }; f rm a',
    "(rm a)",
    "{ rm a; }",
    "if ls; then rm a; fi",
    "for i in rm; do $i a; done",
    "case x in x) rm a;; esac",
    "while rm a; do break; done",
    "echo $(rm a)",
    'echo "`rm a`"',
    "cat <<E\n$(rm a)\nE",
    "bash <<'E'\nrm a\nE",
    "sh -c 'rm a'",
    "eval 'rm a'",
    "trap 'rm a' EXIT",
    "r{m,x} a",
    "[[ x =~ $(rm a) ]]",
    "for ((i=0;i<$(rm a);i++)); do ls; done",
    "ls | xargs rm",
    "time -p rm a",
    'set -- rm a; "$@"',
    "! rm a",
    "ls > $(rm a)",
    "coproc rm a",
)
PIECES = (
    *"$(){}[]<>'\"`\\;&|#*?!=\n\t rmxX1@-+,:",
    *("$(", "${", "&&", "||", ";;", "<<", "<(", "\\\n", '"$@"', "$X", "X=rm", "rm", "ls", "eval ", "}; "),
    *(" ; ", "$'", "<<E\n", "\nE\n", "é", " # ", "<<-E\n\t"),
)


def damaged(random_: random.Random) -> str:
    text = random_.choice(SEEDS)
    for _ in range(random_.randint(1, 4)):
        at = random_.randint(0, len(text))
        chance = random_.random()
        if chance < 0.5:
            text = text[:at] + random_.choice(PIECES) + text[at:]
        elif chance < 0.8:
            text = text[:at] + text[at + random_.randint(1, 3) :]
        else:
            text = text[:at] + text[at : at + 12] + text[at:]
    return text


def stand_ins(directory: Path) -> Path:
    directory.mkdir()
    for name, body in (("rm", 'echo > "$MARK"'), ("ls", ":"), ("xargs", '"$@"')):
        file = directory / name
        file.write_text(f"#!{BASH}\n{body}\n")
        file.chmod(0o755)
    for name in ("bash", "sh", "cat"):
        real = shutil.which(name)
        assert real is not None
        (directory / name).symlink_to(real)
    return directory


def run_bounded(argv: list[str], cwd: Path, env: dict[str, str]) -> None:
    """Run a line for five seconds at most; nothing of it goes on after."""
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        argv, cwd=cwd, env=env, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.skipif(BASH is None, reason="needs bash")
@pytest.mark.parametrize("shard", range(4))
def test_an_allowed_line_does_not_run_what_is_denied(shard: int, tmp_path: Path) -> None:
    programs = stand_ins(tmp_path / "bin")
    work = tmp_path / "work"
    work.mkdir()
    mark = tmp_path / "mark"
    random_ = random.Random(shard)
    ran = 0
    while ran < 60:
        text = damaged(random_)
        record = {"permissions": PERMISSIONS, "tool": "Bash", "input": {"command": text}}
        if "\0" in text or answer(record, cwd="/p", home="/h").line.verdict != "allow":
            continue
        ran += 1
        environment = {"PATH": str(programs), "HOME": str(work), "MARK": str(mark)}
        assert BASH is not None
        run_bounded([BASH, "--norc", "--noprofile", "-c", text], work, environment)
        assert not mark.exists(), text
