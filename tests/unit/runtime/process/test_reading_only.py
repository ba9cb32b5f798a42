"""A command that needs no approval because it only reads can do nothing else, whatever its text hides."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

import pytest

from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.runtime.process import sandbox
from checkrein.runtime.process.sandbox import SandboxPolicy, SandboxStatus, detection, reading_only
from checkrein.runtime.process.spawner import Command, Completed, Spawner

ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}
PYTHON = sys.executable

WRITES = (
    "echo x > new",
    ": > kept",
    "echo x >> kept",
    "[ -v 'a[$(touch new)]' ]",
    "git reflog --output=kept",
    "git log --output=new",
    "sort -o kept kept",
    "echo x | tee kept",
    "sed -i s/a/b/ kept",
    "sed -n 'w new' kept",
    "find . -name kept -delete",
    "find . -name kept -fprint new",
    "rm kept",
    "mv kept new",
    "ln kept new",
    "ln -s kept new",
    "mkdir new",
    "mkfifo new",
    "truncate -s 0 kept",
    "chmod 777 kept",
    "touch -d 2001-01-01 kept",
    "touch -d 2001-01-01 .",
    "chattr +d kept",
    "git config x.y z",
    "git update-ref refs/heads/x HEAD",
    "git status --porcelain; git add kept",
    "setfattr -n user.x -v 1 kept",
    f"{PYTHON} -c \"import os; os.setxattr('kept', 'user.x', b'1')\"",
    f"{PYTHON} -c \"import os; os.utime('kept', (1, 1))\"",
    f"{PYTHON} -c \"import os; os.chown('kept', os.getuid(), os.getgid()); os.chmod('kept', 0o777)\"",
    f"{PYTHON} -c \"import os; os.fchmod(os.open('kept', os.O_RDONLY), 0o777)\"",
    f"{PYTHON} -c \"open('/proc/self/cwd/kept', 'w')\"",
    f"{PYTHON} -c \"import mmap, os; mmap.mmap(os.open('kept', os.O_RDWR), 0)[0:1] = b'X'\"",
)


@pytest.fixture(params=["landlock", "bubblewrap"])
def status(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SandboxStatus:
    if not sys.platform.startswith("linux"):
        pytest.skip("Linux only")
    from checkrein.runtime.process.sandbox import bubblewrap, landlock

    found = landlock.detect_reading() if request.param == "landlock" else bubblewrap.detect()[0]
    if found is None:
        pytest.skip(f"{request.param} does not work here")
    monkeypatch.setattr(detection, "detect_reading", lambda: found)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kept").write_text("a\n")
    os.utime(tmp_path / "kept", (1_000_000_000, 1_000_000_000))
    return tmp_path


def run(spawner: Spawner, root: Path, text: str, policy: SandboxPolicy | None = None) -> Completed:
    command = Command(
        argv=text,
        cwd=str(root),
        origin=Origin("<bundled>", "bundled"),
        purpose="a test",
        env=ENV,
        merge_stderr=True,
        timeout=20,
        sandbox=policy or reading_only(),
    )
    return spawner.run(command, Cancel())


def picture(root: Path) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for directory, folders, files in os.walk(root):
        for name in (".", *folders, *files):
            path = os.path.join(directory, name)
            about = os.lstat(path)
            data = Path(path).read_bytes() if name in files else b""
            times = (about.st_mtime_ns, about.st_ctime_ns)
            attributes = tuple(os.listxattr(path, follow_symlinks=False))
            found.append((path, about.st_mode, about.st_uid, about.st_nlink, times, attributes, data))
    return sorted(found, key=str)


@pytest.mark.parametrize("text", WRITES)
def test_nothing_is_written(text: str, status: SandboxStatus, spawner: Spawner, folder: Path) -> None:
    for line in ("git init -q .", "git -c user.name=n -c user.email=e commit -q --allow-empty -m m"):
        plain = Command(
            argv=line, cwd=str(folder), origin=Origin("<bundled>", "bundled"), purpose="git", env=ENV
        )
        assert spawner.run(plain, Cancel()).exit_code == 0
    before = picture(folder)
    run(spawner, folder, text)
    assert picture(folder) == before


def test_reading_goes_on(status: SandboxStatus, spawner: Spawner, folder: Path) -> None:
    done = run(
        spawner,
        folder,
        "cat kept; ls; wc -l < kept; grep -r a . 2>/dev/null; cat <<< here; "
        "sort kept | uniq -c > /dev/null; cat <(echo inner); echo err >&2",
    )
    assert done.exit_code == 0, done.stdout
    for word in (b"a\n", b"here", b"inner", b"err"):
        assert word in done.stdout


def test_the_temporary_directory_is_its_own(status: SandboxStatus, spawner: Spawner, folder: Path) -> None:
    done = run(spawner, folder, 'f=$(mktemp) && echo x > "$f" && cat "$f" && echo "$TMPDIR"')
    assert done.exit_code == 0, done.stdout
    written, place = done.stdout.decode().split()
    assert written == "x"
    assert not os.path.exists(place)
    other = run(spawner, folder, 'echo x > "$(dirname "$TMPDIR")/other-checkrein"; echo $?')
    assert other.stdout.strip().endswith(b"1")


def test_no_socket_is_opened(status: SandboxStatus, spawner: Spawner, folder: Path) -> None:
    with socket.socket() as server, socket.socket(socket.AF_UNIX) as local:
        server.bind(("127.0.0.1", 0))
        server.listen()
        local.bind(str(folder / "s"))
        local.listen()
        port = server.getsockname()[1]
        for make, address in (
            ("socket.socket()", f"('127.0.0.1', {port})"),
            ("socket.socket(type=2)", f"('127.0.0.1', {port})"),
            ("socket.socket(1)", f"{str(folder / 's')!r}"),
        ):
            done = run(spawner, folder, f'{PYTHON} -c "import socket; {make}.connect({address})"')
            assert done.exit_code == 1, done.stdout
            assert b"PermissionError" in done.stdout or b"Errno" in done.stdout


def test_a_hidden_place_stays_hidden(status: SandboxStatus, spawner: Spawner, folder: Path) -> None:
    (folder / "secret").write_text("SECRET")
    inside = SandboxPolicy(write=(str(folder),), deny_read=(str(folder / "secret"),))
    done = run(spawner, folder, "cat secret; cat kept", reading_only(inside))
    assert b"SECRET" not in done.stdout
    assert b"a\n" in done.stdout


def test_the_temporary_directory_ends_with_a_command_in_the_background(
    status: SandboxStatus, spawner: Spawner, folder: Path
) -> None:
    command = Command(
        argv='echo "$TMPDIR"; touch "$TMPDIR/x"; sleep 0.2',
        cwd=str(folder),
        origin=Origin("<bundled>", "bundled"),
        purpose="a test",
        env=ENV,
        spill=str(folder / "out"),
        sandbox=reading_only(),
    )
    running = spawner.start(command)
    assert running.wait(10) == 0
    place = (folder / "out").read_text().strip()
    assert place
    limit = time.monotonic() + 5
    while os.path.exists(place) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not os.path.exists(place)


def test_what_holds_it_is_said() -> None:
    made = sandbox.detect_reading()
    assert bool(made.enforced) == (made.kind != "none")
