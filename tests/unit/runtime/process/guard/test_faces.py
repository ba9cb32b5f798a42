"""The identity of a program is not its name."""

from __future__ import annotations

import re
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.policy.starts import Watched
from checkrein.runtime.process.guard.faces import is_interpreter, is_loader

from .conftest import Ground

MEMORY = """import os
fd = os.memfd_create("x", {flags})
os.write(fd, open("/bin/rm", "rb").read())
os.execve({target}, ["x", "victim"], {{}})"""


@pytest.mark.parametrize(
    "way",
    [
        "/bin/rm victim",
        "cp /bin/rm x; ./x victim",
        "cp /bin/rm x; echo >> x; ./x victim",
        "ln -s /bin/rm x; ./x victim",
        "ln /bin/rm x 2>/dev/null || cp /bin/rm x; ./x victim",
        "(exec -a harmless rm victim)",
        "/lib64/ld-linux-x86-64.so.2 /bin/rm victim",
        "cp /bin/rm x; /lib64/ld-linux-x86-64.so.2 --argv0 y --library-path /lib ./x victim",
        "cd /bin; /lib64/ld-linux-x86-64.so.2 ./rm $OLDPWD/victim",
        "LD_LIBRARY_PATH=/bin /lib64/ld-linux-x86-64.so.2 rm victim",
        "cp /lib64/ld-linux-x86-64.so.2 x; ./x /bin/rm victim",
        "cp /lib64/ld-linux-x86-64.so.2 x; LD_LIBRARY_PATH=/bin:/lib/x86_64-linux-gnu ./x rm victim",
        "busybox rm victim",
        "cp $(command -v busybox) rm; ./rm victim",
        "(exec -a rm busybox victim)",
        "busybox busybox rm victim",
        "busybox xargs rm < list",
        "busybox sh -c 'rm victim'",
        "printf '#!/bin/rm -f\\n' > victim; chmod +x victim; ./victim",
        "printf '#!/bin/sh\\nrm victim\\n' > s; chmod +x s; ./s",
        "printf '#!/bin/sh\\nrm victim\\n' > s; chmod +x s; printf '#!./s\\n' > t; chmod +x t; ./t",
        "xargs rm < list",
        "find . -name victim -exec rm {} +",
        "env -i PATH=/bin rm victim",
        "setsid -w rm victim",
        "nice nohup timeout 5 rm victim",
        "cp /bin/rm x; exec 5<x; command rm x; /proc/self/fd/5 victim",
        "cp /bin/rm x; exec 5<x; /dev/fd/5 victim",
        "cp /bin/rm x; (rm x; ./x victim)",
        'perl -e \'exec {"/bin/rm"} "", "victim"\'',
        "awk 'BEGIN { system(\"rm victim\") }'",
        "unshare -m sh -c 'mount --bind /bin/rm /bin/true; /bin/true victim'",
    ],
)
def test_the_same_program_by_another_way(ground: Ground, way: str) -> None:
    if "busybox" in way and shutil.which("busybox") is None:
        pytest.skip("needs busybox")
    victim = ground.victim()
    (ground.folder / "list").write_text("victim\n")
    done = ground.run(way)
    assert victim.exists(), done
    assert done.refused, done


@pytest.mark.parametrize("flags", [0, 1])
@pytest.mark.parametrize("target", ["fd", "f'/proc/self/fd/{fd}'"])
def test_memory_files(ground: Ground, flags: int, target: str) -> None:
    victim = ground.victim()
    (ground.folder / "m.py").write_text(MEMORY.format(flags=flags, target=target))
    done = ground.run("python3 m.py")
    assert victim.exists()
    assert done.refused


def test_a_deleted_executable(ground: Ground) -> None:
    victim = ground.victim()
    code = "import os; fd = os.open('x', 0); os.unlink('x'); os.execve(fd, ['x', 'victim'], {})"
    done = ground.run(f'cp /bin/rm x; python3 -c "{code}"')
    assert victim.exists()
    assert done.refused


def test_an_interpreter_with_the_file_of_a_watched_program(ground: Ground) -> None:
    script = ground.folder / "deploy"
    script.write_text("#!/bin/sh\necho deployed\n")
    script.chmod(0o755)
    guard = ground.guard(Watched(str(script)))
    for way in (
        "./deploy",
        "sh deploy",
        "bash -e ./deploy now",
        "cp deploy other; ./other",
        "ln -s deploy l; sh l",
        "cp /bin/sh x; ./x deploy",
        "cp deploy d; mkdir s; mv d s; ./s/d",
        "sh " + "-o errexit " * 40 + "deploy",
        "sh < deploy",
        "sh -s now < deploy",
        "busybox sh other",
    ):
        if "busybox" in way and shutil.which("busybox") is None:
            continue
        done = ground.run(way, guard)
        assert (b"deployed" in done.stdout, len(done.refused)) == (False, 1), way


def test_one_file_with_many_names_is_not_all_of_them(ground: Ground) -> None:
    """As on systems where one program is every command."""
    if shutil.which("busybox") is None:
        pytest.skip("needs busybox")
    names = ("ls", "cat", "rm", "true", "echo", "head", "busybox")
    (ground.folder / "bin").mkdir()
    for name in names:
        (ground.folder / "bin" / name).symlink_to("/bin/busybox")
    env = {"PATH": f"{ground.folder}/bin"}
    victim = ground.victim()
    done = ground.run(("/bin/bash", "-c", "ls; cat victim; rm victim; busybox rm victim"), env=env)
    assert b"still here" in done.stdout
    assert victim.exists()
    assert [one.argv for one in done.refused] == [("rm", "victim")] * 2


def test_a_copy_of_a_script_that_changes_afterwards(ground: Ground) -> None:
    script = ground.folder / "deploy"
    script.write_text("#!/bin/sh\necho deployed\n")
    script.chmod(0o755)
    done = ground.run("cp deploy other; : > deploy; ./other", ground.guard(Watched(str(script))))
    assert (b"deployed" in done.stdout, len(done.refused)) == (False, 1)


def test_data_for_an_interpreter_is_not_its_program(ground: Ground) -> None:
    script = ground.folder / "deploy"
    script.write_text("#!/bin/sh\necho deployed\n")
    script.chmod(0o755)
    (ground.folder / "show.sh").write_text("cat\n")
    guard = ground.guard(Watched(str(script)))
    for way in ("sh show.sh < deploy", "sh -c cat < deploy", "sh -ec cat < deploy", "cat deploy"):
        done = ground.run(way, guard)
        assert (b"deployed" in done.stdout, done.refused) == (True, ()), way


@pytest.mark.parametrize("link", ["ln", "ln -s"])
def test_many_names_do_not_make_another_program(ground: Ground, link: str) -> None:
    """`rm` is a file of its own name: who adds six names to it has six more names of `rm`."""
    (ground.folder / "bin").mkdir()
    shutil.copy("/bin/rm", ground.folder / "bin/rm")
    env = {"PATH": f"{ground.folder}/bin:/usr/bin:/bin"}
    victim = ground.victim()
    ground.run(f"cd bin; for i in 1 2 3 4 5 6 7; do {link} rm r$i; done", env=env)
    done = ground.run("r1 victim", env=env)
    assert victim.exists()
    assert done.refused


LOADERS = re.compile(rb"ld([-.].*)?\.so(\..*)?\Z", re.DOTALL)
INTERPRETERS = re.compile(
    rb"(ba|da|z|k|mk|pdk|a|hu|fi|c|tc|r)?sh(\d.*)?\Z|(python|pypy|perl|ruby|node|nodejs|php|lua|tclsh|deno|bun|awk|"
    rb"gawk|mawk|env|expect|wish|guile|Rscript|osascript|pwsh)[\d.]*\Z",
    re.DOTALL,
)
PARTS = st.sampled_from(
    [
        *b"ld - . .so .2 sh bash k93 python 3 3.11 node env x \n z fish 5.2-static linux-x86-64 awk".split(
            b" "
        ),
        b" ",
    ]
)


@given(st.lists(PARTS, max_size=5).map(b"".join))
def test_names_of_loaders_and_interpreters(name: bytes) -> None:
    assert is_loader(name) == bool(LOADERS.match(name))
    assert is_interpreter(name) == bool(INTERPRETERS.match(name))
