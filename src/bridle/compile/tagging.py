"""Tag and category of one block, by where it stands and how it is built."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from bridle.compile import grammar
from bridle.compile.blocks import Block, inner, plain
from bridle.compile.headings import role_of, role_under, roles_above
from bridle.facts import compile_words as words
from bridle.facts.compile import Category, Tag

_LINK_ONLY = re.compile(r"^(?:\[[^\]]*\]\([^)]*\)|https?://\S+|`[^`]*\.\w+`)[\s.,:;–—-]*", re.ASCII)
_FENCED = re.compile(r"^\s*(```|~~~).*?^\s*\1[^\n]*$", re.DOTALL | re.MULTILINE)
_ARROW = re.compile(r"\s(?:→|⇒|->|=>)\s")
_COMMENT = re.compile(r"^<!--.*-->$", re.DOTALL)

Rough = Literal["rule", "check", "constant", "tool_ref", "schema", "prose", "other"]


class Verdict(Struct, frozen=True):
    """`confidence` is 0.8 and more where the structure says it, 0.7 where a heading or a word does, and less
    where nothing but the mood of the sentence speaks."""

    tag: Tag
    category: Category
    rough: Rough
    confidence: float
    why: str


def tag_step(text: str, body: str = "") -> Verdict:
    """A step of a procedure, by the work that its first line names; asking a person and loops outrank it.

    `body` is what stands under a step's heading: where the heading names no work, its first instruction does.
    """
    first = text.split("\n", 1)[0]
    head = plain(first)
    if words.ASK_USER.search(head.split(". ")[0]):
        return Verdict("CONVERSE", "C2", "prose", 0.8, "a person is asked")
    if words.REPEAT.search(text):
        return Verdict("REMEDIATE", "C2", "prose", 0.8, "repeats until a check passes")
    if words.FINDS_OUT.match(head):
        return Verdict("EXTRACT", "C2", "prose", 0.8, "analyses in order to find out")
    line = grammar.parts(first)
    if words.SORTS.match(line.key or head):
        return Verdict("CLASSIFY", "C2", "prose", 0.7, "finds which one of a set")
    then = grammar.consequence(head)
    if then is not None and words.CONDITION.match(head):
        return Verdict("DECIDE", "C2", "prose", 0.7, "a condition")
    for part in (line.key, line.rest, then or ""):
        found = grammar.leading_verb(part)
        if found is not None:
            verb, tag = grammar.heavier(found, part)
            return Verdict(tag, "C2", "prose", 0.8, f"starts with `{verb}`")
    found = grammar.named_work(line.key or line.rest)
    if found is not None:
        return Verdict(found[1], "C2", "prose", 0.7, f"is about `{found[0]}`")
    for sentence in (plain(one) for one in _FENCED.sub("", body).split("\n")):
        todo = grammar.consequence(sentence) or sentence
        found = grammar.leading_verb(todo)
        if found is not None:
            verb, tag = grammar.heavier(found, todo)
            return Verdict(tag, "C2", "prose", 0.6, f"goes on with `{verb}`")
    return Verdict("ORCHESTRATE", "C2", "prose", 0.5, "a step without a verb")


def tag_block(block: Block) -> Verdict:
    """Any block that is no step."""
    if block.kind == "rule":
        return Verdict("NO_DECOMPOSE", "—", "other", 1.0, "a line")
    if block.kind == "html":
        if _COMMENT.match(block.text.strip()):
            return Verdict("NO_DECOMPOSE", "—", "other", 0.9, "a comment")
        return _prose(block)
    if block.kind == "fence":
        return _fence(block)
    if block.kind == "table":
        return _table(block)
    return _prose(block)


def is_shell(block: Block) -> bool:
    if block.language in words.SHELL_LANGUAGES:
        return True
    if block.language not in ("", "text", "plaintext"):
        return False
    lines = [line.strip().lstrip("$ ") for line in inner(block).split("\n") if line.strip()]
    code = [line for line in lines if not line.startswith("#")]
    return bool(code) and sum(line.split(" ")[0] in words.SHELL_HEADS for line in code) * 2 > len(code)


def _fence(block: Block) -> Verdict:
    role = role_under(block.path)
    above = roles_above(block.path[-2:])
    if is_shell(block):
        return Verdict("TOOL_TEMPLATE", "C6", "tool_ref", 0.9, "commands of a shell")
    if not block.language and _is_shouted(inner(block)):
        return Verdict("CONFIG", "C2", "rule", 0.8, "a rule in capitals")
    if not block.language and words.DIRECTIVE_LINE.search(inner(block)):
        return Verdict("CONFIG", "C2", "rule", 0.7, "instructions in a block")
    if block.language in words.SCHEMA_LANGUAGES and "output" in above:
        return Verdict("SCHEMA", "—", "schema", 0.8, "a data shape under a heading on output")
    if role == "example" or "example" in above:
        return Verdict("CONFIG", "C3", "constant", 0.8, "an example")
    text = inner(block)
    if (
        block.language in ("", "markdown", "md", "text")
        and "output" in above
        and (block.language in ("markdown", "md") or words.BLANK.search(text))
    ):
        return Verdict("DETERMINISTIC", "C3", "constant", 0.8, "a template of the output")
    return Verdict("CONFIG", "C3", "constant", 0.7, "sample code")


def _is_shouted(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    return 8 < len(letters) < 400 and sum(char.isupper() for char in letters) * 10 > len(letters) * 9


def _table(block: Block) -> Verdict:
    lines = block.text.split("\n")
    if lines[0].strip(" |").count("|") < 2 and _is_links("\n".join(lines[2:])):
        return Verdict("NO_DECOMPOSE", "—", "other", 0.7, "a table of links")
    nearest = role_under(block.path[-1:])
    if nearest in ("rule", "when") or words.DIRECTIVE_COLUMNS.search(lines[0]):
        return Verdict("CONFIG", "C2", "rule", 0.7, "a table of rules")
    return Verdict("DETERMINISTIC", "C3", "constant", 0.7, "a lookup table")


def _is_links(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return bool(lines) and all("](" in line or "http" in line for line in lines)


def _prose(block: Block) -> Verdict:
    """Order matters: what the line is, then what it stands under, then its mood."""
    text = inner(block) if block.kind == "item" else block.text
    clean = plain(text)
    item = block.kind == "item"
    role = (None if item else role_of(grammar.parts(text).key)) or role_under(block.path)
    found = _by_form(block, text, clean, role)
    if found is not None:
        return found
    found = _by_place(block, text, clean, role)
    if found is not None:
        return found
    return _by_mood(text, clean, item, role)


def _by_form(block: Block, text: str, clean: str, role: str | None) -> Verdict | None:
    """What a line says of itself: who the agent is, when to use it, where more is written, what it needs."""
    item = block.kind == "item"
    if words.USE_WHEN.match(clean):
        return Verdict("CONFIG", "C2", "rule", 0.8, "says when it applies")
    if words.PERSONA.match(clean) and not item and role != "when":
        return Verdict("CONFIG", "C1", "prose", 0.9, "says who the agent is")
    if _points_elsewhere(block, text, clean):
        return Verdict("NO_DECOMPOSE", "—", "other", 0.8, "points to another file")
    if words.INPUT.search(text) and (role == "input" or item):
        return Verdict("TOOL_INPUT", "C3", "constant", 0.8, "an input")
    if role == "input" and item and grammar.input_name(text) is not None:
        return Verdict("TOOL_INPUT", "C3", "constant", 0.7, "an input to fill in")
    if words.NEEDS.match(clean):
        return Verdict("CONFIG", "C8", "constant", 0.8, "says what must be there")
    if (words.ASKS.match(clean) and not item) or _asks(text, clean):
        return Verdict("CONVERSE", "C2", "prose", 0.7, "a person is asked")
    if not item and words.REPORTS.search(clean):
        return Verdict("VALIDATE_OUTPUT", "C2", "check", 0.7, "says what to write")
    if block.first and not item:
        return Verdict("CONFIG", "C1", "prose", 0.8, "says what it is for")
    if words.LOOKUP.match(text.strip()) and grammar.leading_verb(_ARROW.split(text.strip())[-1]):
        return Verdict("CONFIG", "C2", "rule", 0.7, "what to do when")
    if words.LOOKUP.match(text.strip()) or words.FORMULA.match(text.strip()):
        return Verdict("DETERMINISTIC", "C3", "constant", 0.7, "a value for a value")
    return None


def _asks(text: str, clean: str) -> bool:
    """What is to be done is asking: at once, or on a condition. A key before it makes it a rule."""
    line = grammar.parts(text)
    todo = grammar.consequence(clean) or (line.rest if line.key else clean)
    found = grammar.leading_verb(todo)
    return found is not None and found[1] == "CONVERSE" and words.ASK_USER.search(todo) is not None


def _by_place(block: Block, text: str, clean: str, role: str | None) -> Verdict | None:
    item = block.kind == "item"
    above = roles_above(block.path)
    if role == "credits":
        return Verdict("NO_DECOMPOSE", "—", "other", 0.8, "credits")
    if role == "when":
        return Verdict("CONFIG", "C2", "rule", 0.8, "says when it applies")
    if role == "memory" and re.search(r"\bMEMORY\.md\b|\bremember\b", text):
        return Verdict("TOOL_INPUT", "C4", "prose", 0.6, "relies on memory")
    if words.CREDENTIAL.search(text) and role in ("environment", "prerequisite"):
        return Verdict("TOOL_INPUT", "C7", "constant", 0.7, "names a credential")
    if role == "prerequisite":
        return Verdict("CONFIG", "C8", "constant", 0.8, "says what must be there")
    says_how = item or (role == "output" and (grammar.is_imperative(text) or words.RULE.search(clean)))
    if says_how and "output" in above and role != "input":
        return Verdict("VALIDATE_OUTPUT", "C2", "check", 0.7, "says what the output holds")
    if words.STRONG_RULE.search(clean):
        return _rule(clean, 0.8)
    if role == "environment":
        return Verdict("CONFIG", "C8", "constant", 0.7, "says what must be there")
    if grammar.parts(text).coded:
        return Verdict("CONFIG", "C3", "constant", 0.7, "explains a name")
    if role == "rule" or words.RULE.search(clean.split(". ")[0]):
        return _rule(clean, 0.7)
    return None


def _by_mood(text: str, clean: str, item: bool, role: str | None) -> Verdict:
    if words.ASK_USER.search(clean):
        return Verdict("CONVERSE", "C2", "prose", 0.6, "a person is asked")
    imperative = grammar.is_imperative(text)
    if role == "identity" and not item and grammar.leading_verb(grammar.parts(text).key) is None:
        return Verdict("CONFIG", "C1", "prose", 0.7, "says what it is for")
    if role == "example" and (item or not imperative):
        return Verdict("CONFIG", "C3", "prose", 0.7, "an example")
    if role == "concept":
        return Verdict("CONFIG", "C3", "prose", 0.7, "explains a concept")
    if (grammar.consequence(clean) or grammar.consequence(grammar.parts(text).rest)) is not None:
        return Verdict("CONFIG", "C2", "rule", 0.6, "a condition")
    if imperative:
        return Verdict("CONFIG", "C2", "rule", 0.6, "an instruction")
    return Verdict("CONFIG", "C3", "prose", 0.6, "something to know")


def _points_elsewhere(block: Block, text: str, clean: str) -> bool:
    """A line that only says where more is written."""
    links = block.path and role_under(block.path[-1:]) == "links"
    if len(clean) > 300 or not words.PATH_OR_LINK.search(text):
        return bool(links) and text.lstrip().startswith(("`", "[", "http", "**`", "**["))
    if block.kind == "item" and _LINK_ONLY.match(text.strip().lstrip("*-• ")):
        return True
    return words.POINTER.match(clean) is not None or words.LIVES_IN.search(clean) is not None


def _rule(text: str, confidence: float) -> Verdict:
    """A rule on what the agent writes is a check of its output; only its first sentence counts."""
    first = text.split(". ")[0]
    if words.WRITES.search(first) or (words.OUTPUT.search(first) and words.RULE.search(text)):
        return Verdict("VALIDATE_OUTPUT", "C2", "check", confidence, "a rule on the output")
    return Verdict("CONFIG", "C2", "rule", confidence, "a rule")
