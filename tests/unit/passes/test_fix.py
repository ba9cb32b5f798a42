from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.base.diagnostic import Diagnostic, Edit, Fix, count
from checkrein.base.errors import ConfigError
from checkrein.base.origin import Origin, Span
from checkrein.passes.baseline import subtract_baseline, write_baseline
from checkrein.passes.findings import sort, wanted
from checkrein.passes.fix import apply_fixes, rewrite


def finding(file: Path | str, span: Span, replacement: str = "x", *, safe: bool = True) -> Diagnostic:
    fix = Fix("t", (Edit(str(file), span, replacement),), safe)
    return Diagnostic("AS001", "warning", f"at {span.line}", Origin(str(file), "project", span), fix=fix)


def test_edits_are_made_from_the_end() -> None:
    text = "one two\nthree\n"
    edits = [
        Edit("f", Span(1, 1, 1, 4), "ONE"),
        Edit("f", Span(2, 1), "THREE"),
        Edit("f", Span(1, 5, 1, 5), "and "),
    ]
    assert rewrite(text, edits) == "ONE and two\nTHREE\n"


def test_overlapping_fixes_are_left(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("abcdef\n")
    fixed = apply_fixes([finding(file, Span(1, 1, 1, 4)), finding(file, Span(1, 3, 1, 5))])
    assert len(fixed.made) == 1
    assert len(fixed.left) == 1
    assert file.read_text() == "xdef\n"


def test_unsafe_fixes_need_to_be_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("abc\n")
    found = [finding(file, Span(1, 1, 1, 2), safe=False)]
    assert apply_fixes(found).made == ()
    assert apply_fixes(found, unsafe=True).made
    assert file.read_text() == "xbc\n"


def test_baseline_counts_equal_findings(tmp_path: Path) -> None:
    one = finding(tmp_path / "a", Span(1))
    write_baseline(tmp_path / "base.json", [one], str(tmp_path))
    moved = Diagnostic(one.code, one.severity, one.message, one.origin.at(Span(9)))
    fresh, known = subtract_baseline(tmp_path / "base.json", [moved, moved], str(tmp_path))
    assert known == 1
    assert fresh == [moved]


def test_a_broken_baseline_says_so(tmp_path: Path) -> None:
    (tmp_path / "b").write_text("[]")
    with pytest.raises(ConfigError) as caught:
        subtract_baseline(tmp_path / "b", [], str(tmp_path))
    assert caught.value.hint


@pytest.mark.parametrize(
    ("select", "ignore", "reported"),
    [
        ([], [], True),
        (["AS"], [], True),
        (["CC"], [], False),
        ([], ["AS"], False),
        (["AS001"], ["AS"], True),
        (["AS"], ["AS001"], False),
        (["AS"], ["AS"], False),
    ],
)
def test_the_longer_prefix_wins(select: list[str], ignore: list[str], reported: bool) -> None:
    assert wanted("AS001", select, ignore) is reported


def test_sorting_drops_doubles_and_counts() -> None:
    one = finding("/b", Span(2))
    two = finding("/a", Span(5))
    assert sort([one, two, one]) == [two, one]
    assert count([one, two]) == {"error": 0, "warning": 2, "info": 0}
