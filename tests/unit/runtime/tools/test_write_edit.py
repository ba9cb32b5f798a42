from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

Desk = Any


def write(desk: Desk, path: str, content: str) -> Any:
    return desk.run("Write", {"file_path": path, "content": content}, (path,))


def edit(desk: Desk, path: str, old: str, new: str, **more: Any) -> Any:
    asked = {"file_path": path, "old_string": old, "new_string": new, **more}
    return desk.run("Edit", asked, (path,))


def refused(desk: Desk, path: str, old: str, new: str, **more: Any) -> str:
    asked = {"file_path": path, "old_string": old, "new_string": new, **more}
    return str(desk.failure("Edit", asked, (path,)))


def test_a_new_file(desk: Desk) -> None:
    done = write(desk, "a/b/c.txt", "beta\n")
    assert done.structured == {
        "type": "create",
        "filePath": "a/b/c.txt",
        "content": "beta\n",
        "structuredPatch": [],
        "originalFile": None,
        "userModified": False,
    }
    assert (desk.root / "a/b/c.txt").read_text() == "beta\n"


def test_an_existing_file_must_have_been_read_whole_and_unchanged(desk: Desk) -> None:
    path = desk.file("a.txt", "one\ntwo\nthree\n")
    asked = {"file_path": "a.txt", "content": "new\n"}
    assert "have not read" in desk.failure("Write", asked, ("a.txt",))
    desk.read("a.txt", limit=1)
    assert "only a part" in desk.failure("Write", asked, ("a.txt",))
    desk.read("a.txt")
    path.write_text("theirs\n")
    assert "has changed" in desk.failure("Write", asked, ("a.txt",))
    assert path.read_text() == "theirs\n"
    desk.read("a.txt")
    done = desk.run("Write", asked, ("a.txt",))
    assert (done.structured["type"], done.structured["originalFile"]) == ("update", "theirs\n")
    assert done.structured["structuredPatch"][0]["lines"] == ["-theirs", "+new"]


def test_what_was_written_counts_as_read(desk: Desk) -> None:
    write(desk, "a.txt", "one\n")
    edit(desk, "a.txt", "one", "two")
    write(desk, "a.txt", "three\n")
    assert (desk.root / "a.txt").read_text() == "three\n"


def test_an_edit_needs_a_read(desk: Desk) -> None:
    path = desk.file("a.txt", "one\n")
    assert "have not read" in refused(desk, "a.txt", "one", "two")
    assert path.read_text() == "one\n"
    desk.bash("cat a.txt")
    edit(desk, "a.txt", "one", "two")
    assert path.read_text() == "two\n"


def test_a_first_page_is_no_read_but_a_chosen_range_is(desk: Desk) -> None:
    desk.file("long.txt", "".join(f"line {n} {'x' * 80}\n" for n in range(3_000)))
    desk.read("long.txt")
    assert "only the first page" in refused(desk, "long.txt", "line 2000 ", "LINE ")
    desk.read("long.txt", offset=2000, limit=10)
    edit(desk, "long.txt", "line 2000 ", "LINE ")


def test_the_result_of_an_edit(desk: Desk) -> None:
    desk.file("a.txt", "a\nb\nc\nd\ne\nf\ng\n")
    desk.read("a.txt")
    done = edit(desk, "a.txt", "d\n", "D\nD2\n")
    assert done.structured["structuredPatch"] == [
        {
            "oldStart": 1,
            "oldLines": 7,
            "newStart": 1,
            "newLines": 8,
            "lines": [" a", " b", " c", "-d", "+D", "+D2", " e", " f", " g"],
        }
    ]
    assert done.structured["originalFile"] == "a\nb\nc\nd\ne\nf\ng\n"
    assert done.structured["replaceAll"] is False


def test_the_place_must_be_unique(desk: Desk) -> None:
    path = desk.file("a.txt", "x\nx\n")
    desk.read("a.txt")
    assert "occurs 2 times" in refused(desk, "a.txt", "x", "y")
    done = edit(desk, "a.txt", "x", "y", replace_all="true")
    assert "2 places" in done.content
    assert path.read_text() == "y\ny\n"


def test_what_is_not_there(desk: Desk) -> None:
    path = desk.file("a.txt", "one\n")
    desk.read("a.txt")
    assert "match the file exactly" in refused(desk, "a.txt", "two", "x")
    path.write_text("other\n")
    assert "has changed since" in refused(desk, "a.txt", "one", "x")
    assert "does not exist" in refused(desk, "none.txt", "one", "x")
    assert "the same" in refused(desk, "a.txt", "other", "other")


def test_a_changed_file_can_be_edited_where_it_is_unique(desk: Desk) -> None:
    path = desk.file("a.txt", "one\n")
    desk.read("a.txt")
    path.write_text("zero\none\n")
    edit(desk, "a.txt", "one", "1")
    assert path.read_text() == "zero\n1\n"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "A\nB\nC", b"A\r\nB\r\nC\r\nc\r\n"),
        (b"a\r\nb\r\n", "b", "b1\nb2", b"a\r\nb1\r\nb2\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n"),
        (b"a\nb\r\nc\nd\n", "c", "c\nx", b"a\nb\r\nc\nx\nd\n"),
        (b"\xef\xbb\xbfa\nb\n", "a", "x", b"\xef\xbb\xbfx\nb\n"),
        ("ž\r\nb\r\n".encode("utf-16"), "ž\nb", "č\nd", "č\r\nd\r\n".encode("utf-16")),
        (b"caf\xe9 \xff\n", "caf", "t", b"t\xe9 \xff\n"),
        (b"tail without newline", "tail", "end", b"end without newline"),
    ],
)
def test_bytes_elsewhere_stay(desk: Desk, before: bytes, old: str, new: str, after: bytes) -> None:
    path = desk.file("a.txt", before)
    desk.read("a.txt")
    edit(desk, "a.txt", old, new)
    assert path.read_bytes() == after


def test_what_an_encoding_cannot_hold(desk: Desk) -> None:
    path = desk.file("a.txt", b"caf\xe9\n")
    desk.read("a.txt")
    assert "latin-1" in refused(desk, "a.txt", "caf", "你")
    assert path.read_bytes() == b"caf\xe9\n"


def test_half_a_character_is_refused(desk: Desk) -> None:
    asked = {"file_path": "a.txt", "content": "\ud800"}
    assert "Nothing was written" in desk.failure("Write", asked, ("a.txt",))
    assert not (desk.root / "a.txt").exists()


def test_an_empty_old_string_makes_a_file(desk: Desk) -> None:
    assert edit(desk, "new.txt", "", "text\n").structured["type"] == "create"
    assert "not empty" in refused(desk, "new.txt", "", "other\n")


def test_a_link_stays_a_link(desk: Desk) -> None:
    target = desk.file("target.txt", "one\n")
    (desk.root / "link.txt").symlink_to("target.txt")
    desk.read("link.txt")
    edit(desk, "link.txt", "one", "two")
    assert (desk.root / "link.txt").is_symlink()
    assert target.read_text() == "two\n"


def test_a_checkpoint_sees_the_file_as_it_was(desk: Desk) -> None:
    path = desk.file("a.txt", "one\n")
    seen: list[tuple[str, str | None]] = []

    def snapshot(real: str) -> None:
        seen.append((real, Path(real).read_text() if Path(real).exists() else None))

    desk.state.before_change = snapshot
    desk.read("a.txt")
    edit(desk, "a.txt", "one", "two")
    write(desk, "b.txt", "new")
    assert seen == [(str(path), "one\n"), (str(desk.root / "b.txt"), None)]


def test_a_notebook_is_not_edited_as_text(desk: Desk) -> None:
    assert "NotebookEdit" in refused(desk, "n.ipynb", "a", "b")


def test_a_patch_of_two_places(desk: Desk) -> None:
    from checkrein.runtime.tools.patch import structured_patch

    old = "".join(f"{n}\n" for n in range(30))
    hunks = structured_patch(old, old.replace("2\n", "two\n", 1).replace("25\n", "twenty-five\n"))
    assert [(hunk["oldStart"], hunk["oldLines"]) for hunk in hunks] == [(1, 6), (23, 7)]
    assert structured_patch("a\n", "a\n") == []
    assert structured_patch("", "a\n")[0]["lines"] == ["+a"]
    assert structured_patch("a\n", "")[0] == {
        "oldStart": 1,
        "oldLines": 1,
        "newStart": 0,
        "newLines": 0,
        "lines": ["-a"],
    }
