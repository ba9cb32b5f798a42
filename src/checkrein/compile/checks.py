"""Checks of an answer in plain code, taken from the words of a rule."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from checkrein.compile import literals
from checkrein.compile.blocks import plain
from checkrein.compile.grammar import is_imperative
from checkrein.compile.values import Element
from checkrein.facts.compile_checks import CHECKS, MAX_COUNT, MAX_TEXTS, MAX_WORDS, CheckRow
from checkrein.facts.compile_words import FORBIDDING, FORBIDS, JUDGED, RULE

Argument = int | str | tuple[str, ...] | None

NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_COUNT = rf"(\d{{1,6}}|{'|'.join(NUMBERS)})"
_UNIT = (
    r"(words?|characters?|chars?|lines?|bullets?|bullet points?|list items?|headings?|code blocks?)\b"
    r"(?![- ]of[- ]code)"
)
_LIMIT = re.compile(
    r"\b(?:under|at most|no more than|max(?:imum)?(?: of)?|fewer than|less than|up to|within"
    rf"|keep [^.\n]{{0,40}}? to|not exceed|no longer than)\s+{_COUNT}\s+{_UNIT}",
    re.IGNORECASE,
)
_LEAST = re.compile(
    rf"\b(?:at least|no fewer than|no less than|not less than|min(?:imum)?(?: of)?)\s+{_COUNT}\s+{_UNIT}",
    re.IGNORECASE,
)
_EXACTLY = re.compile(rf"\bexactly\s+{_COUNT}\s+lines?\b", re.IGNORECASE)
_UNITS = {"w": "words", "c": "characters", "l": "lines", "b": "items", "h": "headings"}

_ANSWER = r"\b(?:output|response|answer|report|reply|summary|message|result)\b[^.\n]{0,40}?"
_MUST = r"\b(?:must|should|shall|always)\s+(?:always\s+|also\s+)?"
_HAVE = rf"(?:{_ANSWER}{_MUST}|\b[Aa]lways\s+)(?:include|contain|have|provide)\s+"
_WRITE = r"\b(?:output|respond|return|reply|answer)\b[^.\n]{0,40}?"
_NOT = r"(?:never|do not|don['’]t|must not)"
_QUOTED = r"(?:`[^`\n]{2,80}`|[\"“][^\"”\n]{2,80}[\"”])"
_WORDS = r"[\"“][^\"”\n]{2,80}[\"”]"
_SPOKEN = rf"({_WORDS}(?:(?:,\s*|\s+)(?:and\s+|or\s+)?{_WORDS})*)"
_SEVERAL = rf"({_QUOTED}(?:(?:,\s*|\s+)(?:and\s+|or\s+)?{_QUOTED})*)"

_PLAIN = (
    ("json", rf"{_WRITE}\b(?:valid|only|raw|pure)\s+JSON\b", "is_json"),
    (
        "emoji",
        r"\b(?:no|never use|do not (?:use|insert)|don['’]t use|without|avoid)\s+(?:any\s+)?emojis?\b",
        "has_no_emoji",
    ),
    (
        "code ",
        rf"\b{_NOT}\s+(?:wrap|wrapping|enclose|put)[^.\n]{{0,60}}\bcode (?:blocks?|fences?)\b",
        "is_unfenced",
    ),
    ("line", rf"(?:{_WRITE}|{_ANSWER}{_MUST}be\s+)\b(?:exactly one|a single|one)\s+line\b", "is_one_line"),
    (
        "paragraph",
        rf"(?:{_WRITE}|{_ANSWER}{_MUST}be\s+)\b(?:exactly one|a single|one)\s+paragraph\b",
        "is_one_paragraph",
    ),
    ("conventional commit", rf"{_ANSWER}\bconventional commits?\b", "is_commit_message"),
    ("mermaid", rf"{_HAVE}(?:an?\s+|the\s+)?(?:[\w-]+\s+){{0,2}}mermaid\b", "has_diagram"),
    ("table", rf"{_HAVE}(?:an?\s+|the\s+)?(?:[\w-]+\s+){{0,3}}table\b", "has_table"),
    ("code block", rf"{_HAVE}(?:an?\s+|the\s+)?(?:[\w-]+\s+)?code block\b", "has_code_block"),
    ("numbered list", rf"{_HAVE}(?:an?\s+|the\s+)?(?:[\w-]+\s+)?numbered list\b", "has_numbered_list"),
    ("checklist", rf"{_HAVE}(?:an?\s+|the\s+)?(?:[\w-]+\s+)?checklist\b", "has_checklist"),
    ("bullet", rf"{_HAVE}(?:an?\s+|the\s+)?(?:bulleted|bullet)\s+list\b", "has_list"),
    ("yyyy-mm-dd", rf"{_HAVE}[^.\n]{{0,40}}\bYYYY-MM-DD\b", "has_iso_date"),
    ("8601", rf"{_HAVE}[^.\n]{{0,40}}\bISO[- ]?8601\b", "has_iso_date"),
)
_PLAIN_CHECKS = tuple((needed, re.compile(one, re.IGNORECASE), function) for needed, one, function in _PLAIN)
"""A demand of a rule that gives no words; `needed` is in every such rule, in lower case."""
_THE = r"(?:the\s+\w+\s+)?"
_WORDED = (
    (
        rf"{_ANSWER}{_MUST}(?:start|begin)\s+with\s+(?:either\s+)?{_SEVERAL}",
        "starts_with",
        "starts_with_one_of",
    ),
    (
        rf"{_ANSWER}{_MUST}(?:end|finish|close)\s+with\s+(?:either\s+)?{_SEVERAL}",
        "ends_with",
        "ends_with_one_of",
    ),
    (
        rf"\b(?:include|contain|have|add)\s+(?:an?|the|these)\s+{_SEVERAL}\s+(?:sections?|headings?)\b",
        "has_sections",
        "has_sections",
    ),
    (
        rf"{_HAVE}(?:the|these)?\s*(?:following\s+)?(?:sections?|headings?):?\s+{_SEVERAL}",
        "has_sections",
        "has_sections",
    ),
    (rf"{_ANSWER}{_MUST}(?:include|contain|have)\s+{_THE}{_SEVERAL}", "contains", ""),
    (
        rf"\b{_NOT}\s+(?:include|write|say|output|mention):?\s+{_THE}{_SEVERAL}",
        "lacks",
        "lacks_all",
    ),
    (
        rf"\b{_NOT}\s+(?:use|add):?\s+(?:the\s+(?:words?|phrases?|terms?)\s+)?{_SPOKEN}",
        "lacks",
        "lacks_all",
    ),
)
_WORDED_CHECKS = tuple((re.compile(one[0], re.IGNORECASE), *one[1:]) for one in _WORDED)
_UNSAID = re.compile(rf"{_WORDS}(?:(?:,\s*|\s*/\s*|\s+)(?:and\s+|or\s+)?{_WORDS})*")
_SAYS_NOT = re.compile(r"\b(?:never|do not|don['’]t|avoid|forbidden|banned|prohibited)\b", re.IGNORECASE)
_FIELD = 60
_BLANKS = re.compile(r"\s+")
_QUOTES = '`"“'

# A number that is about each part, or about one labelled part, says nothing about the whole answer.
_EACH = re.compile(r"\b(?:each|every|per)\b", re.IGNORECASE)
PARTIAL = re.compile(
    rf"{_EACH.pattern}"
    r"|\A(?!\W*(?:output|response|answer|report|reply|length|limit|size)\b)\s*(?:[-*+]\s+)?"
    r"(?:\*\*[^*\n]+(?::\*\*|\*\*\s*[:—–(-])|`[^`\n]+`:|\w[\w ]{0,30}:)",
    re.IGNORECASE,
)
_PART_NAMED = re.compile(
    r"\b(?:titles?|subjects?|descriptions?|names?|head(?:ing|er|line)s?|sections?|lines?|paragraphs?"
    r"|sentences?|bullets?|items?|files?|functions?|scripts?|commits?|body|labels?|fields?|\w+\.\w{1,5})\b",
    re.IGNORECASE,
)
# A number in a list is about the answer when the line before the list is.
_ON_ANSWER = re.compile(
    r"\b(?:outputs?|responses?|answers?|reports?|reply|replies|summary|results?|rules?|requirements?"
    r"|guidelines?|constraints?|limits?|format|must|should|always)\b",
    re.IGNORECASE,
)
# The model is told of what holds only sometimes; code would always demand it.
_AT_TIMES = re.compile(r"\b(?:if|unless|when|whenever|except|where|while|usually)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.;!?](?=\s)|\n")
_FORMAT = re.compile(
    r"\A\W*(?:\d+\W+)?(?:(?:required|expected|final)\s+)?(?:output|report|response|answer|reply)"
    r"\s+(?:format|template|structure|layout|sections?)\b|\A\W*(?:required|expected)\s+(?:output|response|report)s?\W*\Z",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\A\s*(?:[-*+]\s+)?\*\*(?:\d+[.)]\s*)?([A-Z][\w/&' -]{2,40}?):?\*\*(?=:|\s|\Z)(?!:?\s*`)(?!\s+\w+:)"
)
_OPTIONAL = re.compile(r"\b(?:optional|optionally|if|when|where|unless|mode|e\.g)\b", re.IGNORECASE)


class Check(Struct, frozen=True):
    """A function of the package's requirements module and its argument."""

    function: str
    argument: Argument = None

    @property
    def row(self) -> CheckRow:
        return CHECKS[self.function]

    def call(self) -> str:
        """The check as the package has it."""
        if self.argument is None:
            return self.function
        if isinstance(self.argument, tuple):
            inner = "".join(f"            {literals.one_line(one)},\n" for one in self.argument)
            return f"{self.function}(\n{inner}        )"
        return f"{self.function}({literals.value(self.argument)})"

    def examples(self) -> tuple[str, str]:
        """Expressions for a text that passes and one that fails."""
        given = self.argument
        count = given if isinstance(given, int) else 0
        words = given if isinstance(given, tuple) else (given if isinstance(given, str) else "",)
        values = {
            "n": count,
            "more": count + 1,
            "less": count - 1,
            "first": literals.one_line(words[0]),
            "last": literals.one_line(words[-1]),
            "headed": literals.one_line("\n".join(f"## {one}" for one in words)),
        }
        return self.row.good.format(**values), self.row.bad.format(**values)


def check_of(element: Element) -> Check | None:
    """The check of a rule: from its words, else an accepted draft of a model."""
    found = stated_check(element)
    drafted = element.prose.draft
    if found is not None or drafted is None or drafted.check is None:
        return found
    function, arguments = drafted.check, drafted.arguments
    kind = CHECKS[function].kind
    if kind == "none":
        return Check(function)
    return Check(
        function, int(arguments[0]) if kind == "count" else arguments[0] if kind == "text" else arguments
    )


def stated_check(element: Element) -> Check | None:
    return executable_check(element.content_full, element.heading, element.prose.lead)


@lru_cache(maxsize=1024)
def executable_check(text: str, heading: str = "", lead: str = "") -> Check | None:
    """The check a rule asks for; None when only a reader can judge it. `heading` is above it, `lead` is the
    line before its list."""
    if JUDGED.search(text):
        return None
    text = _BLANKS.sub(_one_blank, text)
    bare = text.replace("**", "")
    if FORBIDDING.search(lead or heading):
        return _forbidden(bare, lead or heading)
    if holds_in_part(lead):
        return None
    counted = None if lead and not _ON_ANSWER.search(lead) else _counted(text, bare)
    return counted or _stated(bare) or _worded(bare) or _part(text, heading)


def _one_blank(blanks: re.Match[str]) -> str:
    return "\n" if "\n" in blanks[0] else " "


def holds_in_part(lead: str) -> bool:
    """Whether a line leads to text about a part of the answer, or about some answers."""
    return bool(_AT_TIMES.search(lead) or _EACH.search(lead))


def _forbidden(bare: str, above: str) -> Check | None:
    """The check of a line below `Never:`; only checks that forbid make sense there."""
    unsaid = _UNSAID.match(bare) if _SAYS_NOT.search(above) else None
    if unsaid is not None:
        words = tuple(dict.fromkeys(_unquoted(quoted) for quoted in re.findall(_WORDS, unsaid[0])))
        if all(words) and len(words) <= MAX_TEXTS:
            return Check("lacks", words[0]) if len(words) == 1 else Check("lacks_all", words)
    said = f"{above.rstrip(': ')} {bare}"
    found = _stated(said) or _worded(said)
    return found if found is not None and found.row.refuses else None


def rule_text(element: Element) -> str:
    """A rule as the model gets it: below the line or the heading that explains it."""
    text, lead = element.content_full, element.prose.lead
    gap = "\n" if element.prose.language is not None or text.startswith(("|", ">")) else " "
    if lead:
        return f"{lead}{gap}{text}"
    turned = FORBIDDING.search(element.heading) and not FORBIDS.match(plain(text))
    if not element.heading or (_stands_alone(text) and not turned):
        return text
    return f"{element.heading.rstrip(': ')}:{gap}{text}"


def _stands_alone(text: str) -> bool:
    """Whether it is a sentence or an instruction; a few words, such as a field to fill in, need their
    heading."""
    said = plain(text)
    if said.endswith(("...", "…", ":")):
        return said.endswith(":") and len(said) > _FIELD
    instructs = is_imperative(text.split("\n", 1)[0]) or RULE.search(said) is not None
    return instructs or said.endswith(".")


def _counted(text: str, bare: str) -> Check | None:
    if PARTIAL.search(text):
        return None
    for pattern, prefix in ((_LIMIT, "at_most"), (_LEAST, "at_least")):
        match = pattern.search(bare)
        if match is not None:
            if not _always(bare, match) or _PART_NAMED.search(_before(bare, match)):
                return None
            unit = match[2].lower()
            kind = "items" if unit.startswith("list") else _UNITS[unit[0]]
            kind = "code_blocks" if unit.startswith("code") else kind
            return _bounded(f"{prefix}_{kind}", match[1])
    exact = _EXACTLY.search(bare)
    if exact is None or not _always(bare, exact) or _PART_NAMED.search(_before(bare, exact)):
        return None
    return _bounded("exactly_lines", exact[1])


def _before(text: str, match: re.Match[str]) -> str:
    """The sentence of a match, up to the match."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text, 0, match.start())]
    return text[ends[-1] if ends else 0 : match.start()]


def _always(text: str, match: re.Match[str]) -> bool:
    """Whether the sentence of a match names no condition."""
    end = _SENTENCE_END.search(text, match.end())
    after = text[match.end() : end.start() if end else len(text)]
    return not (_AT_TIMES.search(_before(text, match)) or _AT_TIMES.search(after))


def _bounded(function: str, written: str) -> Check | None:
    small = written.lower()
    count = NUMBERS.index(small) + 1 if small in NUMBERS else int(small)
    return Check(function, count) if 0 < count <= MAX_COUNT else None


def _stated(bare: str) -> Check | None:
    small = bare.lower()
    for needed, pattern, function in _PLAIN_CHECKS:
        match = pattern.search(bare) if needed in small else None
        if match is not None and _always(bare, match):
            return Check(function)
    return None


def _worded(bare: str) -> Check | None:
    if not any(quote in bare for quote in _QUOTES):
        return None
    for pattern, one, several in _WORDED_CHECKS:
        match = pattern.search(bare)
        if match is None or not _always(bare, match):
            continue
        words = tuple(dict.fromkeys(_unquoted(quoted) for quoted in re.findall(_QUOTED, match[1])))
        if not all(words) or len(words) > MAX_TEXTS:
            continue
        if len(words) == 1 and CHECKS[one].kind == "text":
            return Check(one, words[0])
        if several or CHECKS[one].kind == "texts":
            return Check(several or one, words)
        return Check(one, words[0])
    return None


def _unquoted(quoted: str) -> str:
    return quoted[1:-1].removesuffix("...").removesuffix("…").strip()


def _part(text: str, heading: str) -> Check | None:
    """A point with a bold head, under a heading such as `Output format`, names a part of the answer."""
    own = heading.rpartition(": ")[2]  # a heading that occurs twice is named after the one above it
    match = _PART.match(text) if _FORMAT.search(own) else None
    if match is None or _OPTIONAL.search(text) or len(match[1].split()) > 5 or len(match[1]) > MAX_WORDS:
        return None
    return Check("has_sections", (match[1].strip(),))
