"""The sandbox: what a permitted command can't do. Where there is no sandbox, these tests do not run."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkrein.base.errors import PolicyError
from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.runtime.process import sandbox
from checkrein.runtime.process.sandbox import SandboxPolicy, SandboxSettings, SandboxStatus, detection
from checkrein.runtime.process.spawner import Command, Completed, Spawner

ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}


def found(kind: str) -> SandboxStatus | None:
    if not sys.platform.startswith("linux"):
        return None
    from checkrein.runtime.process.sandbox import bubblewrap, landlock

    return bubblewrap.detect()[0] if kind == "bubblewrap" else landlock.detect()


class Box:
    def __init__(self, spawner: Spawner, root: Path, outside: Path, kind: str) -> None:
        self.root, self.outside, self.kind = root, outside, kind
        self._spawner = spawner
        self.policy = SandboxPolicy(write=(str(root),), deny_read=(str(outside / "secret"),))

    def run(self, text: str, **policy: object) -> Completed:
        import msgspec

        return self._spawner.run(
            Command(
                argv=text,
                cwd=str(self.root),
                origin=Origin("<bundled>", "bundled"),
                purpose="a test",
                env=ENV,
                merge_stderr=True,
                timeout=20,
                sandbox=msgspec.structs.replace(self.policy, **policy),
            ),
            Cancel(),
        )

    def python(self, code: str, **policy: object) -> Completed:
        return self.run(f"{sys.executable} -c '{code}'", **policy)


@pytest.fixture(params=["bubblewrap", "landlock"])
def box(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Box]:
    kind = request.param
    there = found(kind)
    if there is None:
        pytest.skip(f"{kind} does not work here")
    monkeypatch.setattr(detection, "detect", lambda: there)
    root, outside = tmp_path / "project", tmp_path / "outside"
    for directory in (root, outside / "secret"):
        directory.mkdir(parents=True)
    (outside / "secret" / "key").write_text("SECRET")
    (outside / "open").write_text("open")
    with Spawner(lambda origin: True) as spawner:
        yield Box(spawner, Path(os.path.realpath(root)), Path(os.path.realpath(outside)), kind)


def test_work_in_the_project_goes_on(box: Box) -> None:
    done = box.run("mkdir -p a/b && echo x > a/b/c && mv a/b/c d && cat d && rm -r a && echo ok > /dev/null")
    assert (done.exit_code, done.stdout) == (0, b"x\n")
    assert (box.root / "d").read_text() == "x\n"


def test_a_denied_file_cannot_be_read(box: Box) -> None:
    done = box.python(f'print(open("{box.outside}/secret/key").read())')
    assert done.exit_code != 0
    assert b"SECRET" not in done.stdout
    assert box.run(f"cat {box.outside}/open").stdout == b"open"
    for way in (f"cd {box.outside}/secret; cat key", f"ln -s {box.outside}/secret/key l; cat l"):
        assert b"SECRET" not in box.run(way).stdout


def test_a_denied_file_in_the_project_cannot_be_read(box: Box) -> None:
    (box.root / ".env").write_text("SECRET")
    (box.root / "other").write_text("other")
    done = box.run(
        "cat .env; cp .env copy; cat copy; mv .env moved; cat moved; cat other",
        deny_read=(str(box.root / ".env"),),
    )
    assert b"SECRET" not in done.stdout
    assert done.stdout.endswith(b"other")


def test_nothing_is_written_outside(box: Box) -> None:
    target = box.outside / "new"
    assert box.python(f'open("{target}", "w").write("x")').exit_code != 0
    assert box.python(f'open("{box.outside}/open", "a").write("x")').exit_code != 0
    for way in (
        f"rm {box.outside}/open",
        f"mv {box.outside}/open moved",
        f"ln -s {box.outside} link && echo x > link/new",
        f"mkdir {target}",
        f"truncate -s 0 {box.outside}/open",
        f"ln -s /x {target}",
    ):
        assert box.run(way).exit_code != 0, way
    assert not os.path.lexists(target)
    assert (box.outside / "open").read_text() == "open"


def test_the_network_is_out_of_reach(box: Box) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    connect = f'import socket; socket.create_connection(("127.0.0.1", {port}), 3)'
    assert box.python(connect).exit_code != 0
    udp = f'import socket; s = socket.socket(2, 2); s.sendto(b"x", ("127.0.0.1", {port}))'
    assert box.python(udp).exit_code != 0
    listener.settimeout(0.1)
    with pytest.raises(TimeoutError):
        listener.accept()
    assert box.python(connect, network=True).exit_code == 0
    listener.close()


def test_sockets_to_other_programs_are_out_of_reach(box: Box) -> None:
    name = str(box.root / "s")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(name)
    listener.listen()
    connect = f'import socket; socket.socket(socket.AF_UNIX).connect("{name}")'
    assert box.python(connect).exit_code != 0
    assert box.python(connect, unix_sockets=True).exit_code == 0
    assert box.python("import socket; socket.socketpair()").exit_code == 0
    listener.close()


def test_other_processes_are_out_of_reach(box: Box) -> None:
    own = os.getpid()
    assert box.run(f"kill -0 {own}").exit_code != 0 or box.kind == "landlock"
    assert b"PATH=" not in box.run(f"cat /proc/{own}/environ").stdout


def test_privileges_cannot_be_used_to_get_out(box: Box) -> None:
    for way in ("mount -o remount,rw /", f"mount --bind {box.outside} {box.root}", "mknod d b 7 0"):
        assert box.run(way).exit_code != 0, way
    assert b"NoNewPrivs:\t1" in box.run("grep NoNewPrivs /proc/self/status").stdout


def test_a_part_of_the_project_can_be_kept(box: Box) -> None:
    if box.kind == "landlock":
        pytest.skip("Landlock can't take back a part of what it allows; the status says so")
    hooks = box.root / ".git" / "hooks"
    hooks.mkdir(parents=True)
    kept = {"deny_write": (str(hooks),)}
    assert box.run("echo x > .git/hooks/pre-commit", **kept).exit_code != 0
    assert (
        box.run("mv .git away && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit", **kept).exit_code
        != 0
    )
    assert box.run("echo x > .git/index", **kept).exit_code == 0
    assert list(hooks.iterdir()) == []


def test_the_session_ends_sandboxed_children_too(box: Box) -> None:
    from checkrein.runtime.process.guard.descent import marked

    box.run("setsid sleep 1000 >/dev/null 2>&1 & echo")
    box._spawner.close()
    assert marked(box._spawner._mark) == set()


def test_the_thread_that_starts_it_is_the_only_one_that_gives_up_rights(box: Box) -> None:
    box.run("true")
    (box.outside / "mine").write_text("still allowed")
    socket.socket(socket.AF_UNIX).close()


def test_without_a_sandbox_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detection, "detect", lambda: SandboxStatus(kind="none", fix="Install it."))
    policy = SandboxPolicy(write=(str(tmp_path),))
    with pytest.raises(PolicyError) as refused:
        sandbox.wrap(("true",), "/", policy)
    assert refused.value.kind == "sandbox_unavailable"
    with Spawner(lambda origin: True) as spawner, pytest.raises(PolicyError):
        spawner.run(
            Command(
                argv=f"touch {tmp_path}/ran",
                cwd="/",
                origin=Origin("<bundled>", "bundled"),
                purpose="a test",
                env=ENV,
                sandbox=policy,
            ),
            Cancel(),
        )
    assert list(tmp_path.iterdir()) == []


def test_settings() -> None:
    made = sandbox.sandbox_settings(
        {
            "sandbox.enabled": True,
            "sandbox.excludedCommands": ["docker", "git push"],
            "sandbox.filesystem.denyRead": ["~/.ssh"],
            "sandbox.network.allowedDomains": "all",
            "sandbox.failIfUnavailable": "yes",
            "other": 1,
        }
    )
    assert made == SandboxSettings(
        enabled=True, excluded_commands=("docker", "git push"), deny_read=("~/.ssh",)
    )


def test_the_policy_of_a_project(tmp_path: Path) -> None:
    root = os.path.realpath(tmp_path)
    settings = SandboxSettings(
        allow_write=("~/cache", "build"), deny_write=("/etc",), deny_read=("~/.ssh", "~/.ssh/id", "//opt/x")
    )
    policy = sandbox.policy_for(
        settings, root=root, home="/home/me", temporary="/tmp", deny_read=(f"{root}/.env",)
    )
    assert set(policy.write) == {root, "/tmp", "/home/me/cache"} or root.startswith("/tmp")
    assert set(policy.deny_read) == {"/home/me/.ssh", "/opt/x", f"{root}/.env"}
    assert "/etc" in policy.deny_write
    assert f"{root}/.git/hooks" in policy.deny_write
    assert (policy.network, policy.unix_sockets) == (False, False)


def test_only_a_star_opens_the_network(tmp_path: Path) -> None:
    def network(*domains: str) -> bool:
        settings = SandboxSettings(allowed_domains=domains)
        return sandbox.policy_for(settings, root=str(tmp_path), home="/h").network

    assert (network(), network("example.com"), network("*")) == (False, False, True)


def test_everything_but_the_denied_is_readable(tmp_path: Path) -> None:
    from checkrein.runtime.process.sandbox.landlock import readable

    root = os.path.realpath(tmp_path)
    for name in ("a/x", "a/y", "b/z", "c"):
        path = Path(root, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    assert sorted(readable(root, (f"{root}/a/x", f"{root}/c"))) == [f"{root}/a/y", f"{root}/b"]
    assert list(readable(root, ("/elsewhere",))) == [root]


def test_the_filter_of_sockets() -> None:
    from checkrein.runtime.process.sandbox import seccomp

    if not seccomp.is_known_machine():
        pytest.skip("this machine's system calls are not known")
    assert seccomp.program(network=True, unix_sockets=True) is None
    closed = seccomp.program(network=False, unix_sockets=False)
    assert closed is not None
    assert len(closed) % 8 == 0
    opened = seccomp.program(network=True, unix_sockets=False)
    assert opened is not None
    assert len(opened) > len(closed)


def test_detecting_says_what_is_enforced() -> None:
    made = sandbox.detect()
    assert made.kind in ("bubblewrap", "landlock", "none")
    assert bool(made.enforced) == (made.kind != "none")
    assert made.fix or made.kind == "bubblewrap"
