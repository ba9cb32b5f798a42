"""The network by name: commands reach what rules permit, through the proxy of the session, nothing else."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.model.rule import parse_rule
from checkrein.policy.connections import HostLists, HostVerdict, judge_host, needs_proxy
from checkrein.policy.policy import compile_policy
from checkrein.policy.starts import Answer, Started, Watch
from checkrein.policy.values import Context
from checkrein.runtime.process.guard.guard import Guard
from checkrein.runtime.process.names import NamedHosts
from checkrein.runtime.process.proxy import Lease, NameProxy
from checkrein.runtime.process.proxy_wire import server_name
from checkrein.runtime.process.sandbox import SandboxPolicy
from checkrein.runtime.process.sandbox.policy import ProxyOnly
from checkrein.runtime.process.spawner import Command, Completed, Spawner

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")
PYTHON = sys.executable
CONTEXT = Context(cwd="/", home="/nonexistent")


class Everything:
    def judge(self, started: Started, cancel: Cancel) -> Answer:
        return Answer(True)


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._say(f"page for {self.headers['Host']} {self.path}")

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length", 0))
        self._say(self.rfile.read(size).decode())

    def _say(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


class Redirected(NamedHosts):
    """Every name is a server of this machine."""

    port = 0

    def dial(self, host: str, port: int, named: bool) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port))


class Net:
    def __init__(self, spawner: Spawner, port: int, *rules: str, lists: HostLists | None = None) -> None:
        self.spawner, self.port = spawner, port
        origin = Origin("/p/.claude/settings.json", "project")
        policy = compile_policy([parse_rule(text, "deny", origin, anchor="/") for text in rules])
        self.judge = Redirected(policy, CONTEXT, lists or HostLists(), {})
        self.judge.port = port
        self.proxy = NameProxy()
        self.lease: Lease = self.proxy.lease(self.judge)

    def run(self, text: str, *, loopback: bool = False, daemons: bool = True) -> Completed:
        host, port = self.proxy.address
        policy = SandboxPolicy(
            write=None,
            network=True,
            unix_sockets=True,
            proxy=ProxyOnly(host=host, port=port, loopback=loopback, rule="WebFetch(domain:evil.example)"),
            daemons=daemons,
        )
        command = Command(
            argv=text,
            cwd="/",
            origin=Origin("<bundled>", "bundled"),
            purpose="a test",
            env={
                "PATH": os.environ["PATH"],
                "HOME": "/nonexistent",
                **self.proxy.env(self.lease, loopback=loopback),
            },
            merge_stderr=True,
            timeout=30,
            sandbox=policy,
            guard=Guard(watch=Watch(), judge=Everything()),
        )
        return self.spawner.run(command, Cancel())

    def python(self, code: str, **more: bool) -> Completed:
        return self.run(f"{PYTHON} - <<'END'\n{code}\nEND", **more)


@pytest.fixture
def page() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield int(server.server_address[1])
    server.shutdown()
    server.server_close()


@pytest.fixture
def net(page: int, spawner: Spawner) -> Iterator[Net]:
    made = Net(spawner, page, "WebFetch(domain:evil.example)", "WebFetch(domain:*.evil.example)")
    yield made
    made.proxy.close()


def test_a_permitted_host_is_reached(net: Net) -> None:
    done = net.run("curl -sS http://good.example/x; curl -sS -d hello http://good.example/")
    assert done.stdout == b"page for good.example /xhello", done
    done = net.python("import urllib.request as r; print(r.urlopen('http://good.example/y').read().decode())")
    assert done.stdout == b"page for good.example /y\n"
    assert net.lease.refused == []


def test_a_denied_host_is_refused_with_its_rule(net: Net) -> None:
    done = net.run("curl -sS http://evil.example/x; curl -sS https://a.evil.example/")
    assert b"page" not in done.stdout
    assert b"denied by WebFetch(domain:evil.example)" in done.stdout
    hosts = [(one.host, one.rule) for one in net.lease.refused]
    assert hosts == [
        ("evil.example", "WebFetch(domain:evil.example)"),
        ("a.evil.example", "WebFetch(domain:*.evil.example)"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "curl -sS -H 'Host: evil.example' http://good.example/",
        "curl -sS http://EVIL.example./",
        "curl -sS -x '' http://127.0.0.1:$PORT/",
        "curl -sS --noproxy '*' http://127.0.0.1:$PORT/",
        "exec 3<>/dev/tcp/127.0.0.1/$PORT; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3",
        "env -u http_proxy -u HTTP_PROXY -u all_proxy -u ALL_PROXY curl -sS http://127.0.0.1:$PORT/",
        "curl -sS -x http://127.0.0.1:$PORT http://evil.example/",
    ],
)
def test_other_ways_are_closed(text: str, net: Net) -> None:
    done = net.run(text.replace("$PORT", str(net.port)))
    assert b"page" not in done.stdout
    assert done.refused or net.lease.refused


CODES = {
    "plain": "s.connect(('127.0.0.1', PORT))",
    "mapped": "s = socket.socket(socket.AF_INET6); s.connect(('::ffff:127.0.0.1', PORT))",
    "unspecified": "s.connect(('0.0.0.0', PORT))",
    "fast open": "s.sendto(b'GET / HTTP/1.0\\r\\n\\r\\n', 0x20000000, ('127.0.0.1', PORT))",
    "fast open message": "s.sendmsg([b'GET / HTTP/1.0\\r\\n\\r\\n'], [], 0x20000000, ('127.0.0.1', PORT))",
    "mptcp": "s = socket.socket(2, 1, 262); s.connect(('127.0.0.1', PORT))",
    "udp": "socket.socket(2, 2).sendto(b'x', ('127.0.0.1', PORT)); print('page')",
    "raw": "socket.socket(2, 3, 1); print('page')",
    "packet": "socket.socket(17, 3); print('page')",
    "vsock": "socket.socket(40, 1); print('page')",
    "proxy's port elsewhere": "s.settimeout(3); s.connect(('127.0.0.2', PROXY))",
    "unix": "socket.socket(socket.AF_UNIX, 2, 0)",
    "nonblocking": "s.setblocking(False); s.connect_ex(('127.0.0.1', PORT)); s.setblocking(True); "
    "s.getpeername()",
}


@pytest.mark.parametrize("name", CODES)
def test_no_other_socket_reaches_anything(name: str, net: Net) -> None:
    code = CODES[name].replace("PORT", str(net.port)).replace("PROXY", str(net.proxy.address[1]))
    done = net.python(
        f"import socket\ns = socket.socket()\n{code}\n"
        "s.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n'); print(s.recv(1000))"
    )
    assert b"page" not in done.stdout, done.stdout
    assert done.exit_code != 0


def test_a_second_thread_can_not_swap_the_address(net: Net) -> None:
    proxy = net.proxy.address[1]
    done = net.python(
        "import ctypes, socket, struct, threading\n"
        f"good = struct.pack('=H', 2) + struct.pack('!H', {proxy}) + bytes([127, 0, 0, 1]) + bytes(8)\n"
        f"bad = struct.pack('=H', 2) + struct.pack('!H', {net.port}) + bytes([127, 0, 0, 1]) + bytes(8)\n"
        "place = ctypes.create_string_buffer(good, 16)\n"
        "stop = []\n"
        "def swap():\n"
        "    while not stop:\n"
        "        place[:] = bad; place[:] = good\n"
        "t = threading.Thread(target=swap); t.start()\n"
        "l = ctypes.CDLL(None)\n"
        "for _ in range(300):\n"
        "    s = socket.socket()\n"
        "    if l.connect(s.fileno(), place, 16) == 0 and s.getpeername()[1] != PROXY: print('page')\n"
        "    s.close()\n"
        "stop.append(1); t.join()\n".replace("PROXY", str(proxy))
    )
    assert b"page" not in done.stdout


def test_what_was_refused_is_said(net: Net) -> None:
    done = net.run(f"curl -sS -x '' http://127.0.0.1:{net.port}/")
    refused = done.refused[0]
    assert refused.effect == "net"
    assert refused.target == f"127.0.0.1:{net.port}"
    assert "Programs that ignore HTTP_PROXY" in refused.reason
    assert refused.rule == "WebFetch(domain:evil.example)"


def test_this_machine_can_stay_open(net: Net) -> None:
    done = net.run(f"curl -sS http://127.0.0.1:{net.port}/a", loopback=True)
    assert done.stdout.startswith(b"page")


def test_only_the_command_itself_has_the_token(net: Net) -> None:
    host, port = net.proxy.address
    with socket.create_connection((host, port)) as client:
        client.sendall(b"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n")
        assert b" 407 " in client.recv(1000)
    net.lease.close()
    assert b"page" not in net.run("curl -sS http://good.example/").stdout


def test_two_requests_in_one_connection(net: Net) -> None:
    """The second one would go to the host of the first without a judgement."""
    import base64

    token = base64.b64encode(f"x:{net.lease.token}".encode()).decode()
    with socket.create_connection(net.proxy.address) as client:
        client.sendall(
            f"GET http://good.example/1 HTTP/1.1\r\nHost: good.example\r\n"
            f"Proxy-Authorization: Basic {token}\r\n\r\n"
            "GET /2 HTTP/1.1\r\nHost: evil.example\r\n\r\n".encode()
        )
        answer = b""
        while data := client.recv(1000):
            answer += data
    assert b"good.example /1" in answer
    assert b"evil" not in answer


def test_the_daemons_of_others_are_out_of_reach(net: Net, tmp_path: Path) -> None:
    folder = tmp_path / "tmux-0"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as agent:
        server.bind(str(folder / "default"))
        agent.bind(str(tmp_path / "agent"))
        for one in (server, agent):
            one.listen()
        code = "import socket; socket.socket(1).connect({!r}); print('in')"
        done = net.python(code.format(str(folder / "default")), daemons=False)
        assert b"in\n" not in done.stdout
        assert done.refused[0].target == str(folder / "default")
        assert net.python(code.format(str(tmp_path / "agent")), daemons=False).stdout == b"in\n"
    own = (
        "import os, socket, time\n"
        f"os.chdir({str(folder)!r}); s = socket.socket(1); s.bind('own'); s.listen()\n"
        "socket.socket(1).connect('own'); print('in')"
    )
    assert net.python(own, daemons=False).stdout == b"in\n"


def test_verdicts_on_hosts() -> None:
    origin = Origin("/p", "project")
    rules = [
        parse_rule("WebFetch(domain:evil.example)", "deny", origin, anchor="/"),
        parse_rule("WebFetch(domain:maybe.example)", "ask", origin, anchor="/"),
        parse_rule("WebFetch(domain:box.lan)", "allow", origin, anchor="/"),
    ]
    policy = compile_policy(rules)

    def verdict(host: str, lists: HostLists | None = None) -> HostVerdict:
        return judge_host(policy, CONTEXT, lists or HostLists(), host)

    assert verdict("EVIL.example.").verdict == "deny"
    assert verdict("maybe.example").verdict == "ask"
    assert verdict("other.example").verdict == "allow"
    assert verdict("box.lan").named
    assert not verdict("other.example").named
    only = HostLists(allowed=("*.good.example",), denied=("bad.good.example",))
    assert verdict("a.good.example", only).verdict == "allow"
    assert verdict("bad.good.example", only).verdict == "deny"
    assert verdict("other.example", only).verdict == "deny"
    assert needs_proxy(policy, CONTEXT)
    assert not needs_proxy(compile_policy(), CONTEXT)


def test_private_addresses_need_a_name() -> None:
    hosts = NamedHosts(compile_policy(), CONTEXT, HostLists(), {})
    with pytest.raises(PermissionError, match="not public"):
        hosts.dial("localhost", 9, False)
    with pytest.raises(ConnectionRefusedError):
        hosts.dial("127.0.0.1", 9, True)


def test_the_name_in_a_greeting() -> None:
    import ssl

    context = ssl.create_default_context()
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(into, out, server_hostname="a.evil.example")
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    greeting = out.read()
    assert server_name(greeting) == "a.evil.example"
    assert server_name(b"SSH-2.0-x\r\n") == ""
    cut = greeting[:3] + (20).to_bytes(2, "big") + greeting[5:25]
    with pytest.raises(ValueError, match="pieces"):
        server_name(cut)


def test_another_name_inside_tls_is_judged(net: Net) -> None:
    done = net.run("curl -sS -k --connect-to evil.example:443:good.example:443 https://evil.example/ -m 5")
    assert done.exit_code != 0
    assert [one.host for one in net.lease.refused] == ["evil.example"]
