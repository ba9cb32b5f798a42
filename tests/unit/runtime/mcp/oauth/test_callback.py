"""The loopback address that the browser comes back to."""

from __future__ import annotations

import socket
from http.client import HTTPConnection

import pytest

from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.oauth.callback import Callback, answer_in


def get(callback: Callback, target: str, host: str = "127.0.0.1") -> tuple[int, str, dict[str, str]]:
    connection = HTTPConnection(host, callback.port, timeout=5)
    connection.request("GET", target)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, dict(answer.getheaders())


def test_an_answer_arrives_and_the_page_is_plain() -> None:
    with Callback(None) as callback:
        future = callback.expect("s1")
        status, text, headers = get(callback, "/callback?code=c0de&state=s1&iss=https%3A%2F%2Fas.example")
        answer = future.result(5)
    assert (answer.code, answer.state, answer.issuer) == ("c0de", "s1", "https://as.example")
    assert status == 200
    assert headers["Content-Type"] == "text/plain; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"
    assert "c0de" not in text + repr(answer)


def test_an_answer_to_another_question_changes_nothing() -> None:
    with Callback(None) as callback:
        future = callback.expect("s1")
        for target in (
            "/callback?code=x&state=other",
            "/callback?code=x",
            "/callback?state=s1",
            "/callback?code=x&state=s1&state=s2",
            "/callback?error=denied",
            "/callback?code=x&state=%FF",
        ):
            assert get(callback, target)[0] == 400, target
        assert get(callback, "/other?code=x&state=s1")[0] == 404
        assert not future.done()
        assert get(callback, "/callback?code=mine&state=s1")[0] == 200
        assert get(callback, "/callback?code=again&state=s1")[0] == 400
        assert future.result(5).code == "mine"


def test_before_a_question_nothing_is_an_answer() -> None:
    with Callback(None) as callback:
        assert get(callback, "/callback?code=x&state=")[0] == 400


def test_it_listens_on_both_loopback_addresses() -> None:
    with Callback(None) as callback:
        future = callback.expect("s1")
        try:
            assert get(callback, "/callback?code=six&state=s1", "::1")[0] == 200
        except OSError:
            pytest.skip("this machine has no IPv6 loopback")
        assert future.result(5).code == "six"
        assert callback.address == f"http://localhost:{callback.port}/callback"


def test_a_refusal_is_one_harmless_line() -> None:
    answer = answer_in("http://x/?error=access_denied&error_description=no%1B[31m%0Away&state=s", "s")
    assert answer is not None
    assert answer.error == "access_denied: no\\x1b[31m\\nway"


def test_a_taken_port_is_an_error_only_when_it_is_fixed() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServerFailure, match=rf"Port {port} .*oauth\.callbackPort"):
            Callback(port)
        with Callback(port, fixed=False) as callback:
            assert callback.port != port
