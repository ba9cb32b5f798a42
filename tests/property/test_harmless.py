"""Text made harmless: nothing that moves a cursor, hides or turns around."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from checkrein.base.harmless import harmless, harmless_json, one_line

HIDING = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
VISIBLE_FORMAT = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
NASTY = (
    "\x00\x07\x08\r\x1b\x7f\x85\x9b\xad\u061c\u200b\u200c\u200d"
    "\u200e\u2028\u202e\u2066\ufe0f\ufeff\U000e0041\ud800"
)
texts = (
    st.text()
    | st.text(alphabet=st.sampled_from(NASTY + "a \n\t1é漢👨\u0915"))
    | st.text(alphabet=st.characters(codec=None))
)


def is_harmful(text: str, at: int) -> bool:
    character = text[at]
    if character in "\n\t" or ord(character) in VISIBLE_FORMAT:
        return False
    if character in "\u200c\u200d" or "\ufe00" <= character <= "\ufe0f":
        beside = text[at - 1 : at]
        return not beside or (beside.isascii() and beside not in "0123456789#*")
    if 0x13430 <= ord(character) <= 0x1345F:  # hieroglyph joiners shape what they join
        return False
    return character in HIDING or unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


@given(texts)
def test_nothing_harmful_is_left(text: str) -> None:
    made = harmless(text)
    assert not [hex(ord(made[at])) for at in range(len(made)) if is_harmful(made, at)]
    assert harmless(made) == made
    made.encode("utf-8")
    assert "\n" not in one_line(text)


@given(texts)
@example("\ufe0a\u200cÀ")
def test_json_keeps_its_meaning(text: str) -> None:
    value = {text: [text]}
    try:
        written = json.dumps(value, ensure_ascii=False)
        written.encode()
    except UnicodeEncodeError:
        return
    made = harmless_json(written)
    assert json.loads(made) == value
    assert not [at for at in range(len(made)) if is_harmful(made, at)]


@pytest.mark.parametrize(
    "text",
    [
        "plain text\n\twith lines",
        "שלום עולם العربية نص",
        "👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3 🇩🇪",
        "می\u200cخواهم क्\u200dष",
        "naïve café ﬁ → ✓ 漢字 한국어",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert harmless(text) == text
    assert harmless_json(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b2J", "\\x9b2J"),
        ("a\rb\r\nc", "a\\rb\nc"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("pass\u200dword", "pass\\u200dword"),
        ("👍\ufe0f\ufe0f\ufe01", "👍\ufe0f\\ufe0f\\ufe01"),
        ("👨\u200d\u200d\u200d👩", "👨\\u200d\\u200d\\u200d👩"),
        ("\U000e0069", "\\U000e0069"),
        ("\udc80", "\\udc80"),
    ],
)
def test_the_escapes(text: str, shown: str) -> None:
    assert harmless(text) == shown
