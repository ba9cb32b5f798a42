"""Token files: private, whole, one for each name and address."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from msgspec.structs import replace

from checkrein.runtime.mcp.oauth.token_store import FOLDER, Drawer, Record

URL = "https://hub.example/mcp"
TOKENS = {"access_token": "access-value", "refresh_token": "refresh-value"}


def drawer(home: Path, name: str = "hub", url: str = URL) -> Drawer:
    return Drawer(home, name, url)


def keep(one: Drawer) -> Record:
    return one.change(lambda record: replace(record, tokens=TOKENS, secret="secret-value"))


def test_a_token_file_is_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        keep(drawer(tmp_path))
    finally:
        os.umask(old)
    folder = tmp_path / FOLDER
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert drawer(tmp_path).read().tokens == TOKENS


def test_a_folder_that_others_could_read_is_closed(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(mode=0o755)
    keep(drawer(tmp_path))
    assert (tmp_path / FOLDER).stat().st_mode & 0o777 == 0o700


def test_another_address_or_name_gets_nothing(tmp_path: Path) -> None:
    keep(drawer(tmp_path))
    assert drawer(tmp_path, url=URL + "/").read() == Record(url=URL + "/")
    assert drawer(tmp_path, name="hub2").read().tokens is None
    assert drawer(tmp_path, name="hu", url="b" + URL).read().tokens is None


def test_a_file_of_another_address_is_not_believed(tmp_path: Path) -> None:
    keep(drawer(tmp_path))
    other = drawer(tmp_path, url="https://evil.example/mcp")
    drawer(tmp_path).path.rename(other.path)
    assert other.read().tokens is None


def test_a_broken_file_counts_as_none_and_is_replaced(tmp_path: Path) -> None:
    one = drawer(tmp_path)
    keep(one)
    for text in (b"{", b"\xff", b'{"url": 1}', b"[]", b""):
        one.path.write_bytes(text)
        assert one.read() == Record(url=URL)
    assert keep(one).tokens == TOKENS


def test_nothing_prints_a_token(tmp_path: Path) -> None:
    record = keep(drawer(tmp_path))
    for shown in (repr(record), str(record), f"{record}"):
        assert "value" not in shown
    assert set(record.secrets) == {"access-value", "refresh-value", "secret-value"}


def test_names_stay_inside_the_folder(tmp_path: Path) -> None:
    one = drawer(tmp_path, name="../../x/" + "y" * 300)
    keep(one)
    assert one.path.parent == tmp_path / FOLDER
    assert one.path.exists()


def test_removal_gives_what_was_known(tmp_path: Path) -> None:
    assert drawer(tmp_path).remove() is None
    keep(drawer(tmp_path))
    removed = drawer(tmp_path).remove()
    assert removed is not None
    assert removed.tokens == TOKENS
    assert not drawer(tmp_path).path.exists()


def test_changes_of_several_threads_all_count(tmp_path: Path) -> None:
    def add() -> None:
        for _ in range(20):
            drawer(tmp_path).change(lambda record: replace(record, expires_at=(record.expires_at or 0) + 1))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert drawer(tmp_path).read().expires_at == 80


def test_one_at_a_time_renews(tmp_path: Path) -> None:
    with drawer(tmp_path).turn() as first, drawer(tmp_path).turn() as second:
        assert (first, second) == (True, False)
    with drawer(tmp_path).turn() as again:
        assert again
