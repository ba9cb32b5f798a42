"""Deny rules on files hold for every command, whatever it does to get around them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.model.rule import parse_rule
from checkrein.policy.policy import compile_policy
from checkrein.policy.starts import Answer, Started, Watch
from checkrein.policy.values import Context
from checkrein.runtime.process.binder import Binder
from checkrein.runtime.process.guard.guard import Guard
from checkrein.runtime.process.spawner import Command, Completed, Spawner

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")
PYTHON = sys.executable


class Everything:
    def judge(self, started: Started, cancel: Cancel) -> Answer:
        return Answer(True)


class Box:
    def __init__(self, root: Path, spawner: Spawner, *rules: str) -> None:
        self.root, self.spawner = root, spawner
        origin = Origin(str(root / ".claude/settings.json"), "project")
        made = [parse_rule(text, "deny", origin, anchor=str(root)) for text in rules]
        self.policy = compile_policy(made)
        self.context = Context(cwd=str(root), home="/nonexistent")
        self.binder = Binder((str(root),), {})

    def run(self, text: str) -> Completed:
        command = Command(
            argv=text.replace("OUTER", str(os.getpid())),
            cwd=str(self.root),
            origin=Origin("<bundled>", "bundled"),
            purpose="a test",
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
            merge_stderr=True,
            timeout=30,
            guard=Guard(watch=Watch(), judge=Everything()),
        )
        return self.spawner.run(self.binder.bind(command, self.policy, self.context), Cancel())

    def python(self, code: str) -> Completed:
        (self.root / "code.py").write_text(code)
        return self.run(f"{PYTHON} code.py")


@pytest.fixture
def guarded_box(tmp_path: Path) -> Iterator[Box]:
    root = tmp_path / "project"
    (root / "kept").mkdir(parents=True)
    (root / "kept/file").write_text("old\n")
    (root / "other").write_text("other\n")
    (root / "a.kept").write_text("old\n")
    with Spawner(lambda origin: True) as spawner:
        yield Box(root, spawner, "Edit(kept/**)", "Edit(*.kept)")


WRITES = (
    "echo x > kept/file",
    "echo x >> kept/file",
    ": > a.kept",
    "echo x > kept/new",
    "echo x > new.kept",
    "echo x > other; mv other kept/file",
    "echo x > other; mv other b.kept",
    "rm kept/file",
    "rm -r kept",
    "mv kept away",
    "mv kept/file away",
    "mv a.kept b",
    "ln kept/file away; echo x > away",
    "ln -s kept/file away; echo x > away",
    "ln -s kept away; echo x > away/file",
    "ln -sfn /tmp kept",
    "mkdir d; echo x > d/c.kept",
    "mkdir d; echo x > d/c; mv d/c d/c.kept",
    "truncate -s 0 kept/file",
    "chmod 777 kept/file",
    "chmod 700 kept",
    "cd kept; echo x > file",
    "cd kept; echo x > ../kept/./file",
    "cd kept; rm file",
    "echo x > /proc/self/cwd/kept/file",
    "exec 3< kept/file; echo x > /proc/self/fd/3",
    "exec 3< kept/file; echo x > /dev/fd/3",
    "cd kept; echo x > /proc/self/cwd/file",
    "mkfifo kept/pipe",
    "mkdir kept/more",
    "tee a.kept < other",
    "sed -i s/old/new/ kept/file",
    "perl -e 'unlink \"kept/file\"'",
    'perl -e \'rename "other", "kept/file"\'',
    "cp other kept/file",
    "dd if=other of=kept/file",
    "dd if=other of=a.kept conv=notrunc",
    "mkdir d; mv d kept/d",
    "mkdir -p d/e; echo x > d/e/f; mv d/e kept/e",
    "mkdir d; echo x > d/f; mv -T d kept",
    "mkdir d; echo x > d/f.txt; cd d; mv f.txt f.kept",
    "busybox sh -c 'echo x > kept/file'",
    "unshare -Urm sh -c 'mount --bind kept other; echo x > other/file'",
    "unshare -Ur chroot . /bin/sh -c 'echo x > /kept/file'",
    "touch new.kept",
    f"{PYTHON} -c \"import socket; socket.socket(1).bind('kept/s')\"",
    f"{PYTHON} -c \"import socket; socket.socket(1).bind('s.kept')\"",
    "echo x > /proc/OUTER/root$PWD/kept/file",
    "rsync -a other kept/file",
    "git init -q . ; git config -f kept/file x.y z",
)


@pytest.mark.parametrize("text", WRITES)
def test_a_denied_write_does_not_happen(text: str, guarded_box: Box) -> None:
    before = (os.stat(guarded_box.root / "kept/file").st_mode, os.stat(guarded_box.root / "kept").st_mode)
    done = guarded_box.run(text)
    assert (guarded_box.root / "kept/file").read_text() == "old\n", done.stdout
    assert (guarded_box.root / "a.kept").read_text() == "old\n", done.stdout
    assert sorted(os.listdir(guarded_box.root / "kept")) == ["file"]
    locks = [str(path.relative_to(guarded_box.root)) for path in guarded_box.root.rglob("*.kept")]
    assert locks == ["a.kept"], done.stdout
    assert (
        os.stat(guarded_box.root / "kept/file").st_mode,
        os.stat(guarded_box.root / "kept").st_mode,
    ) == before


CODES = {
    "rename": "import os; os.rename('other', 'kept/file')",
    "openat2": (
        "import ctypes, os, struct\n"
        "l = ctypes.CDLL(None, use_errno=True)\n"
        "for resolve in (0, 8, 16, 4):\n"
        "    how = struct.pack('=3Q', os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644, resolve)\n"
        "    for name in (b'kept/file', b'kept/new', b'new.kept'):\n"
        "        fd = l.syscall(437, -100, name, how, 24)\n"
        "        if fd >= 0: os.write(fd, b'x')\n"
    ),
    "temporary": (
        "import os\n"
        "fd = os.open('.', os.O_TMPFILE | os.O_RDWR)\n"
        "os.write(fd, b'x')\n"
        "os.link(f'/proc/self/fd/{fd}', 'new.kept', follow_symlinks=True)\n"
    ),
    "exchange": (
        "import ctypes\nctypes.CDLL(None).syscall(316, -100, b'other', -100, b'kept/file', 2)\n"
        "ctypes.CDLL(None).syscall(316, -100, b'kept/file', -100, b'other', 2)\n"
    ),
    "mapped": ("import mmap, os\nfd = os.open('kept/file', os.O_RDWR)\nmmap.mmap(fd, 0)[0:1] = b'X'\n"),
    "thread": (
        "import os, threading, ctypes\n"
        "path = ctypes.create_string_buffer(b'other-file', 64)\n"
        "open('other-file', 'w').close()\n"
        "stop = []\n"
        "def swap():\n"
        "    while not stop:\n"
        "        path.value = b'kept/file'; path.value = b'other-file'\n"
        "t = threading.Thread(target=swap); t.start()\n"
        "l = ctypes.CDLL(None)\n"
        "for _ in range(2000):\n"
        "    fd = l.open(path, os.O_WRONLY)\n"
        "    if fd >= 0: os.write(fd, b'x'); os.close(fd)\n"
        "stop.append(1); t.join()\n"
    ),
    "link race": (
        "import os, threading\n"
        "stop = []\n"
        "os.mkdir('d'); open('d/file', 'w').close()\n"
        "def swap():\n"
        "    while not stop:\n"
        "        for goal in ('kept', 'd'):\n"
        "            try: os.symlink(goal, 'l.new'); os.rename('l.new', 'l')\n"
        "            except OSError: pass\n"
        "t = threading.Thread(target=swap); t.start()\n"
        "for _ in range(500):\n"
        "    try: open('l/file', 'w').write('x')\n"
        "    except OSError: pass\n"
        "stop.append(1); t.join()\n"
    ),
}


@pytest.mark.parametrize("name", CODES)
def test_a_denied_write_by_a_program_does_not_happen(name: str, guarded_box: Box) -> None:
    done = guarded_box.python(CODES[name])
    assert (guarded_box.root / "kept/file").read_text() == "old\n", done.stdout
    assert sorted(os.listdir(guarded_box.root / "kept")) == ["file"]
    assert [path.name for path in guarded_box.root.rglob("*.kept")] == ["a.kept"]


def test_the_rule_is_named(guarded_box: Box) -> None:
    done = guarded_box.run("echo x > kept/file")
    assert b"Permission denied" in done.stdout
    refused = done.refused[0]
    assert refused.effect == "write"
    assert refused.target == str(guarded_box.root / "kept/file")
    assert refused.rule == "Edit(kept/**)"
    assert refused.reason == f"writing {guarded_box.root / 'kept/file'} is denied by Edit(kept/**)"
    assert refused.origin is not None


def test_the_rule_is_named_for_the_place_that_it_means(guarded_box: Box) -> None:
    for text, rule in (
        ("echo x > kept/file", "Edit(kept/**)"),
        ("mv kept away", "Edit(kept/**)"),
        ("mkdir .claude; echo x > .claude/settings.json", "the protection of settings, hooks and rules"),
    ):
        refused = guarded_box.run(text).refused[0]
        assert refused.reason.endswith(f" is denied by {rule}"), text


def test_other_work_goes_on(guarded_box: Box) -> None:
    done = guarded_box.run(
        "set -e; cat kept/file a.kept; echo x > new; echo y >> new; mkdir -p d/e; mv new d/e/f; cp -a d g; "
        "ln -s d l; ln d/e/f h; rm -r g; rmdir d/e 2>/dev/null || true; : > /dev/null; echo e > /dev/stderr; "
        "mkfifo p; (echo through > p) & cat p; umask 077; touch private; chmod 755 d; exec 3<> both; "
        "echo z >&3; cat both; sort < other > sorted; f=$(mktemp); echo t > $f; rm $f; "
        "cd d; echo up > ../up; cat ../up; : > 'a b'; cat <<< here; kill -0 $$; echo ok"
    )
    assert done.exit_code == 0, done.stdout
    assert done.stdout.endswith(b"ok\n")
    assert b"through" in done.stdout
    assert done.refused == ()
    assert (guarded_box.root / "private").stat().st_mode & 0o777 == 0o600
    assert (guarded_box.root / "d").stat().st_mode & 0o777 == 0o755


def test_a_compiler_and_git_work(guarded_box: Box) -> None:
    done = guarded_box.run(
        "set -e; printf 'int main(void){return 0;}' > m.c; gcc -o m m.c; ./m; git init -q repo; cd repo; "
        "git config user.email e; git config user.name n; echo x > f; git add f; git commit -qm m; "
        "git checkout -qb b; git gc -q; git log --oneline | cat; git status --short"
    )
    assert done.exit_code == 0, done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes users")
def test_another_user_has_no_more_rights(guarded_box: Box) -> None:
    root = guarded_box.root
    for folder, mode in ((root, 0o755), (root / "closed", 0o700), (root / "open", 0o777)):
        folder.mkdir(exist_ok=True)
        folder.chmod(mode)
    for above in root.parents:
        if str(above).startswith("/tmp/"):
            above.chmod(0o755)
    (root / "closed/file").write_text("")
    (root / "closed/file").chmod(0o666)
    done = guarded_box.run(
        "setpriv --reuid=65534 --regid=65534 --clear-groups bash -c "
        "'echo x > other; echo x > closed/file; echo x > new; umask 027; echo x > open/made; rm other'"
    )
    assert (root / "other").read_text() == "other\n", done.stdout
    assert (root / "closed/file").read_text() == ""
    assert not (root / "new").exists()
    made = (root / "open/made").stat()
    assert (made.st_uid, made.st_gid, made.st_mode & 0o777) == (65534, 65534, 0o640)


def test_the_descriptors_of_others_stay_theirs(guarded_box: Box) -> None:
    target = guarded_box.root.parent / "mine"
    with open(target, "w") as mine:
        guarded_box.run(f"echo x > /proc/{os.getpid()}/fd/{mine.fileno()}")
    assert target.read_text() == ""


def test_a_project_behind_a_link(guarded_box: Box) -> None:
    link = guarded_box.root.parent / "link"
    link.symlink_to(guarded_box.root)
    other = Box(link, guarded_box.spawner, "Edit(kept/**)")
    other.run("echo x > kept/file")
    assert (guarded_box.root / "kept/file").read_text() == "old\n"


@pytest.fixture
def secret(tmp_path: Path) -> Iterator[Box]:
    root = tmp_path / "project"
    (root / "sub").mkdir(parents=True)
    (root / "private").mkdir()
    (root / "outer/inner").mkdir(parents=True)
    for name in (".env", "sub/.env", "private/key", "outer/inner/key", "x.pem"):
        (root / name).write_text("SECRET\n")
    (root / "open").write_text("open\n")
    (root / "link").symlink_to(".env")
    os.link(root / ".env", root / "twin")
    with Spawner(lambda origin: True) as spawner:
        yield Box(root, spawner, "Read(.env)", "Read(private/**)", "Read(outer/inner/**)", "Read(**/*.pem)")


READS = (
    "cat .env",
    "cat ./sub/../.env",
    "cat link",
    "cat twin",
    "cat sub/.env",
    "cat private/key",
    "cat private/*",
    "cat x.pem",
    "grep -r SECRET .",
    "cp .env y; cat y",
    "mv .env y; cat y",
    "mv sub z; cat z/.env",
    "mv private z; cat z/key",
    "ln .env y; cat y",
    "ln -s private y; cat y/key",
    "tar c . | grep -a SECRET",
    "cat /proc/self/cwd/.env",
    "cat /proc/self/root$PWD/.env",
    "cat /proc/$PPID/root$PWD/.env",
    "cat /proc/1/root$PWD/.env",
    "cat /proc/OUTER/root$PWD/.env",
    "cat /proc/OUTER/task/*/root$PWD/.env",
    "umount .env; cat .env",
    "unshare -Urm sh -c 'umount .env; cat .env'",
    "unshare -m sh -c 'umount .env; cat .env'",
    "nsenter -t 1 -m cat $PWD/.env",
    "perl -e 'open F, \".env\"; print <F>'",
    "dd if=.env",
    "while read l; do echo $l; done < .env",
)


@pytest.mark.parametrize("text", READS)
def test_a_denied_read_does_not_happen(text: str, secret: Box) -> None:
    done = secret.run(text)
    assert b"SECRET" not in done.stdout


MOVES = {
    "mv": "mv outer z",
    "into another": "mkdir w; mv outer w",
    "rename": f"{PYTHON} -c \"import os; os.rename('outer', 'z')\"",
    "the directory of a rule": "mv private z",
    "two places": "mkdir z; mv -T --exchange outer z",
    "a file": "mv outer/inner/key z",
    "a second name": "ln outer/inner/key z",
    "by a mount": "unshare -Urm sh -c 'mount --rbind . /mnt; mv /mnt/outer /mnt/z'",
}


@pytest.mark.parametrize("name", MOVES)
def test_what_is_denied_gets_no_name_that_is_not(name: str, secret: Box) -> None:
    """A name that no rule means would be read by the next command."""
    done = secret.run(MOVES[name])
    assert b"SECRET" not in secret.run("grep -r SECRET . ; cat z").stdout
    assert (secret.root / "outer/inner/key").read_text() == "SECRET\n", done.stdout
    assert (secret.root / "private/key").read_text() == "SECRET\n", done.stdout


def test_what_is_denied_under_both_names_may_move(secret: Box) -> None:
    done = secret.run(
        "set -e; mv sub other; mkdir d; echo x > d/y.pem; mv d e; echo y > f; mv f g; ln g h; cat g h"
    )
    assert done.exit_code == 0, done.stdout
    assert done.stdout == b"y\ny\n"
    assert b"x\n" not in secret.run("cat e/y.pem").stdout
    assert b"SECRET" not in secret.run("cat other/.env").stdout


def test_neighbours_stay_readable(secret: Box) -> None:
    done = secret.run("set -e; cat open; echo new > made; cat made; mkdir -p n/m; echo x > n/m/f; cat n/m/f")
    assert done.exit_code == 0, done.stdout
    assert done.stdout == b"open\nnew\nx\n"
    assert (secret.root / ".env").read_text() == "SECRET\n"


def test_the_next_command_hides_what_is_new(secret: Box) -> None:
    secret.run("mkdir late; echo SECRET > late/y.pem")
    (secret.root / "late/z.pem").write_text("SECRET")
    assert b"SECRET" not in secret.run("cat late/z.pem late/y.pem").stdout
