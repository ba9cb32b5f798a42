"""The profile for macOS, as text: no test here can run it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checkrein.runtime.process.sandbox import SandboxPolicy, detection, seatbelt
from checkrein.runtime.process.sandbox.policy import ProxyOnly
from support.calls import rules

POLICY = SandboxPolicy(
    write=("/p", "/private/tmp"),
    deny_write=("/p/.git/hooks", "/p/.claude/settings.json"),
    deny_read=("/p/.env",),
)


def lines(policy: SandboxPolicy) -> list[str]:
    return seatbelt.profile(policy).splitlines()


def test_a_whole_profile() -> None:
    assert lines(POLICY) == [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty")'
        ' (literal "/dev/stdout") (literal "/dev/stderr") (literal "/dev/dtracehelper"))',
        '(allow file-write* (subpath "/p") (subpath "/private/tmp"))',
        '(deny file-write* (subpath "/p/.git/hooks") (subpath "/p/.claude/settings.json"))',
        '(deny file-write-unlink (literal "/p/.claude") (literal "/p/.git"))',
        '(deny file-read* (subpath "/p/.env"))',
        '(deny file-write* (subpath "/p/.env"))',
        "(deny network*)",
    ]


def test_a_command_that_only_reads_has_no_place_to_write() -> None:
    said = lines(SandboxPolicy(write=()))
    assert [line for line in said if "file-write*" in line and "/dev/null" not in line] == [
        "(deny file-write*)"
    ]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (SandboxPolicy(write=(), network=True, unix_sockets=True), []),
        (
            SandboxPolicy(write=(), network=True),
            [
                "(deny network-outbound (remote unix-socket))",
                '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
            ],
        ),
        (
            SandboxPolicy(write=(), proxy=ProxyOnly(host="127.0.0.1", port=8123)),
            ["(deny network*)", '(allow network-outbound (remote tcp "localhost:8123"))'],
        ),
        (
            SandboxPolicy(write=(), unix_sockets=True),
            ["(deny network*)", "(allow network-outbound (remote unix-socket))"],
        ),
    ],
)
def test_the_network(policy: SandboxPolicy, said: list[str]) -> None:
    assert [line for line in lines(policy) if "network" in line] == said


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ('/p/a "b"', '"/p/a \\"b\\""'),
        ("/p/a\\b", '"/p/a\\\\b"'),
        ("/p/ünï/日本", '"/p/ünï/日本"'),
        ('/p/x"))(allow default)("', '"/p/x\\"))(allow default)(\\""'),
        ("/p/\\", '"/p/\\\\"'),
    ],
)
def test_paths_stay_strings(path: str, said: str) -> None:
    assert seatbelt.quoted(path) == said
    assert f"(deny file-read* (subpath {said}))" in lines(SandboxPolicy(write=(), deny_read=(path,)))


@pytest.mark.parametrize(
    ("rule", "inside", "outside"),
    [
        (
            "Read(**/*.pem)",
            ["/p/a.pem", "/p/x/y/a.pem", "/p/dir.pem/file"],
            ["/p/a.pem2", "/q/a.pem", "/p/apem"],
        ),
        ("Read(.env)", ["/p/.env", "/p/sub/.env"], ["/p/xenv", "/p/.env.example"]),
        ("Read(./src/*.key)", ["/p/src/a.key"], ["/p/src/x/a.key", "/p/other/a.key"]),
        ("Read(~/.ssh/**)", ["/h/.ssh/id", "/h/.ssh/x/y", "/h/.ssh"], ["/h/.sshx", "/p/.ssh/id"]),
        ("Read(//etc/passwd)", ["/etc/passwd"], ["/p/etc/passwd", "/etc/passwd2"]),
        ("Read(a+b(c).txt)", ["/p/a+b(c).txt"], ["/p/aab(c).txt", "/p/abc.txt"]),
        ("Read(file[0-9].txt)", ["/p/file1.txt"], ["/p/filex.txt", "/p/file/.txt"]),
        ("Read(file[!0-9].txt)", ["/p/filex.txt"], ["/p/file1.txt", "/p/file/.txt"]),
        ("Read(a?c)", ["/p/abc"], ["/p/a/c", "/p/ac"]),
        ('Read(we"ird)', ['/p/we"ird'], ["/p/weird"]),
        ("Read(日本/*)", ["/p/日本/a"], ["/p/a"]),
        ("Read", ["/p/x", "/etc/passwd"], []),
    ],
)
def test_patterns_of_rules(rule: str, inside: list[str], outside: list[str]) -> None:
    found = seatbelt.patterns(rules(f"deny {rule}"), "Read", root="/p", home="/h")
    (line,) = [one for one in lines(SandboxPolicy(write=(), deny_read_like=found)) if "file-read*" in one]
    text = re.fullmatch(r'\(deny file-read\* \(regex #"(.*)"\)\)', line)
    assert text is not None
    assert "(?" not in text[1], "the rule language has no such groups"
    expression = re.compile(text[1].replace('\\"', '"'))
    assert [path for path in inside if not expression.search(path)] == []
    assert [path for path in outside if expression.search(path)] == []


def test_a_pattern_can_not_end_its_string() -> None:
    found = seatbelt.patterns(rules('deny Read(x")(allow default)#")'), "Read", root='/p"q', home="/h")
    (line,) = [one for one in lines(SandboxPolicy(write=(), deny_read_like=found)) if "file-read*" in one]
    assert len(re.findall(r'(?<!\\)"', line)) == 2


def test_programs_that_rules_deny_whatever_their_arguments() -> None:
    paths = {"curl": ["/usr/bin/curl"], "rm": ["/bin/rm", "/opt/rm"], "g++": ["/usr/bin/g++"]}
    said = seatbelt.programs(
        rules(
            "deny Bash(curl:*)", "deny Bash(rm *)", "deny Bash(git push *)", "deny Bash(ls)",
            "deny Bash(g++ *)", "allow Bash(cat *)", "deny Bash(* x *)", "deny Bash", "deny Read(curl *)",
        ),
        lambda name: paths.get(name, [f"/unexpected/{name}"]),
    )  # fmt: skip
    assert said == ("/bin/rm", "/opt/rm", "/usr/bin/curl", "/usr/bin/g++")
    policy = SandboxPolicy(write=(), deny_exec=said[:2])
    assert '(deny process-exec* (literal "/bin/rm") (literal "/opt/rm"))' in lines(policy)


def test_the_command_that_starts() -> None:
    prepared = seatbelt.wrap(("bash", "-c", "ls"), POLICY)
    assert prepared.argv == (seatbelt.PROGRAM, "-p", seatbelt.profile(POLICY), "bash", "-c", "ls")


def test_what_other_systems_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    assert "WSL" in (detection.detect.__wrapped__().fix or "")
    monkeypatch.setattr("sys.platform", "darwin")
    assert detection.detect.__wrapped__().kind == "none"
    monkeypatch.setattr("checkrein.runtime.process.launches.probe", lambda argv: b"")
    status = detection.detect.__wrapped__()
    assert status.kind == "seatbelt"
    assert "no test of Checkrein has run this profile on macOS" in status.missing
    monkeypatch.setattr("checkrein.runtime.process.sandbox.detection.detect", lambda: status)
    assert detection.wrap(("ls",), str(Path("/p")), POLICY).argv[0] == seatbelt.PROGRAM
