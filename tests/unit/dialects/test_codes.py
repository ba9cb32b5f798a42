import re
from pathlib import Path

import checkrein.dialects
from checkrein.base.origin import Origin
from checkrein.dialects.codes import CODES, diagnose

SOURCE = Path(checkrein.dialects.__file__).parent


def used_codes() -> set[str]:
    folders = (SOURCE, SOURCE / "claude", SOURCE / "agent_skills", SOURCE.parent / "passes")
    files = [file for folder in folders for file in folder.glob("*.py")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files if file.name != "codes.py")
    return set(re.findall(r'"((?:ROOT|FILE|FM|AGENT|JSON|SET|HANDLER|SERVER|PLUGIN|MARKET|IMP)\d{3})"', text))


def test_every_code_that_is_used_is_declared_and_every_declared_one_is_used() -> None:
    assert used_codes() == set(CODES)


def test_the_table_gives_the_severity() -> None:
    found = diagnose("FM003", "broken", Origin("x.md", "project"), hint="mend it")
    assert (found.severity, found.message, found.hint) == ("error", "broken", "mend it")


def test_the_table_gives_reason_and_hint_where_none_is_given() -> None:
    found = diagnose("FM003", "broken", Origin("x.md", "project"))
    assert (found.reason, found.hint) == (CODES["FM003"].why, CODES["FM003"].hint)


def test_every_code_says_what_why_and_what_to_do() -> None:
    assert len({code.name for code in CODES.values()}) == len(CODES)
    for code in CODES.values():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code.name)
        for text in (code.summary, code.why, code.hint):
            assert text[0].isupper() or text.startswith("`")
            assert text.endswith(".")
