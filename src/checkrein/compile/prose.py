"""Tag and category of a paragraph, a list item or a quote: what it is, then where it is, then its mood.

Every function below is one reason, or None when it does not apply; the first one that applies decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from checkrein.compile import grammar
from checkrein.compile.blocks import Block
from checkrein.compile.headings import is_marked, roles_above
from checkrein.compile.judgment import Judgment
from checkrein.compile.passage import Passage, read_line
from checkrein.compile.pointers import points_elsewhere
from checkrein.facts import compile_words as words

_ARROW = re.compile(r"\s(?:→|⇒|->|=>)\s")
_MEMORY = re.compile(r"\bMEMORY\.md\b|\bremember\b")
_SENTENCE = re.compile(r"[.?!] ")
_ASKS_BACK = re.compile(r"\?[\s*_]*(?:\([^)]{0,200}\)[\s*_]*)?$")
_NEEDS = ("prerequisite", "environment", None)


def tag_prose(block: Block, delivers: bool) -> Judgment:
    passage = read_line(block, delivers)
    for reason in _REASONS:
        judgment = reason(passage)
        if judgment is not None:
            return judgment
    return Judgment("CONFIG", "C3", "prose", 0.6, "a fact")


def _mark(passage: Passage) -> Judgment | None:
    if words.TAG_ONLY.match(passage.text.strip()):
        return Judgment("NO_DECOMPOSE", "—", "other", 0.9, "a mark where a part starts or ends")
    return None


def _use(passage: Passage) -> Judgment | None:
    if words.USE_WHEN.match(passage.clean):
        return Judgment("CONFIG", "C2", "rule", 0.8, "says when it applies")
    return None


def _key(passage: Passage) -> Judgment | None:
    """`Cause: ...` explains and `Fix: ...` instructs, everywhere except in text to write or input."""
    key = passage.line.key
    if not key or not passage.block.path or passage.role in ("when", "input") or "output" in passage.above:
        return None
    blank = words.INPUT.search(passage.text) or words.PLACEHOLDER.match(passage.text.strip())
    if words.FACT_KEYS.match(key) and not blank:
        return Judgment("CONFIG", "C3", "prose", 0.75, f"its key is `{key}`")
    if words.ACT_KEYS.match(key):
        return Judgment("CONFIG", "C2", "rule", 0.75, f"its key is `{key}`")
    return None


def _persona(passage: Passage) -> Judgment | None:
    if words.PERSONA.match(passage.clean) and not passage.item and passage.role != "when":
        return Judgment("CONFIG", "C1", "prose", 0.9, "says who the agent is")
    return None


def _pointer(passage: Passage) -> Judgment | None:
    if points_elsewhere(passage):
        return Judgment("NO_DECOMPOSE", "—", "other", 0.8, "points to another file")
    return None


def _given(passage: Passage) -> Judgment | None:
    """What the caller gives, and places to fill in."""
    if words.INPUT.search(passage.text) and (
        passage.role == "input" or passage.item or passage.line.key or words.INPUT.match(passage.text.strip())
    ):
        return Judgment("TOOL_INPUT", "C3", "constant", 0.8, "an input")
    conditional = words.CONDITION.match(passage.clean)
    if conditional and words.REQUESTS.search(passage.clean):
        return Judgment("CONVERSE", "C2", "prose", 0.7, "asks a person")
    if words.PLACEHOLDER.match(passage.text.strip()) and passage.role != "rule":
        if passage.role != "input" and ("output" in passage.above or passage.delivers):
            return Judgment("DETERMINISTIC", "C3", "constant", 0.7, "a place in the template")
        return Judgment("TOOL_INPUT", "C3", "constant", 0.7, "an input to fill in")
    if passage.item and passage.block.ordered and words.BLANK_BELOW.match(passage.text):
        return Judgment("TOOL_INPUT", "C3", "constant", 0.7, "an input to fill in")
    told = passage.block.ordered and grammar.is_imperative(passage.clean)
    listed = passage.role == "input" and passage.item and not conditional and not told
    if listed and grammar.input_name(passage.text) is not None:
        return Judgment("TOOL_INPUT", "C3", "constant", 0.7, "an input to fill in")
    if not passage.item and passage.line.rest and words.INPUT_KEYS.match(passage.line.key):
        return Judgment("TOOL_INPUT", "C3", "constant", 0.7, "an input")
    if passage.line.coded and words.PLACEHOLDER_KEY.match(passage.line.key):
        return Judgment("TOOL_INPUT", "C3", "constant", 0.7, "explains a place to fill in")
    return None


def _command(passage: Passage) -> Judgment | None:
    found = None if passage.item else words.COMMAND_LINE.match(passage.text.strip())
    if found is not None and found[1] in words.SHELL_HEADS:
        return Judgment("TOOL_TEMPLATE", "C6", "tool_ref", 0.8, "a command")
    return None


def _needs(passage: Passage) -> Judgment | None:
    placed = not passage.item or passage.role in _NEEDS or "prerequisite" in passage.above
    if placed and words.NEEDS.match(passage.clean):
        return Judgment("CONFIG", "C8", "constant", 0.8, "says what is required")
    return None


def _asks(passage: Passage) -> Judgment | None:
    """The work is asking: at once, or on a condition. A key before it makes it a rule."""
    if not grammar.may_ask(passage.clean):
        return None
    todo = grammar.consequence(passage.clean) or (passage.line.rest if passage.line.key else passage.clean)
    found = grammar.leading_verb(todo)
    asked = (
        found is not None
        and found[1] == "CONVERSE"
        and (words.QUESTION.search(todo) is not None or grammar.asks_someone(todo))
    )
    if asked or (words.ASKS.match(passage.clean) and not passage.item):
        return Judgment("CONVERSE", "C2", "prose", 0.7, "asks a person")
    return None


def _reports(passage: Passage) -> Judgment | None:
    if not passage.item and ":" in passage.clean and words.REPORTS.search(passage.clean):
        return Judgment("VALIDATE_OUTPUT", "C2", "check", 0.7, "says what to write")
    return None


def _opening(passage: Passage) -> Judgment | None:
    if not passage.block.first or passage.item:
        return None
    if grammar.is_told(passage.clean) and not words.USE_TO.match(passage.clean):
        return Judgment("CONFIG", "C2", "rule", 0.7, "an instruction")
    return Judgment("CONFIG", "C1", "prose", 0.8, "says what it is for")


def _box(passage: Passage) -> Judgment | None:
    """A line to tick off: about the text when the spec writes one, else about the work."""
    if not passage.text.startswith(("[ ]", "[x]", "[X]")):
        return None
    if (passage.delivers or "output" in passage.above) and not grammar.is_imperative(passage.text):
        return Judgment("VALIDATE_OUTPUT", "C2", "check", 0.7, "a check of the text")
    return Judgment("CONFIG", "C2", "rule", 0.7, "a check")


def _limit(passage: Passage) -> Judgment | None:
    if words.LIMIT.search(passage.first_sentence) and passage.role not in ("input", "concept", "example"):
        return Judgment("VALIDATE_OUTPUT", "C2", "check", 0.7, "says how long it may be")
    return None


def _question(passage: Passage) -> Judgment | None:
    """A question in a list is for a person when the heading says so, else about the work."""
    asked = is_marked(passage.block.path, "only_questions")
    if not passage.item or not (asked or _ASKS_BACK.search(passage.clean)):
        return None
    if asked or is_marked(passage.block.path, "questions", 2):
        return Judgment("CONVERSE", "C2", "prose", 0.7, "asks a person")
    return Judgment("CONFIG", "C2", "rule", 0.65, "a question about the work")


def _lookup(passage: Passage) -> Judgment | None:
    text = passage.text.strip()
    if "→" in text and words.LINK_END.search(text) and "example" not in passage.above:
        return Judgment("NO_DECOMPOSE", "—", "other", 0.7, "points to another page")
    pair = words.LOOKUP.match(text)
    if pair and grammar.leading_verb(_ARROW.split(text)[-1]):
        return Judgment("CONFIG", "C2", "rule", 0.7, "says what to do in a case")
    scale = is_marked(passage.block.path, "scale")
    if text[:1] in words.TICKS and not scale:
        return None
    number = passage.item and passage.line.key and (scale or words.AMOUNT.match(passage.line.rest))
    if passage.role != "rule" and (
        pair or number or words.FORMULA.match(text) or words.FORMULA.match(passage.line.rest)
    ):
        return Judgment("DETERMINISTIC", "C3", "constant", 0.7, "maps values to values")
    return None


def _place(passage: Passage) -> Judgment | None:
    """Headings whose sections are of one kind."""
    role = passage.role
    if role == "credits":
        return Judgment("NO_DECOMPOSE", "—", "other", 0.8, "credits")
    if role == "when":
        return Judgment("CONFIG", "C2", "rule", 0.8, "says when it applies")
    if role == "memory" and _MEMORY.search(passage.text):
        return Judgment("TOOL_INPUT", "C4", "prose", 0.6, "relies on memory")
    set_up = role in ("environment", "prerequisite") or passage.block.path[-1:] == ("Requirements",)
    if set_up and words.CREDENTIAL.search(passage.text) and not _ARROW.search(passage.text):
        return Judgment("TOOL_INPUT", "C7", "constant", 0.7, "names a credential")
    needed = role == "prerequisite" or (role == "rule" and "prerequisite" in passage.above)
    needed |= passage.block.path[-1:] == ("Requirements",) and _is_thing(passage)
    told = (
        words.STRONG_RULE.match(passage.clean) if not passage.item else grammar.is_other_work(passage.clean)
    )
    if needed and not told:
        return Judgment("CONFIG", "C8", "constant", 0.8, "says what is required")
    return None


def _is_thing(passage: Passage) -> bool:
    """A name rather than a sentence: software, a server, an account."""
    sentence = grammar.is_imperative(passage.text) or words.RULE.search(passage.clean)
    return (
        passage.item
        and not sentence
        and len(passage.clean) < 100
        and words.SOFTWARE.search(passage.text) is not None
    )


def _quoted(passage: Passage) -> Judgment | None:
    """A key and only words in quotes: what somebody might say."""
    key, rest = passage.line.key, passage.line.rest
    whole = len(rest) > 30 and rest[0] in '"“' and rest[-1] in '"”' and '"' not in rest[1:-1]
    verb = grammar.leading_verb(key)
    told = (verb is not None and (" " in key or verb[1] == "CONVERSE")) or key.endswith(" rule")
    if key and whole and not told:
        return Judgment("CONFIG", "C3", "prose", 0.7, "an example in quotes")
    return None


def _output(passage: Passage) -> Judgment | None:
    if "output" not in passage.above or passage.role == "input":
        return None
    if passage.item and passage.line.key and "output" not in roles_above(passage.block.path[-2:]):
        return None
    told = grammar.is_imperative(passage.text) or words.RULE.search(passage.clean)
    sentence = not passage.line.key and passage.clean.endswith(".")
    if passage.item or (passage.role == "output" and (told or sentence)):
        return Judgment("VALIDATE_OUTPUT", "C2", "check", 0.7, "says what the output holds")
    return None


def _rule(passage: Passage) -> Judgment | None:
    """`must` and `never` make a rule; so does a heading on rules, except for members of a series that only
    name a thing."""
    modal = grammar.is_modal(passage.clean)
    if modal and words.STRONG_RULE.search(passage.clean):
        return _ruled(passage, 0.8)
    if passage.role == "environment" and _is_there(passage):
        return Judgment("CONFIG", "C8", "constant", 0.7, "says what is required")
    if passage.line.coded:
        return Judgment("CONFIG", "C3", "constant", 0.75, "explains a name")
    named = (
        passage.block.member
        and bool(passage.line.key)
        and not grammar.is_imperative(passage.text)
        and not words.RULES_LEAD.match(passage.line.key)
    )
    if (passage.role == "rule" and not named) or (modal and words.RULE.search(passage.first_sentence)):
        return _ruled(passage, 0.7)
    return None


def _writes(passage: Passage) -> bool:
    """Whether the spec is for writing and the line is not about a way out of trouble."""
    return passage.delivers and not is_marked(passage.block.path, "trouble", len(passage.block.path))


def _is_there(passage: Passage) -> bool:
    """Whether it names what exists or must exist, without an instruction about it."""
    named = words.SOFTWARE.search(passage.text) or words.THERE.search(passage.clean)
    return named is not None and not grammar.is_imperative(passage.text)


def _ruled(passage: Passage, confidence: float) -> Judgment:
    """A rule about what the agent writes is a check of its output; only its first sentence counts."""
    first = passage.first_sentence
    if _writes(passage) and grammar.is_on_writing(first) and not words.EDITS.search(first):
        return Judgment("VALIDATE_OUTPUT", "C2", "check", confidence, "a rule about the text to write")
    on_output = words.OUTPUT.search(first) is not None
    if words.WRITES.search(first) or (
        on_output and (words.RULE.search(passage.clean) or grammar.makes(first))
    ):
        return Judgment("VALIDATE_OUTPUT", "C2", "check", confidence, "a rule about the output")
    return Judgment("CONFIG", "C2", "rule", confidence, "a rule")


def _explains(passage: Passage) -> Judgment | None:
    """Sections on what the skill is for, on examples and on concepts."""
    if grammar.asks_someone(passage.clean):
        return Judgment("CONVERSE", "C2", "prose", 0.6, "asks a person")
    introduces = (
        passage.role == "identity" and not passage.item and grammar.leading_verb(passage.line.key) is None
    )
    if passage.role == "purpose" or introduces:
        return Judgment("CONFIG", "C1", "prose", 0.7, "says what it is for")
    imperative = grammar.is_imperative(passage.text)
    if passage.role == "example" and (passage.item or not imperative):
        return Judgment("CONFIG", "C3", "prose", 0.7, "an example")
    sentence = not passage.item and not passage.line.key and passage.clean.endswith((".", "!"))
    if passage.role == "concept" and not (imperative and sentence):
        return Judgment("CONFIG", "C3", "prose", 0.7, "explains a concept")
    return None


def _mood(passage: Passage) -> Judgment | None:
    if (grammar.consequence(passage.clean) or grammar.consequence(passage.line.rest)) is not None:
        return Judgment("CONFIG", "C2", "rule", 0.6, "a condition")
    account = passage.block.path and not _writes(passage) and grammar.is_account(passage.text)
    if grammar.is_imperative(passage.text) and not account:
        if words.WRITES.match(passage.clean):
            return Judgment("VALIDATE_OUTPUT", "C2", "check", 0.65, "says what to write")
        if (
            _writes(passage)
            and grammar.is_on_writing(passage.clean)
            and not words.FILES.search(passage.clean)
        ):
            return Judgment("VALIDATE_OUTPUT", "C2", "check", 0.6, "how to write the text")
        return Judgment("CONFIG", "C2", "rule", 0.6, "an instruction")
    if any(map(_instructs, _SENTENCE.split(passage.clean)[1:])):
        return Judgment("CONFIG", "C2", "rule", 0.55, "goes on with an instruction")
    return None


def _instructs(sentence: str) -> bool:
    """Whether it starts with a verb and does not tell what something does or can do."""
    if sentence.startswith(("Can ", "May ", "Will ", "Might ")) or grammar.is_account(sentence):
        return False
    return grammar.leading_verb(sentence) is not None


_REASONS: tuple[Callable[[Passage], Judgment | None], ...] = (
    _mark,
    _use,
    _key,
    _persona,
    _pointer,
    _given,
    _command,
    _needs,
    _asks,
    _reports,
    _opening,
    _box,
    _limit,
    _lookup,
    _place,
    _quoted,
    _output,
    _question,
    _rule,
    _explains,
    _mood,
)
