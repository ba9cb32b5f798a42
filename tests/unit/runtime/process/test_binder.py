"""One call binds a command: the rules of the moment, on files, hosts and protected places."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.model.rule import parse_rule
from checkrein.policy.connections import HostLists
from checkrein.policy.policy import Policy, compile_policy
from checkrein.policy.starts import Answer, Started, Watch, Watched
from checkrein.policy.values import Context, Mode
from checkrein.runtime.process.binder import Binder, Terms, host_lists
from checkrein.runtime.process.guard.guard import Guard
from checkrein.runtime.process.protected import ProtectedFiles
from checkrein.runtime.process.sandbox import SandboxPolicy, SandboxSettings
from checkrein.runtime.process.spawner import Command, Completed, Spawner

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")


class Everything:
    def judge(self, started: Started, cancel: Cancel) -> Answer:
        return Answer(True)


class Bound:
    def __init__(self, root: Path, spawner: Spawner) -> None:
        self.root, self.spawner = root, spawner
        protected = ProtectedFiles((str(root),), str(root.parent / "aside"))
        self.binder = Binder((str(root),), {}, protected=protected)

    def policy(self, *denied: str, mode: Mode = "default", allowed: tuple[str, ...] = ()) -> Policy:
        origin = Origin(str(self.root / ".claude/settings.json"), "user")
        rules = [parse_rule(text, "deny", origin, anchor=str(self.root)) for text in denied]
        rules += [parse_rule(text, "allow", origin, anchor=str(self.root)) for text in allowed]
        return compile_policy(rules, mode)

    def bind(
        self,
        text: str,
        policy: Policy,
        terms: Terms | None = None,
        *,
        guarded: bool = True,
        watch: Watch | None = None,
        sandbox: SandboxPolicy | None = None,
    ) -> Command:
        command = Command(
            argv=text,
            cwd=str(self.root),
            origin=Origin("<bundled>", "bundled"),
            purpose="a test",
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
            merge_stderr=True,
            timeout=30,
            sandbox=sandbox,
            guard=Guard(watch=watch or Watch(), judge=Everything()) if guarded else None,
        )
        context = Context(cwd=str(self.root), home="/nonexistent")
        return self.binder.bind(command, policy, context, terms or Terms())

    def run(
        self, text: str, policy: Policy, terms: Terms | None = None, *, guarded: bool = True
    ) -> Completed:
        return self.spawner.run(self.bind(text, policy, terms, guarded=guarded), Cancel())


@pytest.fixture
def bound(tmp_path: Path, spawner: Spawner) -> Iterator[Bound]:
    root = tmp_path / "project"
    (root / ".claude").mkdir(parents=True)
    (root / ".claude/settings.json").write_text("{}")
    (root / ".env").write_text("SECRET\n")
    (root / "kept").write_text("old\n")
    made = Bound(root, spawner)
    yield made
    made.binder.close()


def test_without_rules_nothing_but_the_watch_is_added(bound: Bound) -> None:
    command = bound.bind("true", bound.policy())
    assert command.sandbox is None
    assert command.lease is None
    assert command.protect is not None


@pytest.mark.parametrize("guarded", [True, False])
def test_reads_and_writes_are_denied_with_and_without_the_guard(bound: Bound, guarded: bool) -> None:
    from checkrein.runtime.process.sandbox import detect

    if not guarded and detect().kind != "bubblewrap":
        pytest.skip("nothing else keeps parts of a tree from being written")
    policy = bound.policy("Read(.env)", "Edit(kept)")
    done = bound.run("cat .env; echo x > kept; echo y > free; cat free; cat kept", policy, guarded=guarded)
    assert b"SECRET" not in done.stdout
    assert done.stdout.endswith(b"y\nold\n"), done.stdout
    assert (bound.root / "kept").read_text() == "old\n"
    assert (bound.root / "free").read_text() == "y\n"


def test_protected_files_are_judged_where_files_are(bound: Bound) -> None:
    done = bound.run("echo x > .claude/settings.json", bound.policy("Edit(kept)"))
    assert done.refused[0].target.endswith(".claude/settings.json")
    assert done.restored == ()


def test_protected_files_are_restored_elsewhere(bound: Bound) -> None:
    done = bound.run("echo x > .claude/settings.json", bound.policy())
    assert done.refused == ()
    assert done.restored
    assert (bound.root / ".claude/settings.json").read_text() == "{}"


@pytest.mark.parametrize("denied", [(), ("Edit(kept)",)])
def test_a_rule_for_the_place_or_the_approval_lets_a_change_pass(
    bound: Bound, denied: tuple[str, ...]
) -> None:
    path = bound.root / ".claude/settings.json"
    allowed = bound.policy(*denied, allowed=("Edit(.claude/settings.json)",))
    done = bound.run("echo 1 > .claude/settings.json", allowed)
    assert (path.read_text(), done.restored, done.refused) == ("1\n", (), ())
    everything = bound.policy(*denied, allowed=("Edit", "Edit(**)"))
    bound.run("echo 2 > .claude/settings.json", everything)
    assert path.read_text() == "1\n"
    named = Terms(may_change=lambda one: one == os.path.realpath(path))
    bound.run("echo 3 > .claude/settings.json", bound.policy(*denied), named)
    assert path.read_text() == "3\n"
    bound.run("echo 4 > .claude/settings.json", bound.policy(mode="bypassPermissions"))
    assert path.read_text() == "4\n"


def test_a_command_that_only_reads_is_held_to_it(bound: Bound) -> None:
    policy = bound.policy("Read(.env)")
    done = bound.run("cat kept .env; echo x > new", policy, Terms(only_reads=True))
    assert b"old" in done.stdout
    assert b"SECRET" not in done.stdout
    assert not (bound.root / "new").exists()


def test_only_what_was_judged_starts(bound: Bound) -> None:
    command = bound.bind(
        "[ -v 'a[$(touch new)]' ]; cat kept",
        bound.policy(),
        Terms(only_reads=True),
        watch=Watch(only=("cat",)),
    )
    done = bound.spawner.run(command, Cancel())
    assert b"old" in done.stdout
    assert [os.path.basename(one.program) for one in done.refused] == ["touch"]


def test_denied_hosts_bring_the_proxy(bound: Bound) -> None:
    policy = bound.policy("WebFetch(domain:evil.example)")
    done = bound.run("curl -sS http://evil.example/; env | grep -ci http_proxy=", policy)
    assert b"denied by WebFetch(domain:evil.example)" in done.stdout
    assert done.stdout.endswith(b"2\n")
    assert [one.target for one in done.refused] == ["evil.example:80"]
    assert done.refused[0].rule == "WebFetch(domain:evil.example)"
    assert bound.bind("true", policy, guarded=False).lease is None


def test_a_sandbox_with_names(tmp_path: Path, bound: Bound) -> None:
    lists = host_lists(SandboxSettings(allowed_domains=("good.example",), denied_domains=("x.example",)))
    assert lists == HostLists(allowed=("good.example",), denied=("x.example",))
    assert host_lists(SandboxSettings(allowed_domains=("*",))) == HostLists()
    bound.binder = Binder((str(bound.root),), {}, lists=lists)
    closed = SandboxPolicy(write=(str(bound.root),))
    command = bound.bind(
        "curl -sS http://other.example/; echo x > new; echo y > ../out; cat new",
        bound.policy(),
        sandbox=closed,
    )
    assert command.sandbox is not None
    assert command.sandbox.proxy is not None
    assert not command.sandbox.proxy.loopback
    done = bound.spawner.run(command, Cancel())
    assert b"other.example is not in sandbox.network.allowedDomains" in done.stdout
    assert done.stdout.endswith(b"x\n"), done.stdout
    assert not (bound.root.parent / "out").exists()


def test_daemons_are_closed_where_starts_are_watched(bound: Bound) -> None:
    command = bound.bind("true", bound.policy(), watch=Watch(programs=(Watched("rm"),)))
    assert command.sandbox is not None
    assert not command.sandbox.daemons
    assert bound.spawner.run(command, Cancel()).exit_code == 0


def test_other_names_of_denied_files(bound: Bound) -> None:
    for folder in ("secrets", "src"):
        (bound.root / folder).mkdir()
        (bound.root / folder / "file").write_text("SECRET\n")
        os.link(bound.root / folder / "file", bound.root / f"{folder}-twin")
        os.link(bound.root / folder / "file", bound.root.parent / f"{folder}-twin")
    policy = bound.policy("Read(secrets/**)", "Edit(src/**)")
    done = bound.run("cat secrets-twin; echo x > src-twin; echo x >> ../src-twin", policy)
    assert b"SECRET" not in done.stdout
    assert (bound.root / "src/file").read_text() == "SECRET\n"


def test_a_rule_about_this_machine_closes_it(bound: Bound) -> None:
    command = bound.bind("true", bound.policy("WebFetch(domain:127.0.0.1)"))
    assert command.sandbox is not None
    assert command.sandbox.proxy is not None
    assert not command.sandbox.proxy.loopback
