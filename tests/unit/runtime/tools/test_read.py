from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from checkrein.llm.port import Document, Image, Text

Desk = Any
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def test_lines_are_numbered(desk: Desk) -> None:
    desk.file("a.txt", "alpha\nbeta\n")
    done = desk.read("a.txt")
    assert done.content == "1\talpha\n2\tbeta\n3\t"
    assert done.structured == {
        "type": "text",
        "file": {
            "filePath": "a.txt",
            "content": "alpha\nbeta\n",
            "numLines": 3,
            "startLine": 1,
            "totalLines": 3,
        },
    }


def test_a_range(desk: Desk) -> None:
    desk.file("a.txt", "\n".join(f"l{n}" for n in range(1, 101)))
    done = desk.read("a.txt", offset=10, limit=2)
    assert done.content == "10\tl10\n11\tl11"
    assert done.structured["file"]["startLine"] == 10
    assert done.structured["file"]["totalLines"] == 100
    assert desk.read("a.txt", offset=99).content == "99\tl99\n100\tl100"
    assert desk.read("a.txt", limit="1").content == "1\tl1"


def test_an_empty_file_and_a_place_after_the_end(desk: Desk) -> None:
    desk.file("empty", "")
    desk.file("short", "a\nb")
    assert "is empty" in desk.read("empty").content
    done = desk.read("short", offset=5)
    assert "has 2 lines" in done.content
    assert done.structured["file"]["numLines"] == 0


def test_line_ends_and_marks_are_not_shown(desk: Desk) -> None:
    desk.file("dos.txt", b"\xef\xbb\xbfa\r\nb\r\n")
    assert desk.read("dos.txt").content == "1\ta\n2\tb\n3\t"
    desk.file("wide.txt", "ž\n".encode("utf-16"))
    assert desk.read("wide.txt").content == "1\tž\n2\t"
    desk.file("latin.txt", b"caf\xe9")
    assert desk.read("latin.txt").content == "1\tcafé"


def test_a_long_file_shows_its_first_page(desk: Desk) -> None:
    desk.file("long.txt", "".join(f"line {n} {'x' * 80}\n" for n in range(5_000)))
    done = desk.read("long.txt")
    assert "PARTIAL view" in done.content
    assert len(done.content) <= 25_000 * 4 + 300
    assert done.structured["file"]["truncatedByTokenCap"] is True
    shown = done.structured["file"]["numLines"]
    assert f"offset={shown + 1}" in done.content
    assert desk.state.seen(str(desk.root / "long.txt")).view == "partial"
    following = desk.read("long.txt", offset=shown + 1, limit=1)
    assert f"line {shown} " in following.content
    assert desk.state.seen(str(desk.root / "long.txt")).view == "range"


def test_a_range_that_is_too_long_is_refused(desk: Desk) -> None:
    desk.file("long.txt", "x" * 99 + "\n" + ("y" * 99 + "\n") * 2_000)
    message = desk.failure("Read", {"file_path": "long.txt", "limit": 1900}, ("long.txt",))
    assert "more than 25000 tokens" in message


def test_one_endless_line_is_cut(desk: Desk) -> None:
    desk.file("min.js", "x" * 3_000_000)
    done = desk.read("min.js")
    assert "PARTIAL view" in done.content
    assert len(done.content) < 101_000


def test_the_cap_can_be_set(desk: Desk) -> None:
    desk.env["CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS"] = "10"
    desk.file("a.txt", "0123456789\n" * 10)
    assert "PARTIAL view" in desk.read("a.txt").content


def test_a_huge_file_is_not_loaded(desk: Desk) -> None:
    path = desk.root / "huge.log"
    data = b"some line of text\n" * 60_000
    with open(path, "wb") as file:
        for _ in range(66):
            file.write(data)
    lines = 66 * 60_000
    done = desk.read("huge.log", offset=3, limit=2)
    assert done.content == "3\tsome line of text\n4\tsome line of text"
    assert done.structured["file"]["totalLines"] == lines + 1
    first = desk.read("huge.log")
    assert "PARTIAL view" in first.content
    assert first.structured["file"]["totalLines"] == lines + 1
    past = desk.read("huge.log", offset=lines + 100)
    assert f"{lines + 1} lines" in past.content
    path.unlink()


def test_binary_and_directories_are_refused(desk: Desk) -> None:
    desk.file("x.bin", b"\x00\x01\x02")
    assert "binary" in desk.failure("Read", {"file_path": "x.bin"}, ("x.bin",))
    assert "directory" in desk.failure("Read", {"file_path": "."}, (".",))


@pytest.mark.parametrize(
    ("data", "media"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0" + bytes(9), "image/jpeg"),
        (b"GIF89a" + bytes(9), "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_an_image_is_an_image_whatever_its_name(desk: Desk, data: bytes, media: str) -> None:
    desk.file("picture.txt", data)
    done = desk.read("picture.txt")
    (block,) = done.content
    assert isinstance(block, Image)
    assert block.source.media_type == media
    assert base64.b64decode(block.source.data) == data
    assert done.structured["file"]["originalSize"] == len(data)


def test_an_image_that_no_model_takes(desk: Desk) -> None:
    desk.file("big.png", PNG + bytes(4_000_000))
    assert "smaller copy" in desk.failure("Read", {"file_path": "big.png"}, ("big.png",))


def pdf_of(pages: int) -> bytes:
    kids = " ".join(f"{n + 3} 0 R" for n in range(pages))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>"]
    objects += ["<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"] * pages
    body, places = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n"
    return body + f"{end}<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n".encode()


def test_a_pdf_is_a_document(desk: Desk) -> None:
    desk.file("a.pdf", pdf_of(3))
    done = desk.read("a.pdf")
    note, document = done.content
    assert isinstance(document, Document)
    assert "3 pages" in note.text
    assert done.structured["type"] == "pdf"


def test_many_pages_have_to_be_chosen(desk: Desk) -> None:
    desk.file("a.pdf", pdf_of(30))
    assert "has 30 pages" in desk.failure("Read", {"file_path": "a.pdf"}, ("a.pdf",))
    for pages, said in (("1-21", "too many"), ("x", "must be a number"), ("3-2", "not a range")):
        assert said in desk.failure("Read", {"file_path": "a.pdf", "pages": pages}, ("a.pdf",))


def test_single_pages_need_a_package(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pypdf", None)
    desk.file("a.pdf", pdf_of(30))
    assert "pypdf" in desk.failure("Read", {"file_path": "a.pdf", "pages": "1-2"}, ("a.pdf",))


def test_single_pages(desk: Desk) -> None:
    pypdf = pytest.importorskip("pypdf")
    from io import BytesIO

    desk.file("a.pdf", pdf_of(30))
    _, document = desk.run("Read", {"file_path": "a.pdf", "pages": "2-4"}, ("a.pdf",)).content
    assert len(pypdf.PdfReader(BytesIO(base64.b64decode(document.source.data))).pages) == 3


def notebook(**more: Any) -> dict[str, Any]:
    cells = [
        {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title\n", "text"]},
        {
            "cell_type": "code",
            "id": "code",
            "metadata": {},
            "source": "print(1)",
            "execution_count": 1,
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": "aGk=\n", "text/plain": "<fig>"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []},
            ],
        },
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}


def test_a_notebook_shows_its_cells(desk: Desk) -> None:
    desk.file("n.ipynb", json.dumps(notebook()))
    done = desk.read("n.ipynb")
    text = "\n".join(block.text for block in done.content if isinstance(block, Text))
    assert '<cell id="intro" type="markdown">\n# Title\ntext' in text
    assert "print(1)" in text
    assert "ValueError: no" in text
    assert [block.source.data for block in done.content if isinstance(block, Image)] == ["aGk="]
    assert [cell["cell_id"] for cell in done.structured["file"]["cells"]] == ["intro", "code"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"cells": 1}', '{"cells": [1]}', "[" * 100_000])
def test_what_is_no_notebook_says_so(desk: Desk, content: str) -> None:
    desk.file("n.ipynb", content)
    assert "is not a notebook" in desk.failure("Read", {"file_path": "n.ipynb"}, ("n.ipynb",))


def edit(desk: Desk, **input: Any) -> Any:
    return desk.run("NotebookEdit", {"notebook_path": "n.ipynb", **input}, ("n.ipynb",))


def test_a_cell_is_replaced_inserted_deleted(desk: Desk) -> None:
    path = desk.file("n.ipynb", json.dumps(notebook(), indent=1) + "\n")
    desk.read("n.ipynb")
    edit(desk, cell_id="code", new_source="print(2)\nprint(3)")
    cells = json.loads(path.read_text())["cells"]
    assert cells[1]["source"] == ["print(2)\n", "print(3)"]
    assert (cells[1]["outputs"], cells[1]["execution_count"]) == ([], None)
    made = edit(desk, cell_id="intro", new_source="between", edit_mode="insert", cell_type="markdown")
    edit(desk, new_source="x = 1", edit_mode="insert", cell_type="code")
    edit(desk, cell_id="code", new_source="", edit_mode="delete")
    cells = json.loads(path.read_text())["cells"]
    assert ["".join(cell["source"]) for cell in cells] == ["x = 1", "# Title\ntext", "between"]
    assert cells[2]["id"] == made.structured["cell_id"]
    assert path.read_text().startswith('{\n "cells"')
    assert path.read_text().endswith("}\n")


def test_what_notebook_edit_refuses(desk: Desk) -> None:
    desk.file("n.ipynb", json.dumps(notebook()))

    def refused(**input: Any) -> str:
        asked = {"notebook_path": "n.ipynb", "new_source": "x", **input}
        return str(desk.failure("NotebookEdit", asked, ("n.ipynb",)))

    assert "not read" in refused(cell_id="code")
    desk.read("n.ipynb")
    assert "no cell" in refused(cell_id="none")
    assert "cell_type" in refused(edit_mode="insert")
    assert "cell_id" in refused(edit_mode="delete")
    desk.file("n.ipynb", json.dumps(notebook(nbformat_minor=4)))
    assert "has changed" in refused(cell_id="code")
