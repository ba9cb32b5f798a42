from __future__ import annotations

import contextlib
import gzip
import http.server
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.policy.hosts import is_private_address
from checkrein.runtime.tools import address, webfetch
from checkrein.runtime.tools.html_markdown import to_markdown

Desk = Any
LOCAL = ("127.0.0.1", "localhost")
BOMB = gzip.compress(bytes(11 << 20), 1)
BIG = bytes(11 << 20)
PAGE = "<html><head><title>A page</title></head><body><h1>Hi</h1><p>Text</p></body></html>"


class Site(http.server.BaseHTTPRequestHandler):
    """Answers by path; counts what it is asked."""

    seen: list[tuple[str, dict[str, str]]]

    def do_GET(self) -> None:
        self.seen.append((self.path, dict(self.headers)))
        if self.path == "/slow":
            time.sleep(5)
        answers: dict[str, tuple[int, dict[str, str], bytes]] = {
            "/": (200, {"Content-Type": "text/html; charset=utf-8"}, PAGE.encode()),
            "/plain": (200, {"Content-Type": "text/plain"}, b"just text"),
            "/latin": (200, {"Content-Type": "text/plain; charset=iso-8859-1"}, b"caf\xe9"),
            "/odd": (200, {"Content-Type": "text/plain; charset=no-such"}, b"text"),
            "/pdf": (200, {"Content-Type": "application/pdf"}, b"%PDF-1.4\0\1\2"),
            "/gzip": (200, {"Content-Encoding": "gzip"}, gzip.compress(b"packed")),
            "/bomb": (200, {"Content-Encoding": "gzip"}, BOMB),
            "/big": (200, {}, BIG),
            "/gone": (404, {}, b"no"),
            "/here": (302, {"Location": "/"}, b""),
            "/loop": (302, {"Location": "/loop"}, b""),
            "/there": (301, {"Location": "https://example.com/x"}, b""),
            "/inside": (302, {"Location": "http://169.254.169.254/latest/meta-data"}, b""),
            "/user": (302, {"Location": f"http://u:p@{self.headers['Host']}/"}, b""),
        }
        code, headers, body = answers.get(self.path, (200, {}, b"else"))
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    Site.seen = []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def fetch(desk: Desk, url: str, **more: Any) -> Any:
    return desk.run("WebFetch", {"url": url, "prompt": "What?"}, approved_hosts=LOCAL, **more)


def refused(desk: Desk, url: str, **more: Any) -> str:
    settings = {"approved_hosts": LOCAL} | more
    return str(desk.failure("WebFetch", {"url": url, "prompt": "What?"}, **settings))


def test_a_page_becomes_markdown(desk: Desk, site: str) -> None:
    done = fetch(desk, f"{site}/")
    assert done.content == "# A page\n\n# Hi\n\nText"
    assert done.structured | {"durationMs": 0} == {
        "bytes": len(PAGE),
        "code": 200,
        "codeText": "OK",
        "result": done.content,
        "durationMs": 0,
        "url": f"{site}/",
    }
    assert Site.seen[0][1]["User-Agent"].startswith("Checkrein-User/")


@pytest.mark.parametrize(
    ("path", "text"),
    [("/plain", "just text"), ("/latin", "café"), ("/odd", "text"), ("/gzip", "packed"), ("/here#x", "Hi")],
)
def test_kinds_of_answers(desk: Desk, site: str, path: str, text: str) -> None:
    assert text in fetch(desk, site + path).content


def test_what_is_no_text_is_in_a_file(desk: Desk, site: str) -> None:
    path = fetch(desk, f"{site}/pdf").content.rpartition(" ")[2]
    assert path.endswith(".pdf")
    assert Path(path).read_bytes() == b"%PDF-1.4\0\1\2"


def test_a_model_answers_the_question(desk: Desk, site: str) -> None:
    asked: list[tuple[str, str]] = []

    def model(instructions: str, text: str) -> str:
        asked.append((instructions, text))
        return "the answer"

    assert fetch(desk, f"{site}/plain", ask_model=model).content == "the answer"
    assert "just text" in asked[0][1]
    assert "What?" in asked[0][1]


def test_limits(desk: Desk, site: str) -> None:
    assert "larger than 10 MiB" in refused(desk, f"{site}/big")
    assert "larger than 10 MiB" in refused(desk, f"{site}/bomb")
    assert "404" in refused(desk, f"{site}/gone")
    assert "redirects" in refused(desk, f"{site}/loop")


def test_another_host_is_told_not_followed(desk: Desk, site: str) -> None:
    done = fetch(desk, f"{site}/there")
    assert "https://example.com/x" in done.content
    assert (done.structured["code"], len(Site.seen)) == (301, 1)
    assert "169.254.169.254" in fetch(desk, f"{site}/inside").content
    assert "did not follow it" in fetch(desk, f"{site}/user").content


def test_a_private_address_needs_an_approval(desk: Desk, site: str) -> None:
    assert "not a public address" in refused(desk, f"{site}/", approved_hosts=())
    assert "not a public address" in refused(desk, "http://localhost:1/", approved_hosts=("127.0.0.1",))
    assert Site.seen == []


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "127.1.2.3", "10.0.0.1", "172.16.5.5", "192.168.1.1", "169.254.169.254", "0.0.0.0"),
        *("100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "ff02::1"),
        *("::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "fe80::1%eth0", "not-an-address"),
    ],
)
def test_addresses_that_are_not_public(host: str) -> None:
    assert is_private_address(host)


@pytest.mark.parametrize("host", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1"])
def test_addresses_that_are_public(host: str) -> None:
    assert not is_private_address(host)


def test_one_private_address_among_public_ones_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    def lookup(host: str, port: int, **more: object) -> list[Any]:
        return [(2, 1, 6, "", ("1.1.1.1", port)), (2, 1, 6, "", ("10.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    with pytest.raises(Exception, match="not a public address"):
        address.resolve("example.com", 443, ())
    assert address.resolve("example.com", 443, ("example.com",)) == ("1.1.1.1", "10.0.0.1")


def test_the_name_is_looked_up_once(desk: Desk, site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is judged is what is connected to, whatever the name says a moment later."""
    calls = []
    real = socket.getaddrinfo

    def lookup(host: Any, *arguments: Any, **more: Any) -> Any:
        if host == "rebound.test":
            calls.append(host)
            return real("127.0.0.1", *arguments, **more)
        return real(host, *arguments, **more)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    url = site.replace("127.0.0.1", "rebound.test")
    done = desk.run("WebFetch", {"url": f"{url}/plain", "prompt": ""}, approved_hosts=("rebound.test",))
    assert done.content == "just text"
    assert calls == ["rebound.test"]


@pytest.mark.parametrize(
    "url",
    ["ftp://x/", "file:///etc/passwd", "x", "http://", "http://u:p@x/", "http://x:99999/", "http://a b/"],
)
def test_what_is_no_address(desk: Desk, url: str) -> None:
    assert refused(desk, url)


def test_http_becomes_https() -> None:
    assert webfetch.checked("http://example.com/a?b#c", ()) == "https://example.com/a?b"
    assert webfetch.checked("http://127.0.0.1/a", LOCAL) == "http://127.0.0.1/a"


def test_a_public_page_is_kept_a_while(desk: Desk, site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "is_private_address", lambda host: False)
    monkeypatch.setattr(webfetch, "checked", lambda url, approved: url)
    for _ in range(2):
        assert desk.text("WebFetch", {"url": f"{site}/plain", "prompt": ""}) == "just text"
    assert len(Site.seen) == 1
    real = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + 16 * 60)
    desk.text("WebFetch", {"url": f"{site}/plain", "prompt": ""})
    assert len(Site.seen) == 2


def test_a_private_page_is_not_kept(desk: Desk, site: str) -> None:
    fetch(desk, f"{site}/plain")
    assert "not a public address" in refused(desk, f"{site}/plain", approved_hosts=())


def test_a_fetch_can_be_interrupted(desk: Desk, site: str) -> None:
    threading.Timer(0.2, desk.cancel.cancel).start()
    began = time.monotonic()
    assert "interrupted" in refused(desk, f"{site}/slow")
    assert time.monotonic() - began < 4.5


def test_through_a_proxy(desk: Desk, site: str) -> None:
    """CONNECT to the proxy of the environment, with its credential."""
    heads: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        client, _ = listener.accept()
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        heads.append(head)
        host, port = head.split()[1].decode().split(":")
        server = socket.create_connection((host, int(port)))
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        server.sendall(client.recv(65536))
        while data := server.recv(65536):
            client.sendall(data)
            if b"just text" in data:
                break
        client.close()
        server.close()

    thread = threading.Thread(target=serve)
    thread.start()
    desk.env["http_proxy"] = f"http://me:pw@127.0.0.1:{listener.getsockname()[1]}"
    assert fetch(desk, f"{site}/plain").content == "just text"
    thread.join()
    listener.close()
    assert b"Proxy-Authorization: Basic bWU6cHc=" in heads[0]


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("a<br>b", "a\nb"),
        ("<h2> Two  words </h2>text", "## Two words\n\ntext"),
        ("<b>x</b> <em>y</em> <code>z</code>", "**x** *y* `z`"),
        ("<a href='/p'>l</a> <a href='#t'>m</a> <a>n</a>", "[l](https://h/p) m n"),
        ("<ul><li>a<li>b<ol><li>c</li><li>d</li></ol></ul>", "- a\n- b\n\n  1. c\n  2. d"),
        ("<ol start=3><li>c</ol>", "3. c"),
        ("<table><tr><th>a<th>b<tr><td>1<td>2|3</table>", None),
        ("<pre>x\n  y &lt;</pre>", "```\nx\n  y <\n```"),
        ("<script>bad()</script><style>x{}</style>ok<noscript>no</noscript>", "ok"),
        ("<img alt='a cat' src=c.png><img src=d.png>", "![a cat](https://h/c.png)"),
        ("<title>T</title><h1>T</h1>", "# T"),
        ("&amp; &copy; &nbsp;x", None),
        ("<blockquote><p>q</p></blockquote>", None),
        ("", ""),
        ("<<<>>><p", None),
    ],
)
def test_html(html: str, markdown: str | None) -> None:
    made = to_markdown(html, "https://h/")
    assert markdown is None or made == markdown


def test_a_table() -> None:
    html = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2|3</td></tr></table>after"
    assert to_markdown(html) == "| a | b |\n| --- | --- |\n| 1 | 2\\|3 |\n\nafter"
