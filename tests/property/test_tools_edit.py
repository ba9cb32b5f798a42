"""Laws of editing: bytes elsewhere stay, a patch leads from the old text to the new one."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.runtime.tools.edit import replaced
from checkrein.runtime.tools.patch import structured_patch
from checkrein.runtime.tools.textfile import decode, uses_crlf

words = st.text(st.sampled_from("ab \tž你\r"), max_size=4)
lines = st.lists(words, max_size=12)
seeded = settings(derandomize=True, max_examples=200, deadline=None)


@seeded
@given(st.binary(max_size=200))
def test_decoding_keeps_every_byte(data: bytes) -> None:
    read = decode(data)
    if read is not None:
        assert read.encode(read.text) == data


@seeded
@given(
    before=words, old=st.text("xyz\n", min_size=1, max_size=5), new=st.text("uvw\n", max_size=5), after=words
)
def test_only_the_place_changes(before: str, old: str, new: str, after: str) -> None:
    text = f"{before}{old}{after}"
    changed, count = replaced(text, old, new, every=False)
    if not uses_crlf(text):
        assert count == 1
        assert changed == f"{before}{new}{after}"


@seeded
@given(
    before=lines,
    middle=st.text("xyz\n", min_size=1, max_size=6),
    new=st.text("uvw\n", max_size=6),
    after=lines,
)
def test_a_dos_file_stays_a_dos_file(before: list[str], middle: str, new: str, after: list[str]) -> None:
    clean = [[line.replace("\r", "") for line in part] for part in (before, after)]
    plain = (
        "".join(f"{line}\n" for line in clean[0]) + middle + "".join(f"\n{line}" for line in clean[1]) + "\n"
    )
    dos = plain.replace("\n", "\r\n")
    changed, count = replaced(dos, middle, new, every=False)
    assert count == plain.count(middle)
    assert "\n" not in changed.replace("\r\n", "")
    assert changed == plain.replace(middle, new, 1).replace("\n", "\r\n")


def patched(text: str, hunks: list[dict[str, Any]]) -> list[str]:
    """The lines of a text with the hunks applied, each checked against what it claims to replace."""
    source = text.split("\n")
    source = source[:-1] if source[-1] == "" else source
    result: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk["oldStart"] - (1 if hunk["oldLines"] else 0)
        result += source[at:start]
        old = [line[1:] for line in hunk["lines"] if line[0] in " -"]
        new = [line[1:] for line in hunk["lines"] if line[0] in " +"]
        assert source[start : start + hunk["oldLines"]] == old
        assert len(new) == hunk["newLines"]
        assert len(result) == hunk["newStart"] - (1 if hunk["newLines"] else 0)
        result += new
        at = start + hunk["oldLines"]
    return result + source[at:]


texts = st.lists(st.sampled_from(["a", "b", "c", "", "dd"]), max_size=40).map("\n".join)


@seeded
@given(texts, texts)
def test_a_patch_leads_to_the_new_text(old: str, new: str) -> None:
    expected = new.split("\n")
    expected = expected[:-1] if expected[-1] == "" else expected
    assert patched(old, structured_patch(old, new)) == expected
