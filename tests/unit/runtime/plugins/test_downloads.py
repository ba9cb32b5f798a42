"""Downloads end, and stay outside."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.runtime.plugins import downloads
from checkrein.runtime.plugins.git_source import FetchError


def test_a_server_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte now and then meets no limit for a single wait; what came is not taken for the whole."""
    monkeypatch.setattr(downloads, "_LONGEST", 0.3)
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
                while not over.wait(0.05):
                    try:
                        connection.sendall(b"x")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        host = f"127.0.0.1:{server.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(FetchError, match="took too long"):
            downloads.download(
                f"http://{host}/x.zip", str(tmp_path / "x"), env={}, cancel=Cancel(), named=(host,)
            )
        over.set()
        thread.join()
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "127.0.0.1", "2130706433", "[::1]", "localhost", "a.localhost"]
)
def test_a_proxy_is_not_asked_for_what_is_inside(tmp_path: Path, host: str) -> None:
    env = {"https_proxy": "http://127.0.0.1:9"}
    with pytest.raises(FetchError, match="not a public address"):
        downloads.download(f"https://{host}/x.zip", str(tmp_path / "x"), env=env, cancel=Cancel())
