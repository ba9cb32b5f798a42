"""The compiled form: what it answers by itself, what it leaves to Python, and how it is built."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from checkrein.policy.starts import Watched
from checkrein.runtime.process.guard import client, quick
from checkrein.runtime.process.guard.order_form import packed, text_of
from checkrein.runtime.process.spawner import Spawner

from .conftest import ROOT, Ground, compile_guard

COUNTING = """
import sys; sys.path.insert(0, sys.argv.pop(1))
from checkrein.runtime.process.guard import warden
judge = warden.Warden._judge
def counted(self, launch, notification):
    with open({path!r}, "a") as file:
        file.write(".")
    judge(self, launch, notification)
warden.Warden._judge = counted
warden.main()
"""
ORDER = {
    "cwd": "/",
    "path": "/bin/true",
    "argv": ("true", "ä"),
    "env": {"A": "b=c"},
    "targets": (0, 1, 2),
    "has_ruleset": False,
    "filter": None,
    "capabilities": None,
}


@pytest.fixture
def judged(ground: Ground, library: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a dot for each start that Python has judged."""
    if not library:
        pytest.skip("needs a C compiler")
    path = ground.folder / "judged"
    path.touch()
    monkeypatch.setattr(client, "_PROGRAM", COUNTING.format(path=str(path)))
    return path


def test_python_judges_a_clear_program_once(ground: Ground, judged: Path) -> None:
    assert ground.run("for ((i = 0; i < 200; i++)); do /bin/true $i || exit; done; /bin/true").exit_code == 0
    assert judged.read_text() == "."
    ground.run("/bin/true; /bin/true")
    assert judged.read_text() == "."


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("/bin/rm --help; /bin/rm --version", 2),
        ("/usr/bin/git --version; /usr/bin/git push", 2),
        ("/bin/sh -c :; /bin/sh -c :", 2),
        ("cd /bin; ./true; ./true", 2),
        ("(exec -a one /bin/true); (exec -a two /bin/true)", 2),
        ("/bin/true; cp /bin/true t; $PWD/t; touch t; $PWD/t; $PWD/t", 3),
        ("/proc/self/root/bin/true; /proc/self/root/bin/true", 2),
        ("/bin/true; /bin/true $(printf %020000d 0)", 2),
    ],
)
def test_python_judges_the_rest(ground: Ground, judged: Path, line: str, count: int) -> None:
    if "git" in line and not os.path.exists("/usr/bin/git"):
        pytest.skip("needs git")
    ground.run(line, ground.guard("rm", Watched("git", ("push",))))
    inside = line.count("cp ") + line.count("touch ")  # found on PATH, and clear themselves
    assert len(judged.read_text()) == count + inside


def test_a_program_that_becomes_another_one(ground: Ground, judged: Path) -> None:
    """The same path with the same first word, after it was clear."""
    victim = ground.victim()
    for change in ("cp /bin/rm t", "cp /bin/rm u; mv u t", "ln -sf /bin/rm t"):
        shutil.copy("/bin/true", ground.folder / "t")
        done = ground.run(f"$PWD/t victim; $PWD/t victim; {change}; $PWD/t victim")
        assert len(done.refused) == 1, change
        (ground.folder / "t").unlink()
    assert victim.exists()


def test_rules_that_change_between_commands(ground: Ground, judged: Path) -> None:
    """What is clear under one watch is a question under another, and after a change of PATH's directories."""
    assert ground.run("/bin/true; /bin/true").refused == ()
    assert len(ground.run("/bin/true", ground.guard("true")).refused) == 1
    assert len(ground.run("/bin/true; /bin/true", ground.guard(every=True)).refused) == 2
    assert len(ground.run("/bin/true", ground.guard(only=("ls",))).refused) == 1
    bin_, made = ground.folder / "bin", ground.folder / "bin/true"
    bin_.mkdir()
    shutil.copy("/bin/true", ground.folder / "other")
    env = {"PATH": f"{bin_}:/usr/bin:/bin"}
    guard = ground.guard("forbidden")
    assert ground.run("$PWD/other; $PWD/other", guard, env=env).refused == ()
    made.with_name("forbidden").symlink_to(ground.folder / "other")
    assert len(ground.run("$PWD/other", guard, env=env).refused) == 1


def test_more_starts_than_are_remembered_at_once(ground: Ground, judged: Path) -> None:
    """Those who started something are handed to Python before there is no room for more."""
    count = 1200
    done = ground.run(f"for ((i = 0; i < {count}; i++)); do /bin/true || exit 1; done", timeout=100.0)
    assert (done.exit_code, len(judged.read_text())) == (0, 1 + count // 513)


def test_many_commands_at_once(ground: Ground) -> None:
    """More than there are rooms for compiled children, and for listeners."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(80) as pool:
        done = list(pool.map(lambda number: ground.run(f"sleep 0.3; /bin/echo {number}; rm x"), range(80)))
    assert [one.stdout for one in done] == [b"%d\n" % number for number in range(80)]
    assert [len(one.refused) for one in done] == [1] * 80


@pytest.mark.parametrize("size", [10, 40_000, 120_000])
def test_orders_of_any_size(ground: Ground, size: int) -> None:
    done = ground.run(("/bin/echo", "x" * size), env={"PATH": "/bin", "V": "y" * size})
    assert done.stdout == b"x" * size + b"\n"


def test_an_order_with_the_words_as_they_are() -> None:
    text = text_of(ORDER)
    assert text == "/\0/bin/true\0true\0ä\0A=b=c\0".encode()
    assert packed(ORDER, text, (7, 8, 9))[:20] == b"".join(
        one.to_bytes(4, sys.byteorder) for one in (40 + 24 + len(text), 2, 1, 3, 0)
    )


@pytest.mark.parametrize(
    "change",
    [
        {"argv": ()},
        {"argv": ("a\0b",)},
        {"env": {"A=B": "c"}},
        {"env": {"": "c"}},
        {"argv": ("x" * 40_000,)},
        {"argv": ("x",) * 5000},
        {"filter": bytes(1 << 15)},
    ],
)
def test_orders_for_a_child_in_python(change: dict[str, object]) -> None:
    assert text_of(ORDER | change) is None


def test_a_library_of_another_source_is_not_used(tmp_path: Path, library: str) -> None:
    if not library:
        pytest.skip("needs a C compiler")
    assert quick.usable(library) is not None
    other = tmp_path / "libquick.so"
    assert compile_guard(other, "-UQUICK_SOURCE") == ""
    with pytest.raises(quick.UnusableError, match="another source"):
        quick.load(str(other))
    broken = tmp_path / "broken.so"
    broken.write_text("nothing")
    assert quick.usable(str(broken)) is None
    assert quick.usable(str(tmp_path / "none")) is None


def test_commands_run_without_a_library(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "LIBRARY", str(tmp_path / "none"))
    with Spawner(lambda origin: True) as spawner:
        done = Ground(spawner, ground.folder, False).run("/bin/echo k; /bin/echo k; rm x")
    assert (done.stdout, len(done.refused)) == (b"k\nk\n", 1)


def test_the_sources_compile_without_a_warning(tmp_path: Path, library: str) -> None:
    if not library:
        pytest.skip("needs a C compiler")
    assert compile_guard(tmp_path / "libquick.so", "-Werror") == ""


@pytest.mark.parametrize("has_compiler", [True, False])
def test_the_wheel(tmp_path: Path, library: str, has_compiler: bool) -> None:
    """A compiler makes it a wheel of the platform; without one it is for all."""
    if not library:
        pytest.skip("needs a C compiler")
    env = os.environ | ({} if has_compiler else {"PATH": str(tmp_path)})
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "made")]
    subprocess.run(argv, cwd=ROOT, env=env, check=True, capture_output=True)
    (wheel,) = (tmp_path / "made").iterdir()
    assert wheel.name.endswith("-any.whl") is not has_compiler
    with zipfile.ZipFile(wheel) as file:
        libraries = [name for name in file.namelist() if name.endswith(".so")]
    assert libraries == ["checkrein/runtime/process/guard/libquick.so"] * has_compiler
