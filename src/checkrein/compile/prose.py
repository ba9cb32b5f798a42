"""Tag and category of a paragraph, a list item or a quote: what it is, then where it is, then its mood.

Every function below is one reason, or None when it does not apply; the first one that applies decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from checkrein.compile import grammar
from checkrein.compile.blocks import Block
from checkrein.compile.headings import is_marked, roles_above
from checkrein.compile.pointers import points_elsewhere
from checkrein.compile.said import Said, read_line
from checkrein.compile.verdict import Verdict
from checkrein.facts import compile_words as words

_ARROW = re.compile(r"\s(?:→|⇒|->|=>)\s")
_MEMORY = re.compile(r"\bMEMORY\.md\b|\bremember\b")
_SENTENCE = re.compile(r"[.?!] ")
_ASKS_BACK = re.compile(r"\?[\s*_]*(?:\([^)]{0,200}\)[\s*_]*)?$")
_NEEDS = ("prerequisite", "environment", None)


def tag_prose(block: Block, delivers: bool) -> Verdict:
    said = read_line(block, delivers)
    for reason in _REASONS:
        verdict = reason(said)
        if verdict is not None:
            return verdict
    return Verdict("CONFIG", "C3", "prose", 0.6, "something to know")


def _mark(said: Said) -> Verdict | None:
    if words.TAG_ONLY.match(said.text.strip()):
        return Verdict("NO_DECOMPOSE", "—", "other", 0.9, "a mark where a part starts or ends")
    return None


def _use(said: Said) -> Verdict | None:
    if words.USE_WHEN.match(said.clean):
        return Verdict("CONFIG", "C2", "rule", 0.8, "says when it applies")
    return None


def _key(said: Said) -> Verdict | None:
    """`Cause: ...` explains and `Fix: ...` instructs, everywhere except in text to write or input."""
    key = said.line.key
    if not key or not said.block.path or said.role in ("when", "input") or "output" in said.above:
        return None
    blank = words.INPUT.search(said.text) or words.PLACEHOLDER.match(said.text.strip())
    if words.FACT_KEYS.match(key) and not blank:
        return Verdict("CONFIG", "C3", "prose", 0.75, f"its key is `{key}`")
    if words.ACT_KEYS.match(key):
        return Verdict("CONFIG", "C2", "rule", 0.75, f"its key is `{key}`")
    return None


def _persona(said: Said) -> Verdict | None:
    if words.PERSONA.match(said.clean) and not said.item and said.role != "when":
        return Verdict("CONFIG", "C1", "prose", 0.9, "says who the agent is")
    return None


def _pointer(said: Said) -> Verdict | None:
    if points_elsewhere(said):
        return Verdict("NO_DECOMPOSE", "—", "other", 0.8, "points to another file")
    return None


def _given(said: Said) -> Verdict | None:
    """What the caller gives, and places to fill in."""
    if words.INPUT.search(said.text) and (
        said.role == "input" or said.item or said.line.key or words.INPUT.match(said.text.strip())
    ):
        return Verdict("TOOL_INPUT", "C3", "constant", 0.8, "an input")
    conditional = words.CONDITION.match(said.clean)
    if conditional and words.REQUESTS.search(said.clean):
        return Verdict("CONVERSE", "C2", "prose", 0.7, "a person is asked")
    if words.PLACEHOLDER.match(said.text.strip()) and said.role != "rule":
        if said.role != "input" and ("output" in said.above or said.delivers):
            return Verdict("DETERMINISTIC", "C3", "constant", 0.7, "a place of the template")
        return Verdict("TOOL_INPUT", "C3", "constant", 0.7, "an input to fill in")
    if said.item and said.block.ordered and words.BLANK_BELOW.match(said.text):
        return Verdict("TOOL_INPUT", "C3", "constant", 0.7, "an input to fill in")
    told = said.block.ordered and grammar.is_imperative(said.clean)
    listed = said.role == "input" and said.item and not conditional and not told
    if listed and grammar.input_name(said.text) is not None:
        return Verdict("TOOL_INPUT", "C3", "constant", 0.7, "an input to fill in")
    if not said.item and said.line.rest and words.INPUT_KEYS.match(said.line.key):
        return Verdict("TOOL_INPUT", "C3", "constant", 0.7, "an input")
    if said.line.coded and words.PLACEHOLDER_KEY.match(said.line.key):
        return Verdict("TOOL_INPUT", "C3", "constant", 0.7, "explains a place to fill in")
    return None


def _command(said: Said) -> Verdict | None:
    found = None if said.item else words.COMMAND_LINE.match(said.text.strip())
    if found is not None and found[1] in words.SHELL_HEADS:
        return Verdict("TOOL_TEMPLATE", "C6", "tool_ref", 0.8, "a command")
    return None


def _needs(said: Said) -> Verdict | None:
    placed = not said.item or said.role in _NEEDS or "prerequisite" in said.above
    if placed and words.NEEDS.match(said.clean):
        return Verdict("CONFIG", "C8", "constant", 0.8, "says what must be there")
    return None


def _asks(said: Said) -> Verdict | None:
    """The work is asking: at once, or on a condition. A key before it makes it a rule."""
    if not grammar.may_ask(said.clean):
        return None
    todo = grammar.consequence(said.clean) or (said.line.rest if said.line.key else said.clean)
    found = grammar.leading_verb(todo)
    asked = (
        found is not None
        and found[1] == "CONVERSE"
        and (words.QUESTION.search(todo) is not None or grammar.asks_someone(todo))
    )
    if asked or (words.ASKS.match(said.clean) and not said.item):
        return Verdict("CONVERSE", "C2", "prose", 0.7, "a person is asked")
    return None


def _reports(said: Said) -> Verdict | None:
    if not said.item and ":" in said.clean and words.REPORTS.search(said.clean):
        return Verdict("VALIDATE_OUTPUT", "C2", "check", 0.7, "says what to write")
    return None


def _opening(said: Said) -> Verdict | None:
    if not said.block.first or said.item:
        return None
    if grammar.is_told(said.clean) and not words.USE_TO.match(said.clean):
        return Verdict("CONFIG", "C2", "rule", 0.7, "an instruction")
    return Verdict("CONFIG", "C1", "prose", 0.8, "says what it is for")


def _box(said: Said) -> Verdict | None:
    """A line to tick off: about the text when the spec writes one, else about the work."""
    if not said.text.startswith(("[ ]", "[x]", "[X]")):
        return None
    if (said.delivers or "output" in said.above) and not grammar.is_imperative(said.text):
        return Verdict("VALIDATE_OUTPUT", "C2", "check", 0.7, "a check of the text")
    return Verdict("CONFIG", "C2", "rule", 0.7, "a check")


def _limit(said: Said) -> Verdict | None:
    if words.LIMIT.search(said.first_sentence) and said.role not in ("input", "concept", "example"):
        return Verdict("VALIDATE_OUTPUT", "C2", "check", 0.7, "says how long it may be")
    return None


def _question(said: Said) -> Verdict | None:
    """A question in a list is for a person when the heading says so, else about the work."""
    asked = is_marked(said.block.path, "only_questions")
    if not said.item or not (asked or _ASKS_BACK.search(said.clean)):
        return None
    if asked or is_marked(said.block.path, "questions", 2):
        return Verdict("CONVERSE", "C2", "prose", 0.7, "a person is asked")
    return Verdict("CONFIG", "C2", "rule", 0.65, "a question about the work")


def _lookup(said: Said) -> Verdict | None:
    text = said.text.strip()
    if "→" in text and words.LINK_END.search(text) and "example" not in said.above:
        return Verdict("NO_DECOMPOSE", "—", "other", 0.7, "points to another page")
    pair = words.LOOKUP.match(text)
    if pair and grammar.leading_verb(_ARROW.split(text)[-1]):
        return Verdict("CONFIG", "C2", "rule", 0.7, "what to do when")
    scale = is_marked(said.block.path, "scale")
    if text[:1] in words.TICKS and not scale:
        return None
    number = said.item and said.line.key and (scale or words.AMOUNT.match(said.line.rest))
    if said.role != "rule" and (
        pair or number or words.FORMULA.match(text) or words.FORMULA.match(said.line.rest)
    ):
        return Verdict("DETERMINISTIC", "C3", "constant", 0.7, "a value for a value")
    return None


def _place(said: Said) -> Verdict | None:
    """Headings whose sections are of one kind."""
    role = said.role
    if role == "credits":
        return Verdict("NO_DECOMPOSE", "—", "other", 0.8, "credits")
    if role == "when":
        return Verdict("CONFIG", "C2", "rule", 0.8, "says when it applies")
    if role == "memory" and _MEMORY.search(said.text):
        return Verdict("TOOL_INPUT", "C4", "prose", 0.6, "relies on memory")
    set_up = role in ("environment", "prerequisite") or said.block.path[-1:] == ("Requirements",)
    if set_up and words.CREDENTIAL.search(said.text) and not _ARROW.search(said.text):
        return Verdict("TOOL_INPUT", "C7", "constant", 0.7, "names a credential")
    needed = role == "prerequisite" or (role == "rule" and "prerequisite" in said.above)
    needed |= said.block.path[-1:] == ("Requirements",) and _is_thing(said)
    told = words.STRONG_RULE.match(said.clean) if not said.item else grammar.is_other_work(said.clean)
    if needed and not told:
        return Verdict("CONFIG", "C8", "constant", 0.8, "says what must be there")
    return None


def _is_thing(said: Said) -> bool:
    """A name rather than a sentence: software, a server, an account."""
    sentence = grammar.is_imperative(said.text) or words.RULE.search(said.clean)
    return (
        said.item and not sentence and len(said.clean) < 100 and words.SOFTWARE.search(said.text) is not None
    )


def _quoted(said: Said) -> Verdict | None:
    """A key and only words in quotes: what somebody might say."""
    key, rest = said.line.key, said.line.rest
    whole = len(rest) > 30 and rest[0] in '"“' and rest[-1] in '"”' and '"' not in rest[1:-1]
    verb = grammar.leading_verb(key)
    told = (verb is not None and (" " in key or verb[1] == "CONVERSE")) or key.endswith(" rule")
    if key and whole and not told:
        return Verdict("CONFIG", "C3", "prose", 0.7, "an example in quotes")
    return None


def _output(said: Said) -> Verdict | None:
    if "output" not in said.above or said.role == "input":
        return None
    if said.item and said.line.key and "output" not in roles_above(said.block.path[-2:]):
        return None
    told = grammar.is_imperative(said.text) or words.RULE.search(said.clean)
    sentence = not said.line.key and said.clean.endswith(".")
    if said.item or (said.role == "output" and (told or sentence)):
        return Verdict("VALIDATE_OUTPUT", "C2", "check", 0.7, "says what the output holds")
    return None


def _rule(said: Said) -> Verdict | None:
    """`must` and `never` make a rule; so does a heading on rules, except for members of a series that only
    name a thing."""
    modal = grammar.is_modal(said.clean)
    if modal and words.STRONG_RULE.search(said.clean):
        return _ruled(said, 0.8)
    if said.role == "environment" and _is_there(said):
        return Verdict("CONFIG", "C8", "constant", 0.7, "says what must be there")
    if said.line.coded:
        return Verdict("CONFIG", "C3", "constant", 0.75, "explains a name")
    named = (
        said.block.member
        and bool(said.line.key)
        and not grammar.is_imperative(said.text)
        and not words.RULES_LEAD.match(said.line.key)
    )
    if (said.role == "rule" and not named) or (modal and words.RULE.search(said.first_sentence)):
        return _ruled(said, 0.7)
    return None


def _writes(said: Said) -> bool:
    """Whether the spec is for writing and the line is not about a way out of trouble."""
    return said.delivers and not is_marked(said.block.path, "trouble", len(said.block.path))


def _is_there(said: Said) -> bool:
    """Whether it names what exists or must exist, without an instruction about it."""
    named = words.SOFTWARE.search(said.text) or words.THERE.search(said.clean)
    return named is not None and not grammar.is_imperative(said.text)


def _ruled(said: Said, confidence: float) -> Verdict:
    """A rule about what the agent writes is a check of its output; only its first sentence counts."""
    first = said.first_sentence
    if _writes(said) and grammar.is_on_writing(first) and not words.EDITS.search(first):
        return Verdict("VALIDATE_OUTPUT", "C2", "check", confidence, "a rule about the text to write")
    on_output = words.OUTPUT.search(first) is not None
    if words.WRITES.search(first) or (on_output and (words.RULE.search(said.clean) or grammar.makes(first))):
        return Verdict("VALIDATE_OUTPUT", "C2", "check", confidence, "a rule about the output")
    return Verdict("CONFIG", "C2", "rule", confidence, "a rule")


def _explains(said: Said) -> Verdict | None:
    """Sections on what the skill is for, on examples and on concepts."""
    if grammar.asks_someone(said.clean):
        return Verdict("CONVERSE", "C2", "prose", 0.6, "a person is asked")
    introduces = said.role == "identity" and not said.item and grammar.leading_verb(said.line.key) is None
    if said.role == "purpose" or introduces:
        return Verdict("CONFIG", "C1", "prose", 0.7, "says what it is for")
    imperative = grammar.is_imperative(said.text)
    if said.role == "example" and (said.item or not imperative):
        return Verdict("CONFIG", "C3", "prose", 0.7, "an example")
    sentence = not said.item and not said.line.key and said.clean.endswith((".", "!"))
    if said.role == "concept" and not (imperative and sentence):
        return Verdict("CONFIG", "C3", "prose", 0.7, "explains a concept")
    return None


def _mood(said: Said) -> Verdict | None:
    if (grammar.consequence(said.clean) or grammar.consequence(said.line.rest)) is not None:
        return Verdict("CONFIG", "C2", "rule", 0.6, "a condition")
    account = said.block.path and not _writes(said) and grammar.is_account(said.text)
    if grammar.is_imperative(said.text) and not account:
        if words.WRITES.match(said.clean):
            return Verdict("VALIDATE_OUTPUT", "C2", "check", 0.65, "says what to write")
        if _writes(said) and grammar.is_on_writing(said.clean) and not words.FILES.search(said.clean):
            return Verdict("VALIDATE_OUTPUT", "C2", "check", 0.6, "how to write the text")
        return Verdict("CONFIG", "C2", "rule", 0.6, "an instruction")
    if any(map(_instructs, _SENTENCE.split(said.clean)[1:])):
        return Verdict("CONFIG", "C2", "rule", 0.55, "goes on with an instruction")
    return None


def _instructs(sentence: str) -> bool:
    """Whether it starts with a verb and does not tell what something does or can do."""
    if sentence.startswith(("Can ", "May ", "Will ", "Might ")) or grammar.is_account(sentence):
        return False
    return grammar.leading_verb(sentence) is not None


_REASONS: tuple[Callable[[Said], Verdict | None], ...] = (
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
