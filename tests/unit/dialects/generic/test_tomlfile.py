from __future__ import annotations

from checkrein.base.origin import Origin
from checkrein.dialects.codes import Log
from checkrein.dialects.generic import tomlfile

TEXT = """\
# a comment = 1
name = "x"
prompt = '''
looks = "like a key"
[not.a.table]
'''
[servers."with space"]
url = "u"
[[hooks]]
a.b = 1
[[hooks]]
a = 2
"""


def test_places_of_keys_and_tables() -> None:
    log = Log()
    found = tomlfile.parse(TEXT, Origin("f.toml", "project"), log)
    assert found is not None
    assert {path: span.line for path, span in found.spans.items()} == {
        "$.name": 2,
        "$.prompt": 3,
        '$.servers["with space"]': 7,
        '$.servers["with space"].url': 8,
        "$.hooks[0]": 9,
        "$.hooks[0].a.b": 10,
        "$.hooks[1]": 11,
        "$.hooks[1].a": 12,
    }
    assert tomlfile.text_line(TEXT, found, "prompt") == 4
    assert tomlfile.text_line(TEXT, found, "name") == 2
    assert tomlfile.text_line(TEXT, found, "nothing") == 1


def test_a_broken_file_is_a_finding_at_its_line() -> None:
    log = Log()
    assert tomlfile.parse("a = 1\nb = \n", Origin("f.toml", "project"), log) is None
    assert [(found.code, found.origin.line) for found in log] == [("IMP010", 2)]


def test_a_key_of_a_hundred_thousand_parts_takes_no_time() -> None:
    log = Log()
    assert tomlfile.parse("a." * 100_000 + "a = 1\n", Origin("f.toml", "project"), log) is None
    assert "parts" in log[0].message
