"""A typed file in the Checkrein home: who may write it, and what a broken one does."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.errors import FileError
from checkrein.base.home_file import HomeFile


class Shelf(Struct, frozen=True):
    version: int = 1
    books: dict[str, int] = {}


@pytest.fixture
def shelf(tmp_path: Path) -> HomeFile[Shelf]:
    return HomeFile(tmp_path / "home" / "shelf.json", Shelf(), kind="shelf_unwritable")


def put(shelf: HomeFile[Shelf], name: str, number: int = 1) -> None:
    shelf.change(lambda found: replace(found, books={**found.books, name: number}))


def test_what_is_written_is_read(shelf: HomeFile[Shelf]) -> None:
    assert shelf.read() == (Shelf(), None)
    put(shelf, "one")
    put(shelf, "two", 2)
    assert shelf.read() == (Shelf(1, {"one": 1, "two": 2}), None)
    assert shelf.problem is None


def test_only_the_user_may_read_it(shelf: HomeFile[Shelf]) -> None:
    put(shelf, "one")
    assert shelf.path.stat().st_mode & 0o777 == 0o600
    assert shelf.path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("content", ["", "{", "[]", '{"books": 3}', "[" * 100_000, "\xff"])
def test_a_broken_file_counts_as_empty_and_is_set_aside(shelf: HomeFile[Shelf], content: str) -> None:
    put(shelf, "one")
    shelf.path.write_text(content, encoding="latin-1")
    found, problem = shelf.read()
    assert found == Shelf()
    assert (problem or "").startswith(f"{shelf.path} is broken: ")
    put(shelf, "two")
    assert shelf.read() == (Shelf(1, {"two": 1}), None)
    assert shelf.path.with_suffix(".broken").read_text(encoding="latin-1") == content


def test_a_file_that_others_can_write_is_not_used(shelf: HomeFile[Shelf]) -> None:
    put(shelf, "one")
    shelf.path.chmod(0o666)
    assert shelf.read()[0] == Shelf()
    assert "others can write it" in (shelf.problem or "")
    put(shelf, "two")
    assert shelf.read() == (Shelf(1, {"two": 1}), None)


def test_a_directory_in_its_place(shelf: HomeFile[Shelf]) -> None:
    shelf.path.mkdir(parents=True)
    assert "can't be read" in (shelf.problem or "")
    put(shelf, "one")
    assert shelf.read()[0].books == {"one": 1}


def test_a_home_that_is_not_a_directory(shelf: HomeFile[Shelf]) -> None:
    shelf.path.parent.write_text("a file")
    with pytest.raises(FileError, match=r"shelf\.json can't be written") as error:
        put(shelf, "one")
    assert error.value.kind == "shelf_unwritable"
    assert "CHECKREIN_HOME" in (error.value.hint or "")


def test_a_change_that_fails_leaves_the_file(shelf: HomeFile[Shelf]) -> None:
    put(shelf, "one")

    def broken(found: Shelf) -> Shelf:
        raise KeyError("nothing")

    with pytest.raises(KeyError):
        shelf.change(broken)
    assert shelf.read()[0].books == {"one": 1}
    assert not [name for name in os.listdir(shelf.path.parent) if name.endswith(".tmp")]


def test_many_writers(shelf: HomeFile[Shelf]) -> None:
    def write(writer: int) -> None:
        for number in range(10):
            put(HomeFile(shelf.path, Shelf(), kind="x"), f"{writer}.{number}")

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(shelf.read()[0].books) == 40
