"""What can go wrong before an answer: connecting, TLS, proxies, things that are not HTTP."""

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from checkrein.base.errors import ConfigError
from checkrein.llm.anthropic import AnthropicModel
from checkrein.llm.connection import Endpoint, Timeouts
from checkrein.llm.http_server import HttpAnswer, HttpRequest, HttpServer
from checkrein.llm.port import Cancel, ModelRequestError, Request, collect
from checkrein.llm.proxy import proxy_for
from checkrein.llm.server import ScriptedServer

SHORT = Timeouts(connect=0.5, answer=0.5, idle=0.5)
PATIENT = Timeouts(connect=20.0, answer=20.0, idle=20.0)


def failure(
    url: str, ask: Request, cancel: Cancel | None = None, timeouts: Timeouts = PATIENT
) -> ModelRequestError:
    model = AnthropicModel(api_key="k", base_url=url, timeouts=timeouts, env={})
    with pytest.raises(ModelRequestError) as caught:
        collect(model.stream(ask, cancel or Cancel()))
    return caught.value


@contextmanager
def listener(answer: Callable[[socket.socket], None] | None = None, backlog: int = 5) -> Iterator[str]:
    """A socket that hands each connection to `answer`; without one it never accepts."""
    server = socket.create_server(("127.0.0.1", 0), backlog=backlog)

    def accept() -> None:
        while answer is not None:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                answer(connection)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}"
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(2)


CLOSING = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n: wait\n\n"


def wait_after(head: bytes) -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(head)
        connection.settimeout(30)
        with contextlib.suppress(OSError):
            while connection.recv(65536):
                pass

    return answer


def test_connection_refused(ask: Request) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    error = failure(f"http://127.0.0.1:{port}", ask)
    assert (error.kind, error.retryable) == ("transport", False)
    assert "refused" in error.message


def test_unknown_host(ask: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(*_: object) -> list[object]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    error = failure("http://models.invalid", ask)
    assert error.kind == "transport"
    assert "models.invalid" in error.message


def test_not_http(ask: Request) -> None:
    with listener(wait_after(b"220 mail ready\r\n")) as url:
        assert failure(url, ask).kind == "malformed_stream"


@pytest.mark.parametrize(
    "event", [b'{"type": "content_block_start"}', b'{"no": "type"}', b'{"type": "message_start"}']
)
def test_event_without_its_fields(ask: Request, event: bytes) -> None:
    with listener(wait_after(CLOSING + b"data: " + event + b"\n\n")) as url:
        error = failure(url, ask)
    assert error.kind == "malformed_stream"
    assert "can't be read" in error.message


def test_closed_without_an_answer(ask: Request) -> None:
    def hang_up(connection: socket.socket) -> None:
        connection.recv(65536)

    with listener(hang_up) as url:
        assert failure(url, ask).kind == "transport"


def test_limits_hold_for_answers_that_close_the_connection(ask: Request) -> None:
    with listener(wait_after(CLOSING)) as url:
        assert failure(url, ask, timeouts=SHORT).kind == "idle_timeout"


def test_cancel_works_on_answers_that_close_the_connection(ask: Request) -> None:
    cancel = Cancel()
    timer = threading.Timer(0.1, cancel.cancel)
    with listener(wait_after(CLOSING)) as url:
        timer.start()
        start = time.monotonic()
        error = failure(url, ask, cancel)
    assert error.kind == "cancelled"
    assert time.monotonic() - start < 10


def test_tls_to_a_plaintext_port(ask: Request) -> None:
    with ScriptedServer([{"text": "x"}]) as server:
        error = failure(server.url.replace("http", "https", 1), ask)
    assert (error.kind, error.retryable) == ("tls_failed", False)
    assert "http://" in (error.hint or "")


@contextmanager
def full_listener() -> Iterator[str]:
    """An address where connecting hangs: the queue of waiting connections is full."""
    with listener(backlog=0) as url:
        address = ("127.0.0.1", int(url.rpartition(":")[2]))
        waiting = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(address)
            waiting.append(filler)
        time.sleep(0.05)
        yield url
        for filler in waiting:
            filler.close()


def test_connecting_takes_too_long(ask: Request) -> None:
    with full_listener() as url:
        error = failure(url, ask, timeouts=SHORT)
    assert error.kind == "transport"
    assert "within 0.5 s" in error.message


def test_cancel_ends_connecting(ask: Request) -> None:
    cancel = Cancel()
    timer = threading.Timer(0.1, cancel.cancel)
    with full_listener() as url:
        timer.start()
        start = time.monotonic()
        error = failure(url, ask, cancel)
    assert error.kind == "cancelled"
    assert time.monotonic() - start < 10


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl makes the certificate for this test")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    new = [
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-keyout",
        str(file),
        "-out",
        f"{file}.crt",
    ]
    subprocess.run([program, "req", *new, *name], check=True, capture_output=True)
    file.write_bytes(file.read_bytes() + Path(f"{file}.crt").read_bytes())
    return file


@contextmanager
def tls_front(certificate: Path, target: str) -> Iterator[str]:
    """Speaks TLS and passes one request on to a plain server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    port = int(target.rpartition(":")[2])

    def pass_on(connection: socket.socket) -> None:
        try:
            with context.wrap_socket(connection, server_side=True) as inside:
                with socket.create_connection(("127.0.0.1", port)) as outside:
                    while not (request := inside.recv(65536)).endswith(b"]}"):
                        outside.sendall(request)
                    outside.sendall(request)
                    answer = b""
                    while not answer.endswith(b"0\r\n\r\n"):
                        answer += outside.recv(65536)
                    inside.sendall(answer)
                inside.unwrap()
        except OSError:
            return

    with listener(pass_on) as url:
        yield url.replace("http", "https", 1)


def test_tls(ask: Request, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer([{"text": "secret"}]) as server, tls_front(certificate, server.url) as url:
        monkeypatch.setenv("SSL_CERT_FILE", f"{certificate}.crt")
        model = AnthropicModel(api_key="k", base_url=url, timeouts=PATIENT, env={})
        assert collect(model.stream(ask, Cancel())).text == "secret"


def test_untrusted_certificate(ask: Request, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with ScriptedServer([{"text": "secret"}]) as server, tls_front(certificate, server.url) as url:
        error = failure(url, ask)
    assert (error.kind, error.retryable) == ("tls_failed", False)
    assert "SSL_CERT_FILE" in (error.hint or "")
    assert server.requests == []


def test_http_through_a_proxy(ask: Request) -> None:
    seen: list[HttpRequest] = []

    def answer(request: HttpRequest) -> HttpAnswer:
        seen.append(request)
        return HttpAnswer(500, "text/plain", (b"from the proxy",))

    proxy = HttpServer(answer)
    env = {"http_proxy": f"http://user:p%40ss@127.0.0.1:{proxy.port}"}
    model = AnthropicModel(api_key="k", base_url="http://models.example:81/x", timeouts=PATIENT, env=env)
    with pytest.raises(ModelRequestError) as caught:
        collect(model.stream(ask, Cancel()))
    proxy.close()
    assert "from the proxy" in caught.value.message
    assert seen[0].path == "http://models.example:81/x/v1/messages"
    assert seen[0].headers["proxy-authorization"] == "Basic dXNlcjpwQHNz"


def test_https_through_a_proxy_asks_for_a_tunnel(ask: Request) -> None:
    seen: list[bytes] = []

    def refuse(connection: socket.socket) -> None:
        seen.append(connection.recv(65536))
        connection.sendall(b"HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n")

    with listener(refuse) as url:
        model = AnthropicModel(
            api_key="k", base_url="https://models.example", timeouts=PATIENT, env={"HTTPS_PROXY": url}
        )
        with pytest.raises(ModelRequestError) as caught:
            collect(model.stream(ask, Cancel()))
    assert caught.value.kind == "transport"
    assert seen[0].startswith(b"CONNECT models.example:443 ")
    assert b"x-api-key" not in seen[0]


@pytest.mark.parametrize(
    ("no_proxy", "host", "bypassed"),
    [
        ("*", "a.example", True),
        ("example", "a.example", True),
        (".example", "a.example", True),
        ("example", "badexample", False),
        ("a.example:99", "a.example", False),
        ("a.example:443", "a.example", True),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "a.example", False),
        ("other, A.EXAMPLE", "a.example", True),
        ("", "a.example", False),
    ],
)
def test_no_proxy(no_proxy: str, host: str, bypassed: bool) -> None:
    env = {"https_proxy": "http://proxy:3128", "no_proxy": no_proxy}
    assert (proxy_for("https", host, 443, env) is None) == bypassed


def test_proxy_details() -> None:
    assert proxy_for("http", "a", 80, {"https_proxy": "http://p"}) is None
    proxy = proxy_for("https", "a", 443, {"ALL_PROXY": "proxy:3128"})
    assert proxy is not None
    assert (proxy.host, proxy.port) == ("proxy", 3128)
    secret = proxy_for("http", "a", 80, {"http_proxy": "http://me:hidden@p:1"})
    assert "hidden" not in repr(secret)
    with pytest.raises(ConfigError):
        proxy_for("https", "a", 443, {"https_proxy": "socks5://p:1"})


@pytest.mark.parametrize(
    "url", ["", "ftp://x", "https://", "https://u:p@x", "https://x?q=1", "http://x:port", "//x"]
)
def test_bad_base_urls(url: str) -> None:
    with pytest.raises(ConfigError):
        Endpoint.parse(url)


def test_key_with_a_line_break_is_refused_without_being_shown(ask: Request) -> None:
    with ScriptedServer([{"text": "x"}]) as server:
        model = AnthropicModel(api_key="abc\nx-evil: 1", base_url=server.url, env={})
        with pytest.raises(ModelRequestError) as caught:
            collect(model.stream(ask, Cancel()))
    assert caught.value.kind == "invalid_request"
    assert "abc" not in str(caught.value)
    assert server.requests == []
