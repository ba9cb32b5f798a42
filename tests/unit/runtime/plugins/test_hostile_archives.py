"""Archives, trees and repositories that are built to break whoever unpacks them."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import UsageError
from checkrein.runtime.plugins import git_source, package_tree
from checkrein.runtime.plugins.archives import unpack
from checkrein.runtime.plugins.git_source import checked_url
from checkrein.runtime.plugins.package_tree import Budget, UnsafePackageError, entries
from support.files import lay
from support.plugins import commit, git, marketplace, plugin, zipped

Ask = Callable[..., Any]


def refused(tmp_path: Path, data: bytes) -> str:
    file = tmp_path / "archive"
    file.write_bytes(data)
    with pytest.raises(UnsafePackageError) as error:
        unpack(str(file), str(tmp_path / "out"))
    return error.value.message


def tarred(*members: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, kind in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            archive.addfile(member)
    return out.getvalue()


@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b", "a")])
def test_a_file_in_the_place_of_a_folder(tmp_path: Path, names: tuple[str, str]) -> None:
    assert "'a" in refused(tmp_path, zipped(dict.fromkeys(names, "x")))


def test_a_path_that_no_system_takes(tmp_path: Path) -> None:
    said = refused(tmp_path, zipped({"/".join(["x" * 250] * 30): "x"}))
    assert "too long" in said
    assert len(said) < 400


@pytest.mark.parametrize("names", [("caf\u00e9", "cafe\u0301"), ("Stra\u00dfe", "STRASSE")])
def test_names_that_are_one_name_elsewhere(tmp_path: Path, names: tuple[str, str]) -> None:
    assert "Two files" in refused(tmp_path, zipped(dict.fromkeys(names, "x")))


@pytest.mark.parametrize("name", ["a\u202eb", "a\u200bb", "a\x85b", "a\u2028b"])
def test_names_that_hide_something(tmp_path: Path, name: str) -> None:
    said = refused(tmp_path, zipped({name: "x"}))
    assert said.isascii()


@pytest.mark.parametrize("packing", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_only_plain_packings(tmp_path: Path, packing: int) -> None:
    """Others may ask for memory without a limit."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as archive:
        archive.writestr("a", "x" * 100)
    assert "packed" in refused(tmp_path, out.getvalue())


def test_a_list_of_files_that_hides_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain end says one file; the record for large archives, which wins, says many."""
    monkeypatch.setattr("checkrein.runtime.plugins.archives.MOST_ENTRIES", 10)
    plain = zipped({f"f{number}": "" for number in range(20)})
    at = plain.rfind(b"PK\x05\x06")
    count, size, offset = struct.unpack("<HII", plain[at + 10 : at + 20])
    record = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count, count, size, offset)
    locator = struct.pack("<IIQI", 0x07064B50, 0, at, 1)
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 1, 1, 60, offset, 0)
    assert "more than 10 files" in refused(tmp_path, plain[:at] + record + locator + end)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Budget.__init__, "__defaults__", (package_tree.MOST_BYTES, 20))


@pytest.mark.usefixtures("few")
def test_folders_count_too(tmp_path: Path) -> None:
    assert "folders" in refused(tmp_path, tarred(*((f"d{n}", tarfile.DIRTYPE) for n in range(30))))


def test_links_that_multiply(tmp_path: Path) -> None:
    """Thirty folders, each with two links to the next: a billion folders without a file."""
    for number in range(30):
        folder = tmp_path / f"d{number}"
        folder.mkdir()
        for link in "ab":
            (folder / link).symlink_to(f"../d{number + 1}")
    (tmp_path / "d30").mkdir()
    with pytest.raises(UnsafePackageError):
        list(entries(str(tmp_path), Budget(most_entries=200)))


@pytest.mark.project({}, inside=".")
@pytest.mark.usefixtures("project")
class TestRepositories:
    def refuse(self, ask: Ask, tmp_path: Path, repository: Path) -> str:
        source = {"source": "url", "url": f"file://{repository}"}
        shop = marketplace(tmp_path / "shop", {"name": "formatter", "source": source})
        ask("plugin", "marketplace", "add", str(shop), status=0)
        error = ask("plugin", "install", "formatter", "--yes", status=1)
        assert error["kind"] == "package_refused"
        return str(error["message"])

    def test_trees_that_hold_each_other(self, ask: Ask, tmp_path: Path) -> None:
        """Ten trees of ten, eight deep, are a billion files; git would list them for hours."""
        repository = lay(tmp_path / "repository", plugin())
        commit(repository)

        def tree(text: str) -> str:
            made = subprocess.run(
                ("git", "mktree"), cwd=repository, input=text, check=True, capture_output=True, text=True
            )
            return made.stdout.strip()

        blob = git(repository, "rev-parse", "HEAD:.claude-plugin/plugin.json").strip()
        top = tree("".join(f"100644 blob {blob}\tf{number}\n" for number in range(10)))
        for _ in range(8):
            top = tree("".join(f"040000 tree {top}\td{number}\n" for number in range(10)))
        whole = tree(git(repository, "ls-tree", "HEAD") + f"040000 tree {top}\tbomb\n")
        author = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
        git(
            repository,
            "update-ref",
            "HEAD",
            git(repository, *author, "commit-tree", whole, "-m", "x").strip(),
        )
        began = time.monotonic()
        assert "more than 20000 files" in self.refuse(ask, tmp_path, repository)
        assert time.monotonic() - began < 60

    def test_a_repository_without_end(
        self, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(git_source, "_MOST_FETCHED", 1 << 20)
        repository = lay(tmp_path / "repository", plugin())
        (repository / "large").write_bytes(os.urandom(2 << 20))
        commit(repository)
        assert "more than 1 MiB" in self.refuse(ask, tmp_path, repository)


@pytest.mark.parametrize(
    "url",
    ["file:///home/ann/private", "/home/ann/private", "http://127.0.0.1:8000/x.git", "https://localhost/x"],
)
def test_a_marketplace_from_elsewhere_names_nothing_here(url: str) -> None:
    assert checked_url(url)[0] == url
    with pytest.raises(UsageError):
        checked_url(url, local=False)
