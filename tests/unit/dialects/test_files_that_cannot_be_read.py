import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from checkrein.dialects import scan, text
from checkrein.dialects.codes import Log


def codes(path: Path, **options: bool) -> list[str]:
    log = Log()
    found = text.read(str(path), "project", log, **options)  # type: ignore[arg-type]  # only `optional` is passed
    assert (found is None) is bool(log) or not log
    return [entry.code for entry in log]


def test_a_missing_file_is_silent_unless_it_was_promised(tmp_path: Path) -> None:
    assert codes(tmp_path / "none.md") == []
    assert codes(tmp_path / "none.md", optional=False) == ["FILE001"]


def test_a_directory_in_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").mkdir()
    assert codes(tmp_path / "SKILL.md") == ["FILE002"]


def test_a_pipe_in_place_of_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert codes(tmp_path / "pipe") == ["FILE002"]


def test_a_link_that_leads_back_to_itself(tmp_path: Path) -> None:
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    assert codes(tmp_path / "loop.md") == ["FILE003"]


def test_a_link_that_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "dangling.md").symlink_to(tmp_path / "nothing")
    assert codes(tmp_path / "dangling.md") == ["FILE003"]


@contextmanager
def without_rights() -> Iterator[None]:
    """Root reads everything: be nobody for a while."""
    nobody, user = 65534, os.geteuid()
    if user == 0:
        os.seteuid(nobody)
    try:
        yield
    finally:
        os.seteuid(user)


def test_what_its_owner_keeps_closed() -> None:
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        file, folder = Path(made, "secret.md"), Path(made, "skills")
        file.write_text("x")
        file.chmod(0)
        folder.mkdir(mode=0)
        log = Log()
        with without_rights():
            assert codes(file) == ["FILE001"]
            assert list(scan.directories(str(folder), "project", log)) == []
        assert [entry.code for entry in log] == ["FILE001"]


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    file = tmp_path / "big.md"
    file.write_bytes(b"x" * 2048)
    log = Log()
    assert text.read(str(file), "project", log, limit=1024) is None
    assert [entry.code for entry in log] == ["FILE004"]


def test_a_loop_of_directories_is_walked_once(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "x.md").write_text("x")
    (inner / "back").symlink_to(tmp_path / "a")
    found = [path for path, _ in scan.markdown_files(str(tmp_path / "a"), "project", Log())]
    assert found == [str(inner / "x.md")]


def test_hidden_and_package_folders_are_skipped(tmp_path: Path) -> None:
    for folder in (".git", "node_modules", "kept"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.md").write_text("x")
    assert [folders for _, folders in scan.markdown_files(str(tmp_path), "project", Log())] == [("kept",)]


def test_directories_report_links_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    log = Log()
    names = [(name, real) for name, _, real in scan.directories(str(tmp_path), "project", log)]
    assert names == [("link", str(tmp_path / "real")), ("real", str(tmp_path / "real"))]
    assert [entry.code for entry in log] == ["FILE003"]


def test_names_that_are_not_utf8_are_left_out(tmp_path: Path) -> None:
    for name in (b"ok.md", "grün.md".encode(), b"bad\xff.md"):
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).write_text("x")
    log = Log()
    found = [os.path.basename(path) for path, _ in scan.markdown_files(str(tmp_path), "project", log)]
    assert found == ["grün.md", "ok.md"]
    assert [entry.code for entry in log] == ["FILE005"]
    assert "bad?.md" in log[0].origin.file
