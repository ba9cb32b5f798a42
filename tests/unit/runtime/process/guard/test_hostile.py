"""Attacks on the guard itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from checkrein.runtime.process.guard import client

from .conftest import ENV, Ground

NOBODY = 65534
RACE = r"""
#include <pthread.h>
#include <string.h>
#include <unistd.h>
static char path[64] = "/bin/true"; static volatile int go;
static void *flip(void *x) { for (;;) { strcpy(path, "/bin/rm"); strcpy(path, "/bin/true"); } }
int main(void) {
  pthread_t t; char *argv[] = {"true", "victim", 0};
  for (int i = 0; i < 300; i++)
    if (!fork()) { pthread_create(&t, 0, flip, 0); execve(path, argv, 0); _exit(1); }
    else wait(0);
}"""
STEAL = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <fcntl.h>
int main(int n, char **v) {
  int pid = atoi(v[1]), got = 0; char mem[64];
  int p = syscall(434, pid, 0);
  for (int fd = 3; fd < 64; fd++) if (syscall(438, p, fd, 0) >= 0) got++;
  if (ptrace(PTRACE_SEIZE, pid, 0, 0) == 0) got += 1000;
  snprintf(mem, 64, "/proc/%d/mem", pid);
  if (open(mem, O_RDWR) >= 0) got += 2000;
  printf("got %d\n", got);
}"""
COMPAT = r"""
int main(void) {
  long r; char *argv[] = {"rm", "victim", 0};
  __asm__ volatile("int $0x80" : "=a"(r) : "a"(11), "b"("/bin/rm"), "c"(argv), "d"(0) : "memory");
  return 9;
}"""
X32 = r"""
#include <unistd.h>
int main(void) {
  char *argv[] = {"rm", "victim", 0};
  syscall(0x40000000 | 520, "/bin/rm", argv, 0);
  return 9;
}"""
MEMORY = r"""
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static char *map(size_t pages) {  /* nothing is mapped behind it */
  char *at = mmap(0, (pages + 1) * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(at + pages * 4096, 4096);
  return at;
}
int main(int n, char **v) {
  char *end = map(16) + 16 * 4096, *name = "/bin/echo", **argv = calloc(100000, 8);
  int way = atoi(v[1]), count = 0;
  argv[count++] = "echo";
  if (way == 1) argv[count++] = strcpy(end - 6, "at-it");            /* a word ends with its page */
  if (way == 2) name = strcpy(end - 10, "/bin/echo");                 /* the path does */
  if (way == 3) { argv = (char **)end - 3; argv[0] = "echo"; argv[1] = "list"; argv[2] = 0; count = 2; }
  if (way == 4) while (count < 62) argv[count++] = "w";
  if (way == 5) while (count < 63) argv[count++] = "w";
  if (way == 6) while (count < 64) argv[count++] = "w";
  if (way == 7) while (count < 20000) argv[count++] = "w";            /* many words */
  if (way == 8) argv[count++] = memset(calloc(1, 100001), 'x', 100000);
  if (way == 9) { char *long_one = memset(calloc(1, 60001), 'x', 60000);
                  while (count < 20) argv[count++] = long_one; }       /* one word again and again */
  if (way == 10) { argv[count++] = end - 1; *(end - 1) = 'x'; }         /* a word without an end */
  if (way == 11) argv[count++] = (char *)8;                            /* a word that is nowhere */
  if (way == 12) argv[count++] = (char *)UINTPTR_MAX;
  if (way == 13) { argv = (char **)end - 1; argv[0] = "echo"; count = -1; } /* a list without an end */
  if (way == 14) argv = (char **)8, count = -1;
  if (way == 15) name = memset(calloc(1, 9001), '/', 9000);
  if (way == 16) name = "";
  if (way == 17) name = (char *)8;
  if (way == 18) argv[count++] = "";
  if (way == 19) { argv = (char **)((char *)argv + 3); argv[0] = "echo"; argv[1] = "odd"; count = 2; }
  if (way == 20) name = (char *)(UINTPTR_MAX - 5), argv = (char **)(UINTPTR_MAX - 5), count = -1;
  if (count >= 0) argv[count] = 0;
  for (int i = 0; i < 2; i++) {
    int pid = fork(), status;
    if (!pid) { execve(name, argv, 0); _exit(77); }
    waitpid(pid, &status, 0);
    write(1, status ? "-" : "+", 1);
  }
}"""
STARTS = r"""
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>
#include <pthread.h>
static char *argv_[] = {"rm", "victim", 0}, *none[] = {0};
static void *run(void *x) { execve("/bin/rm", argv_, none); return 0; }
int main(int n, char **v) {
  pid_t p; pthread_t t;
  switch (v[1][0]) {
    case 'v': if (!vfork()) { execve("/bin/rm", argv_, none); _exit(1); } wait(0); break;
    case 'p': if (!posix_spawn(&p, "/bin/rm", 0, 0, argv_, none)) wait(0); break;
    case 't': pthread_create(&t, 0, run, 0); pthread_join(t, 0); break;
    case 'n': { char *m[] = {0}; execve("/bin/rm", m, none); break; }
  }
}"""
THREAD = r"""
#include <pthread.h>
#include <unistd.h>
static void *run(void *x) { char *v[] = {"echo", "from a thread", 0}; execve("/bin/echo", v, 0); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); pause(); }"""


def test_threads_that_race(ground: Ground) -> None:
    made, victim = ground.compiled(RACE), ground.victim()
    for _ in range(3):
        done = ground.run((made,))
        assert victim.exists()
        if any(one.ended for one in done.refused):
            assert done.exit_code == 137
            assert "changed" in done.refused[-1].reason


def test_links_that_race(ground: Ground) -> None:
    victim = ground.victim()
    flip = "(while :; do ln -sfn /bin/true l; ln -sfn /bin/rm l; done) & p=$!"
    ground.run(f"{flip}; for i in $(seq 60); do ./l victim 2>/dev/null; done; kill $p", timeout=40.0)
    assert victim.exists()


@pytest.mark.parametrize("user", ["root", "nobody"])
def test_the_listener_cannot_be_stolen(ground: Ground, user: str) -> None:
    made = ground.compiled(STEAL)
    if user == "nobody":
        done = as_nobody(ground, f"{made} $PPID")
    else:
        done = ground.run(f"{made} $PPID").stdout
        assert ground.run(f"{made} {os.getpid()}").stdout == b"got 0\n"
    assert done == b"got 0\n"


@pytest.mark.parametrize("number", ["STOP", "KILL", "TERM", "0"])
def test_nobody_signals_the_warden_or_the_session(ground: Ground, number: str) -> None:
    text = f"for p in $PPID {os.getpid()} -$PPID -1; do kill -{number} -- $p 2>&1; done; echo there"
    assert ground.run(text).stdout.count(b"not permitted") == 4
    limits = "prlimit --pid $PPID --cpu=1:1 2>&1 | grep -c 'not permitted'"
    if shutil.which("prlimit"):
        assert ground.run(limits).stdout == b"1\n"


def test_other_processes_can_be_signalled(ground: Ground) -> None:
    with subprocess.Popen(["sleep", "60"]) as outside:
        text = f"sleep 60 & kill %1; kill -0 $$; kill {outside.pid} && echo sent; kill 0"
        assert ground.run(text).stdout == b"sent\n"
        assert outside.wait(5) == -15


def is_open(path: Path) -> bool:
    return all(one.stat().st_mode & 0o005 == 0o005 for one in (path, *path.parents))


def as_nobody(ground: Ground, text: str, watch: str = "rm") -> bytes:
    """Output and refusals of a guarded command of a whole session that an ordinary user runs."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv")
    code = f"""
import os
from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.policy.starts import *
from checkrein.runtime.process.guard import client
from checkrein.runtime.process.guard.guard import Guard
from checkrein.runtime.process.spawner import *
client.LIBRARY = {client.LIBRARY!r}
class J:
    def judge(self, started, cancel): return Answer(False)
with Spawner(lambda origin: True, compiled={ground.is_compiled}) as spawner:
    done = spawner.run(Command(argv={text!r}, cwd={str(ground.folder)!r},
        origin=Origin("<bundled>", "bundled"), purpose="a test", env={{"PATH": os.defpath}}, timeout=20,
        guard=Guard(watch=Watch(programs=(Watched({watch!r}),)), judge=J())), Cancel())
os.write(1, done.stdout + b"".join(one.reason.encode() + b"!" for one in done.refused if one.reason))
"""
    for folder in (ground.folder, *ground.folder.parents):
        if str(folder).startswith("/tmp/"):
            folder.chmod(folder.stat().st_mode | 0o777)
    own = Path(os.path.realpath(sys.executable))
    pythons = [path for path in (own, Path(f"/usr/bin/{own.name}")) if path.exists() and is_open(path)]
    if not pythons:
        pytest.skip("an ordinary user can't use this Python")
    done = subprocess.run(
        ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", pythons[0], "-c", code],
        capture_output=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": ":".join(path for path in sys.path if path)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_ordinary_user_is_guarded(ground: Ground) -> None:
    victim = ground.victim()
    assert as_nobody(ground, "rm victim; cp /bin/rm x; ./x victim; echo $?") == b"126\n"
    assert victim.exists()


def test_what_an_ordinary_user_cannot_read_is_refused(ground: Ground) -> None:
    hidden = ground.folder / "hidden"
    shutil.copy("/bin/true", hidden)
    hidden.chmod(0o711)
    assert b"can't be read" in as_nobody(ground, "./hidden; echo $?")


@pytest.mark.parametrize("source", [COMPAT, X32], ids=["32-bit", "x32"])
def test_other_calls_of_the_machine(ground: Ground, source: str) -> None:
    made, victim = ground.compiled(source), ground.victim()
    assert ground.run((made,)).exit_code in (159, 9)
    assert victim.exists()


@pytest.mark.parametrize("way", "vptn")
def test_every_kind_of_start(ground: Ground, way: str) -> None:
    made, victim = ground.compiled(STARTS), ground.victim()
    done = ground.run((made, way))
    assert victim.exists()
    assert len(done.refused) == 1


def test_words_from_anywhere_in_memory(ground: Ground) -> None:
    """The guard reads what the kernel would: a start works, or fails, as it does without a guard."""
    made = ground.compiled(MEMORY)
    ground.run("/bin/echo; (exec -a echo /bin/echo)")
    for way in range(21):
        alone = subprocess.run((made, str(way)), capture_output=True)
        done = ground.run((made, str(way)))
        size = len(alone.stdout)
        assert (way, done.size, done.stdout[:9000]) == (way, size, alone.stdout[:9000])
        assert done.refused == ()


def test_a_thread_may_start_a_program(ground: Ground) -> None:
    assert ground.run((ground.compiled(THREAD),)).stdout == b"from a thread\n"


@pytest.mark.parametrize("count", [500, pytest.param(10_000, marks=pytest.mark.campaign)])
def test_many_starts_in_a_row(ground: Ground, count: int) -> None:
    if count > 500 and not os.environ.get("CHECKREIN_CAMPAIGN"):
        pytest.skip("a long run")
    done = ground.run(f"for ((i = 0; i < {count}; i++)); do /bin/true || exit 1; done", timeout=300.0)
    assert (done.exit_code, done.refused) == (0, ())


def test_a_deep_tree(ground: Ground) -> None:
    victim = ground.victim()
    script = ground.folder / "down"
    script.write_text("#!/bin/sh\n[ $1 = 0 ] && { rm victim; exit; }\n./down $(($1 - 1))\n")
    script.chmod(0o755)
    assert {one.argv for one in ground.run("./down 40").refused} == {("rm", "victim")}
    assert victim.exists()


def test_a_debugger_inside(ground: Ground) -> None:
    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    victim = ground.victim()
    done = ground.run("strace -f -o /dev/null sh -c '/bin/echo traced; rm victim; sh -c \"rm victim\"'")
    assert done.stdout == b"traced\n"
    assert {one.argv for one in done.refused} == {("rm", "victim")}
    assert victim.exists()


def test_a_start_that_fails_leaves_nobody_traced(ground: Ground) -> None:
    (ground.folder / "bad").write_bytes(b"\x7fELF" + bytes(60))
    (ground.folder / "bad").chmod(0o755)
    done = ground.run("for i in 1 2 3; do ./bad; done 2>/dev/null; sleep 0.2; grep TracerPid /proc/$$/status")
    assert done.stdout.split() == [b"TracerPid:", b"0"]


def test_a_second_guard_inside_says_that_it_does_not_hold(ground: Ground) -> None:
    code = "from checkrein.runtime.process.guard.availability import guard_status as s; print(s().why)"
    done = ground.run((sys.executable, "-c", code))
    assert b"Checkrein inside Checkrein" in done.stdout


def test_the_starting_thread_may_hold_the_interpreter(ground: Ground) -> None:
    """A thread that computes beside it: no deadlock, and starts are answered outside."""
    stop = threading.Event()

    def compute() -> None:
        while not stop.is_set():
            sum(range(2000))

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        began = time.monotonic()
        assert ground.run("for i in $(seq 100); do /bin/true; done").exit_code == 0
        assert time.monotonic() - began < 20
    finally:
        stop.set()
        thread.join()


def test_a_command_outlives_the_thread_that_started_it(ground: Ground) -> None:
    made = []
    command = ground.command("sleep 0.3; echo alive", spill=str(ground.folder / "out"))
    thread = threading.Thread(target=lambda: made.append(ground.spawner.start(command)))
    thread.start()
    thread.join()
    assert made[0].wait(20) == 0
    assert Path(ground.folder / "out").read_bytes() == b"alive\n"


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
def test_with_a_sandbox(ground: Ground, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from checkrein.runtime.process.sandbox import SandboxPolicy, bubblewrap, detection, landlock

    there = bubblewrap.detect()[0] if kind == "bubblewrap" else landlock.detect()
    if there is None:
        pytest.skip(f"{kind} does not work here")
    monkeypatch.setattr(detection, "detect", lambda: there)
    victim = ground.victim()
    policy = SandboxPolicy(write=(str(ground.folder),))
    done = ground.run(
        "echo in; rm victim; cp /bin/rm x; ./x victim; touch /etc/x; echo y > z", sandbox=policy
    )
    assert done.stdout == b"in\n", done
    assert len(done.refused) == 2
    assert victim.exists()
    assert not Path("/etc/x").exists()
    assert (ground.folder / "z").exists()


TRACED_RACE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
static char path[64] = "/bin/true", *words[] = {"true", "victim", 0}, *none[] = {0};
static void *flip(void *x) {
  for (;;) {
    strcpy(path, "/bin/rm"); for (volatile int i = 0; i < 200; i++);
    strcpy(path, "/bin/true"); for (volatile int i = 0; i < 200; i++);
  }
}
int main(void) {
  for (int i = 0; i < 60; i++) {
    int ends[2], status; char go; pthread_t t; pipe(ends);
    int child = fork();
    if (!child) {
      if (i) pthread_create(&t, 0, flip, 0);  /* the first one only has a tracer */
      read(ends[0], &go, 1); execve(path, words, none); _exit(1);
    }
    usleep(300); ptrace(PTRACE_SEIZE, child, 0, 0); write(ends[1], "x", 1); close(ends[0]); close(ends[1]);
    while (waitpid(child, &status, __WALL) == child && !WIFEXITED(status) && !WIFSIGNALED(status))
      ptrace(PTRACE_CONT, child, 0, 0);
  }
  puts("raced");
}"""


def test_a_race_under_a_tracer_of_its_own(ground: Ground) -> None:
    made, victim = ground.compiled(TRACED_RACE), ground.victim()
    done = ground.run((made,))
    assert done.stdout == b"raced\n"
    assert victim.exists()
    assert any("traces the process" in one.reason for one in done.refused)


def test_a_tracer_called_like_a_debugger(ground: Ground) -> None:
    ground.run("true")
    made, victim = ground.compiled(TRACED_RACE, name="strace"), ground.victim()
    assert ground.run((made,)).stdout == b"raced\n"
    assert victim.exists()


def test_a_race_under_a_debugger_of_the_machine(ground: Ground) -> None:
    if shutil.which("strace") is None:
        pytest.skip("needs strace")
    made, victim = ground.compiled(RACE), ground.victim()
    ground.run(("strace", "-f", "-o", "/dev/null", made))
    assert victim.exists()


def test_a_daemon_with_a_socket_in_an_unusual_place(ground: Ground) -> None:
    """It runs outside of the command, so nobody would judge what it starts."""
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    from checkrein.runtime.process.sandbox import SandboxPolicy

    victim, place = ground.victim(), str(ground.folder / "s")
    outside = ["tmux", "-f", "/dev/null", "-S", place]
    started = subprocess.run([*outside, "new-session", "-d", "sleep 60"], env=ENV, capture_output=True)
    if started.returncode:
        pytest.skip("tmux does not start here")
    try:
        policy = SandboxPolicy(write=None, network=True, unix_sockets=True, daemons=False)
        done = ground.run(f"tmux -S {place} run-shell 'rm {victim}'; echo $?", sandbox=policy)
        assert victim.exists()
        assert any(one.effect == "net" for one in done.refused)
    finally:
        subprocess.run([*outside, "kill-server"], env=ENV)
