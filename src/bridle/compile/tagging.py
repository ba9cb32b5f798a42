"""Tag and category of one block, by where it stands and which words it is made of."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from bridle.compile.blocks import Block, inner, plain
from bridle.facts import compile_words as words
from bridle.facts.compile import Category, Tag

_WORD = re.compile(r"[a-z][a-z'-]*")
_LINK_ONLY = re.compile(r"^(?:\[[^\]]*\]\([^)]*\)|https?://\S+|`[^`]*\.\w+`)[\s.,:;–—-]*", re.ASCII)
_COMMENT = re.compile(r"^<!--.*-->$", re.DOTALL)

Rough = Literal["rule", "check", "constant", "tool_ref", "schema", "prose", "other"]


class Verdict(Struct, frozen=True):
    tag: Tag
    category: Category
    rough: Rough
    confidence: float
    why: str


def leading_verb(text: str) -> tuple[str, Tag] | None:
    """The first word of a line when it is a verb that starts an instruction."""
    for word in _WORD.findall(plain(text).lower())[:2]:
        tag = words.VERBS.get(word)
        if tag is not None:
            return word, tag
        if not word.endswith("ly") and word not in ("you", "to", "the", "now", "then", "please", "and"):
            return None
    return None


def is_imperative(text: str) -> bool:
    return leading_verb(text) is not None


def tag_step(text: str) -> Verdict:
    """A step of a procedure, by its first verb; asking a person and loops outrank it."""
    head = plain(text.split("\n", 1)[0])
    if words.ASK_USER.search(head):
        return Verdict("CONVERSE", "C2", "prose", 0.8, "a person is asked")
    if words.REPEAT.search(text):
        return Verdict("REMEDIATE", "C2", "prose", 0.8, "repeats until a check passes")
    if words.FINDS_OUT.match(head):
        return Verdict("EXTRACT", "C2", "prose", 0.8, "analyses in order to find out")
    verb = leading_verb(head)
    if verb is None:
        return Verdict("ORCHESTRATE", "C2", "prose", 0.6, "a step without a leading verb")
    return Verdict(verb[1], "C2", "prose", 0.8, f"starts with `{verb[0]}`")


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


def _under(block: Block, pattern: re.Pattern[str]) -> bool:
    """Whether the nearest two headings speak of it. The title of the document is no heading."""
    return any(pattern.search(title) for title in block.path[-2:])


def is_shell(block: Block) -> bool:
    if block.language in words.SHELL_LANGUAGES:
        return True
    if block.language not in ("", "text", "plaintext"):
        return False
    lines = [line.strip().lstrip("$ ") for line in inner(block).split("\n") if line.strip()]
    code = [line for line in lines if not line.startswith("#")]
    return bool(code) and sum(line.split(" ")[0] in words.SHELL_HEADS for line in code) * 2 > len(code)


def _fence(block: Block) -> Verdict:
    if is_shell(block):
        return Verdict("TOOL_TEMPLATE", "C6", "tool_ref", 0.9, "commands of a shell")
    if not block.language and _is_shouted(inner(block)):
        return Verdict("CONFIG", "C2", "rule", 0.8, "a rule in capitals")
    if block.language in words.SCHEMA_LANGUAGES and _under(block, words.OUTPUT_HEADING):
        return Verdict("SCHEMA", "—", "schema", 0.8, "a data shape under a heading on output")
    if _under(block, words.EXAMPLE_HEADING):
        return Verdict("CONFIG", "C3", "constant", 0.7, "an example")
    if block.language in ("", "markdown", "md", "text") and _under(block, words.OUTPUT_HEADING):
        return Verdict("DETERMINISTIC", "C3", "constant", 0.7, "a template of the output")
    return Verdict("CONFIG", "C3", "constant", 0.7, "sample code")


def _is_shouted(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    return 8 < len(letters) < 400 and sum(char.isupper() for char in letters) * 10 > len(letters) * 9


def _table(block: Block) -> Verdict:
    if _is_links("\n".join(block.text.split("\n")[2:])):
        return Verdict("NO_DECOMPOSE", "—", "other", 0.7, "a table of links")
    if _under(block, words.RULE_HEADING) or _under(block, words.WHEN_HEADING):
        return Verdict("CONFIG", "C2", "rule", 0.7, "a table of rules")
    return Verdict("DETERMINISTIC", "C3", "constant", 0.7, "a lookup table")


def _is_links(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return bool(lines) and all("](" in line or "http" in line for line in lines)


def _prose(block: Block) -> Verdict:
    text = inner(block) if block.kind == "item" else block.text
    clean = plain(text)
    item = block.kind == "item"
    if words.PERSONA.match(clean) and not item and not _under(block, words.WHEN_HEADING):
        return Verdict("CONFIG", "C1", "prose", 0.9, "says who the agent is")
    if _points_elsewhere(block, text, clean):
        return Verdict("NO_DECOMPOSE", "—", "other", 0.8, "points to another file")
    if words.INPUT.search(text) and (_under(block, words.INPUT_HEADING) or item):
        return Verdict("TOOL_INPUT", "C3", "constant", 0.8, "an input")
    if words.NEEDS.match(clean):
        return Verdict("CONFIG", "C8", "constant", 0.8, "says what must be there")
    if _under(block, words.WHEN_HEADING):
        return Verdict("CONFIG", "C2", "rule", 0.8, "says when it applies")
    if _under(block, words.MEMORY_HEADING) and re.search(r"\bMEMORY\.md\b|\bremember\b", text):
        return Verdict("TOOL_INPUT", "C4", "prose", 0.6, "relies on memory")
    if words.CREDENTIAL.search(text) and _under(block, words.ENVIRONMENT_HEADING):
        return Verdict("TOOL_INPUT", "C7", "constant", 0.7, "names a credential")
    if _under(block, words.PREREQUISITE_HEADING):
        return Verdict("CONFIG", "C8", "constant", 0.8, "says what must be there")
    if words.STRONG_RULE.search(clean):
        return _rule(clean, 0.8)
    if _under(block, words.ENVIRONMENT_HEADING):
        return Verdict("CONFIG", "C8", "constant", 0.7, "says what must be there")
    if item and any(words.OUTPUT_HEADING.search(title) for title in block.path):
        return Verdict("VALIDATE_OUTPUT", "C2", "check", 0.6, "says what the output holds")
    if _under(block, words.RULE_HEADING) or words.RULE.search(clean.split(". ")[0]):
        return _rule(clean, 0.7)
    if words.ASK_USER.search(clean):
        return Verdict("CONVERSE", "C2", "prose", 0.6, "a person is asked")
    concept = _under(block, words.CONCEPT_HEADING)
    if words.CONDITION.match(clean) and not concept:
        return Verdict("CONFIG", "C2", "rule", 0.6, "a condition")
    if block.first or (not item and _under(block, words.IDENTITY_HEADING)):
        return Verdict("CONFIG", "C1", "prose", 0.7, "says what it is for")
    if is_imperative(clean) and not concept:
        return Verdict("CONFIG", "C2", "rule", 0.6, "an instruction")
    if not item and not block.path:
        return Verdict("CONFIG", "C1", "prose", 0.6, "says what it is for")
    return Verdict("CONFIG", "C3", "prose", 0.6, "something to know")


def _points_elsewhere(block: Block, text: str, clean: str) -> bool:
    """A line that only says where more is written."""
    if len(clean) > 300 or not words.PATH_OR_LINK.search(text):
        related = words.LINKS_HEADING.search(block.path[-1]) if block.path else None
        return related is not None and text.lstrip().startswith(("`", "[", "http", "**`", "**["))
    if block.kind == "item" and _LINK_ONLY.match(text.strip().lstrip("*-• ")):
        return True
    return words.POINTER.match(clean) is not None


def _rule(text: str, confidence: float) -> Verdict:
    if words.OUTPUT.search(text) and words.RULE.search(text):
        return Verdict("VALIDATE_OUTPUT", "C2", "check", confidence, "a rule on the output")
    return Verdict("CONFIG", "C2", "rule", confidence, "a rule")
