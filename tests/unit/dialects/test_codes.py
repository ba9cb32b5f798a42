import re
from pathlib import Path

import bridle.dialects
from bridle.base.origin import Origin
from bridle.dialects.codes import CODES, diagnose

SOURCE = Path(bridle.dialects.__file__).parent


def used_codes() -> set[str]:
    files = [*SOURCE.rglob("*.py"), *(SOURCE.parent / "passes").glob("*.py")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files if file.name != "codes.py")
    return set(re.findall(r'"((?:ROOT|FILE|FM|AGENT|JSON|SET|HANDLER|SERVER|PLUGIN|MARKET|IMP)\d{3})"', text))


def test_every_code_that_is_used_is_declared_and_every_declared_one_is_used() -> None:
    assert used_codes() == set(CODES)


def test_the_table_gives_the_severity() -> None:
    found = diagnose("FM003", "broken", Origin("x.md", "project"), hint="mend it")
    assert (found.severity, found.message, found.hint) == ("error", "broken", "mend it")


def test_every_code_says_what_and_why() -> None:
    for code in CODES.values():
        assert code.summary
        assert not code.summary.endswith(".")
        assert len(code.explanation) > 40
        assert code.explanation.endswith(".")
