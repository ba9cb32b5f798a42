"""Checks of an answer that plain code can make: all functions that a package's requirements may call.

A row holds everything about a check: its arguments, its meaning, its function in a package, and expressions
for a text that passes and one that fails. In these, `{n}`, `{more}` and `{less}` are a count and its
neighbours; `{first}`, `{last}` and `{headed}` are literals of the given words.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Kind = Literal["none", "count", "text", "texts"]

MAX_COUNT = 100_000
MAX_WORDS = 80
MAX_TEXTS = 12


class CheckRow(Struct, frozen=True, kw_only=True):
    """A proposed check counts only when the rule matches `says`. `refuses` is set for checks that only
    forbid. `needs` are modules of the standard library."""

    name: str
    kind: Kind
    meaning: str
    code: str
    good: str
    bad: str
    says: str = ""
    refuses: bool = False
    needs: tuple[str, ...] = ()


_NEGATION = r"\b(?:never|no|not|don['’]t|avoid|without|forbidden|instead of)\b"
_UNITS = {
    "words": ("len(text.split())", "word ", r"\bwords?\b"),
    "lines": ("len(text.splitlines())", "line\\n", r"\blines?\b"),
    "characters": ("len(text)", "x", r"\bcharacters?\b|\bchars?\b"),
}
_MARKS = {
    "items": (r"^[ \t]*(?:[-*+]|\d+[.)])\s+\S", 1, "- item\\n", r"\bbullets?\b|\bitems?\b|\bpoints?\b"),
    "headings": (r"^#{1,6}\s+\S", 1, "## Heading\\n", r"\bheadings?\b|\bheaders?\b|\bsections?\b|\bH[1-6]\b"),
    "code_blocks": (
        r"^[ \t]*(?:```|~~~)",
        2,
        "```\\nx\\n```\\n",
        r"\bcode[- ]?(?:blocks?|fences?|examples?|snippets?)\b",
    ),
}


def _limits() -> list[CheckRow]:
    rows = []
    for unit, (count, piece, says) in _UNITS.items():
        shown = f'"{piece}"'
        rows.append(
            CheckRow(
                name=f"at_most_{unit}",
                kind="count",
                meaning=f"has no more than so many {unit}",
                code=f"def at_most_{unit}(limit: int) -> Check:\n    return lambda text: {count} <= limit\n",
                good='""' if unit == "characters" else f'"{piece.split(chr(92))[0].strip()}"',
                bad=f"{shown} * {{more}}",
                says=says,
            )
        )
        rows.append(
            CheckRow(
                name=f"at_least_{unit}",
                kind="count",
                meaning=f"has so many {unit} or more",
                code=f"def at_least_{unit}(limit: int) -> Check:\n    return lambda text: {count} >= limit\n",
                good=f"{shown} * {{n}}",
                bad=f"{shown} * {{less}}",
                says=says,
            )
        )
    rows.append(
        CheckRow(
            name="exactly_lines",
            kind="count",
            meaning="has just so many lines",
            code="def exactly_lines(count: int) -> Check:\n"
            "    return lambda text: len(text.strip().splitlines()) == count\n",
            good='"line\\n" * {n}',
            bad='"line\\n" * {more}',
            says=r"\blines?\b",
        )
    )
    for unit, (pattern, marks, piece, says) in _MARKS.items():
        found = f'len(re.findall(r"{pattern}", text, re.MULTILINE))' + (f" // {marks}" if marks > 1 else "")
        bounds = (("at_most", "<=", "no more than so many"), ("at_least", ">=", "so many or more"))
        for prefix, sign, meaning in bounds:
            rows.append(
                CheckRow(
                    name=f"{prefix}_{unit}",
                    kind="count",
                    meaning=f"has {meaning} {unit.replace('_', ' ')}",
                    code=f"def {prefix}_{unit}(limit: int) -> Check:\n"
                    f"    return lambda text: {found} {sign} limit\n",
                    good=f'"{piece}" * {{n}}',
                    bad=f'"{piece}" * {{{"more" if sign == "<=" else "less"}}}',
                    says=says,
                    needs=("re",),
                )
            )
    return rows


def _pattern(name: str, meaning: str, pattern: str, good: str, bad: str, says: str) -> CheckRow:
    """A check that the text contains something."""
    return CheckRow(
        name=name,
        kind="none",
        meaning=meaning,
        code=f"def {name}(text: str) -> bool:\n"
        f'    return re.search(r"{pattern}", text, re.MULTILINE) is not None\n',
        good=good,
        bad=bad,
        says=says,
        needs=("re",),
    )


_SHAPES = [
    _pattern(
        "has_table",
        "holds a Markdown table",
        r"^[ \t]*\|.*\|[ \t]*\n[ \t]*\|[ \t:|-]+\|[ \t]*$",
        '"| a | b |\\n|---|---|\\n| 1 | 2 |"',
        '"a | b"',
        r"\btables?\b|\btabular\b|\bcolumns?\b",
    ),
    _pattern(
        "has_code_block",
        "holds a fenced block of code",
        r"^[ \t]*(?:```|~~~)",
        '"```\\nx\\n```"',
        '"x"',
        r"\bcode\b|\bcommands?\b|\bsnippets?\b|\bfenced?\b",
    ),
    _pattern(
        "has_diagram",
        "holds a Mermaid diagram",
        r"^[ \t]*(?:```|~~~)\s*mermaid\b",
        '"```mermaid\\ngraph TB\\n```"',
        '"```\\nx\\n```"',
        r"\bmermaid\b",
    ),
    _pattern(
        "has_list",
        "holds a list",
        r"^[ \t]*(?:[-*+]|\d+[.)])\s+\S",
        '"- item"',
        '"item"',
        r"\blists?\b|\blisted\b|\bbullet(?:s|ed)?\b|\bchecklist\b",
    ),
    _pattern(
        "has_numbered_list",
        "holds a numbered list",
        r"^[ \t]*\d+[.)]\s+\S",
        '"1. item"',
        '"- item"',
        r"\bnumbered\b|\bnumbers\b|\bordered\b",
    ),
    _pattern(
        "has_checklist",
        "holds a list with boxes to tick",
        r"^[ \t]*[-*+]\s+\[[ xX]\]\s",
        '"- [ ] item"',
        '"- item"',
        r"\bcheck ?(?:list|boxes)\b|\bcheckbox(?:es)?\b|\btask list\b",
    ),
    _pattern(
        "has_link",
        "holds an address or a link",
        r"https?://\S|\]\([^)\s]+\)",
        '"https://host.invalid"',
        '"host"',
        r"\blinks?\b|\bURLs?\b|\bcit(?:e|es|ed|ation|ations)\b|\bsources?\b",
    ),
    _pattern(
        "has_iso_date",
        "holds a date such as 2030-01-31",
        r"\b\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\b",
        '"2030-01-31"',
        '"31.1.2030"',
        r"\bYYYY-MM-DD\b|\bISO[- ]?8601\b|\bISO dates?\b|\bdates?\b",
    ),
    _pattern(
        "has_semantic_version",
        "holds a version such as 1.2.3",
        r"\bv?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.-]+)?\b",
        '"1.2.3"',
        '"1.2"',
        r"\bsemver\b|\bsemantic version|\bversions?\b|\bX\.Y\.Z\b",
    ),
    _pattern(
        "has_front_matter",
        "begins with front matter",
        r"\A---\n(?:.*\n)*?---\s*$",
        '"---\\na: b\\n---\\n"',
        '"a: b"',
        r"\bfront ?matter\b",
    ),
    _pattern(
        "is_commit_message",
        "begins with a Conventional Commits subject",
        r"\A\s*[a-z]+(?:\([^()\n]+\))?!?: \S",
        '"fix(parser): keep the last line"',
        '"Fixed it"',
        r"\bconventional[- ]commits?\b|\bcommit (?:message|subject|title)s?\b",
    ),
]

_FORMS = [
    CheckRow(
        name="is_json",
        kind="none",
        meaning="is JSON and nothing else",
        code="def is_json(text: str) -> bool:\n    try:\n        json.loads(text)\n"
        "    except ValueError:\n        return False\n    return True\n",
        good='"{{}}"',
        bad='"no"',
        says=r"\bJSON\b",
        needs=("json",),
    ),
    CheckRow(
        name="is_one_line",
        kind="none",
        meaning="is a single line",
        code='def is_one_line(text: str) -> bool:\n    return "\\n" not in text.strip()\n',
        good='"line"',
        bad='"line\\nline"',
        says=r"\b(?:one|single)[- ]line(?:r)?\b",
    ),
    CheckRow(
        name="is_one_paragraph",
        kind="none",
        meaning="is a single paragraph",
        code='def is_one_paragraph(text: str) -> bool:\n    return "\\n\\n" not in text.strip()\n',
        good='"line\\nline"',
        bad='"line\\n\\nline"',
        says=r"\b(?:one|single)[- ]paragraph\b",
    ),
    CheckRow(
        name="has_no_emoji",
        kind="none",
        refuses=True,
        meaning="has no emoji",
        code="def has_no_emoji(text: str) -> bool:\n"
        '    return re.search("[\\U0001f300-\\U0001faff\\u2600-\\u27bf]", text) is None\n',
        good='"plain"',
        bad='"\\u2705"',
        says=r"\bemojis?\b",
        needs=("re",),
    ),
    CheckRow(
        name="is_unfenced",
        kind="none",
        refuses=True,
        meaning="is not wrapped in a code fence",
        code='def is_unfenced(text: str) -> bool:\n    return not text.lstrip().startswith(("```", "~~~"))\n',
        good='"plain"',
        bad='"```\\nx\\n```"',
        says=r"\bcode[- ]?(?:blocks?|fences?)\b|\bfences?\b|\bbackticks?\b",
    ),
]

_WORDS = [
    CheckRow(
        name="starts_with",
        kind="text",
        meaning="begins with these words",
        code="def starts_with(wanted: str) -> Check:\n"
        "    return lambda text: text.lstrip().startswith(wanted)\n",
        good="{first}",
        bad='""',
        says=r"\b(?:start|begin|open|lead|prefix|first)",
    ),
    CheckRow(
        name="ends_with",
        kind="text",
        meaning="ends with these words",
        code="def ends_with(wanted: str) -> Check:\n    return lambda text: text.rstrip().endswith(wanted)\n",
        good="{first}",
        bad='""',
        says=r"\b(?:end|finish|clos|conclude|append|last|final)",
    ),
    CheckRow(
        name="contains",
        kind="text",
        meaning="holds these words",
        code="def contains(wanted: str) -> Check:\n    return lambda text: wanted.lower() in text.lower()\n",
        good="{first}",
        bad='""',
    ),
    CheckRow(
        name="lacks",
        kind="text",
        refuses=True,
        meaning="does not hold these words",
        code="def lacks(unwanted: str) -> Check:\n"
        '    pattern = rf"(?<!\\w){re.escape(unwanted)}(?!\\w)"\n'
        "    return lambda text: re.search(pattern, text, re.IGNORECASE) is None\n",
        good='""',
        bad="{first}",
        says=_NEGATION,
        needs=("re",),
    ),
    CheckRow(
        name="starts_with_one_of",
        kind="texts",
        meaning="begins with one of these",
        code="def starts_with_one_of(*wanted: str) -> Check:\n"
        "    return lambda text: text.lstrip().startswith(wanted)\n",
        good="{last}",
        bad='""',
        says=r"\b(?:start|begin|open|lead|prefix|first)",
    ),
    CheckRow(
        name="ends_with_one_of",
        kind="texts",
        meaning="ends with one of these",
        code="def ends_with_one_of(*wanted: str) -> Check:\n"
        "    return lambda text: text.rstrip().endswith(wanted)\n",
        good="{last}",
        bad='""',
        says=r"\b(?:end|finish|clos|conclude|append|last|final)",
    ),
    CheckRow(
        name="contains_one_of",
        kind="texts",
        meaning="holds one of these",
        code="def contains_one_of(*wanted: str) -> Check:\n"
        "    return lambda text: any(one.lower() in text.lower() for one in wanted)\n",
        good="{last}",
        bad='""',
    ),
    CheckRow(
        name="lacks_all",
        kind="texts",
        refuses=True,
        meaning="holds none of these",
        code="def lacks_all(*unwanted: str) -> Check:\n"
        '    either = "|".join(re.escape(one) for one in unwanted)\n'
        '    pattern = rf"(?<!\\w)(?:{either})(?!\\w)"\n'
        "    return lambda text: re.search(pattern, text, re.IGNORECASE) is None\n",
        good='""',
        bad="{last}",
        says=_NEGATION,
        needs=("re",),
    ),
    CheckRow(
        name="has_sections",
        kind="texts",
        meaning="has a heading, a bold head or a labelled line of each of these names",
        code="def has_sections(*names: str) -> Check:\n"
        '    head = r"^[\\s#>*_+-]*(?:\\d+[.)]\\s*)?[*_]*{}(?!\\w)"\n'
        "    patterns = [head.format(re.escape(name)) for name in names]\n"
        "    flags = re.IGNORECASE | re.MULTILINE\n"
        "    return lambda text: all(re.search(one, text, flags) for one in patterns)\n",
        good="{headed}",
        bad='""',
        needs=("re",),
    ),
]

CHECKS: dict[str, CheckRow] = {row.name: row for row in (*_limits(), *_SHAPES, *_FORMS, *_WORDS)}
