"""Tag and category of a step, a fence or a table, by its place and its structure."""

from __future__ import annotations

import re

from checkrein.compile import grammar
from checkrein.compile.blocks import Block, inner, plain
from checkrein.compile.headings import is_marked, role_under, roles_above
from checkrein.compile.inputs import is_input_table
from checkrein.compile.judgment import Judgment
from checkrein.compile.prose import tag_prose
from checkrein.facts import compile_words as words

_FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*$", re.DOTALL | re.MULTILINE)
_PAIR = re.compile(r"^\s*\S.{0,40}?(?:\s{2,}|\t|\s*[:=→]\s+|\s-+\s|\s[-=]>\s)\S")
_BOX = re.compile(r"^\s*(?:(?:[-*+]|\d+[.)])\s*)?\[[ xX]\]\s")
_LISTED = re.compile(r"^\s*(?:\d+[.)]|[-*•□☐])\s+(?P<said>\S.*)")
_COMMENT = re.compile(r"^<!--.*-->$", re.DOTALL)


def tag_step(text: str, body: str = "") -> Judgment:
    """The tag of a step, by the work that its first line names; asking a person and loops outrank it.

    `body` is the text under a step's heading: when the heading names no work, its first instruction does.
    """
    first = text.split("\n", 1)[0]
    head = plain(first)
    if (head.endswith("?") and not grammar.parts(first).key) or grammar.asks_someone(head.split(". ")[0]):
        return Judgment("CONVERSE", "C2", "prose", 0.8, "asks a person")
    if words.REPEAT.search(text):
        return Judgment("REMEDIATE", "C2", "prose", 0.8, "repeats until a check passes")
    if words.FINDS_OUT.match(head):
        return Judgment("EXTRACT", "C2", "prose", 0.8, "analyses to find out")
    line = grammar.parts(first)
    if words.SORTS.match(line.key or head):
        return Judgment("CLASSIFY", "C2", "prose", 0.7, "finds one of a set")
    then = grammar.consequence(head)
    if then is not None and words.CONDITION.match(head):
        return Judgment("DECIDE", "C2", "prose", 0.7, "a condition")
    if grammar.is_noun_phrase(line.key or line.rest):
        found = grammar.named_work(line.key or line.rest)
        if found is not None:
            return Judgment(found[1], "C2", "prose", 0.7, f"is about `{found[0]}`")
    for part in (line.key, then or "", line.rest):
        found = grammar.leading_verb(part)
        if found is not None:
            verb, tag = grammar.heavier(found, part)
            return Judgment(tag, "C2", "prose", 0.8, f"starts with `{verb}`")
    found = grammar.named_work(line.key or line.rest)
    if found is not None:
        return Judgment(found[1], "C2", "prose", 0.7, f"is about `{found[0]}`")
    for sentence in (plain(one) for one in _FENCED.sub("", body).split("\n")):
        todo = grammar.consequence(sentence) or sentence
        found = grammar.leading_verb(todo)
        if found is not None:
            verb, tag = grammar.heavier(found, todo)
            return Judgment(tag, "C2", "prose", 0.6, f"goes on with `{verb}`")
    return Judgment("ORCHESTRATE", "C2", "prose", 0.5, "a step without a verb")


def tag_block(block: Block, delivers: bool = False) -> Judgment:
    """The tag of a block that is not a step. With `delivers` the spec is for writing a text: most rules are
    about that."""
    if block.kind == "rule":
        return Judgment("NO_DECOMPOSE", "—", "other", 1.0, "a line")
    if block.kind == "html":
        if _COMMENT.match(block.text.strip()):
            return Judgment("NO_DECOMPOSE", "—", "other", 0.9, "a comment")
        return tag_prose(block, delivers)
    if block.kind == "fence":
        return _fence(block, delivers)
    if block.kind == "table":
        return _table(block)
    return tag_prose(block, delivers)


def is_shell(block: Block) -> bool:
    if block.language in words.SHELL_LANGUAGES:
        return True
    if block.language not in ("", "text", "plaintext"):
        return False
    lines = [line.strip().lstrip("$ ") for line in inner(block).split("\n") if line.strip()]
    code = [line for line in lines if not line.startswith("#")]
    return bool(code) and sum(line.split(" ")[0] in words.SHELL_HEADS for line in code) * 2 > len(code)


def _fence(block: Block, delivers: bool) -> Judgment:
    role = role_under(block.path)
    above = roles_above(block.path[-2:])
    if is_shell(block):
        return Judgment("TOOL_TEMPLATE", "C6", "tool_ref", 0.9, "shell commands")
    if not block.language and _is_shouted(inner(block)):
        return Judgment("CONFIG", "C2", "rule", 0.8, "a rule in capitals")
    if not block.language and words.DIRECTIVE_LINE.search(inner(block)):
        return Judgment("CONFIG", "C2", "rule", 0.7, "instructions in a block")
    if block.language in words.SCHEMA_LANGUAGES and "output" in above:
        return Judgment("SCHEMA", "—", "schema", 0.8, "a data shape under a heading on output")
    if role == "example" or "example" in above:
        return Judgment("CONFIG", "C3", "constant", 0.8, "an example")
    text = inner(block)
    lines = [line for line in text.split("\n") if line.strip()]
    if sum(_BOX.match(line) is not None for line in lines) * 2 > len(lines):
        return Judgment("CONFIG", "C2", "rule", 0.7, "a checklist")
    if block.language in ("", "text") and len(lines) > 2 and _is_told(lines):
        return Judgment("CONFIG", "C2", "rule", 0.7, "instructions in a block")
    if (
        block.language in ("", "markdown", "md", "text")
        and ("output" in above or delivers)
        and (block.language in ("markdown", "md") or words.BLANK.search(text))
    ):
        return Judgment("DETERMINISTIC", "C3", "constant", 0.8, "a template of the output")
    if is_marked(block.path, "file"):
        return Judgment("DETERMINISTIC", "C3", "constant", 0.7, "a file to write")
    drawn = any(sign in text for sign in words.DRAWING)
    if block.language in ("", "text") and len(lines) > 2 and not drawn:
        pairs = [line for line in lines if not line.rstrip().endswith(":")]
        paired = sum(_PAIR.match(line) is not None for line in pairs)
        called = sum("(" in line and "=" in line for line in lines)
        if paired * 10 > len(pairs) * 7 and called * 3 <= len(lines):
            return Judgment("DETERMINISTIC", "C3", "constant", 0.7, "maps values to values")
    return Judgment("CONFIG", "C3", "constant", 0.7, "sample code")


def _is_told(lines: list[str]) -> bool:
    """Whether most of its numbered or listed lines are instructions."""
    listed = [found["said"] for line in lines if (found := _LISTED.match(line)) is not None]
    told = sum(grammar.leading_verb(line) is not None for line in listed)
    return len(listed) * 2 > len(lines) and told * 2 > len(listed)


def is_template(block: Block) -> bool:
    """Text with several places to fill in."""
    if block.language not in ("", "text", "markdown", "md") or is_shell(block):
        return False
    if {"example", "concept", "procedure"} & roles_above(block.path[-1:]):
        return False
    return len(words.BLANK.findall(inner(block))) > 2


def _is_shouted(text: str) -> bool:
    letters = [char for char in text if char.isalpha()]
    return 8 < len(letters) < 400 and sum(char.isupper() for char in letters) * 10 > len(letters) * 9


def _table(block: Block) -> Judgment:
    lines = block.text.split("\n")
    if words.WHEN_COLUMNS.search(lines[0]):
        return Judgment("CONFIG", "C2", "rule", 0.7, "a table of rules")
    if lines[0].strip(" |").count("|") < 2 and _is_links("\n".join(lines[2:])):
        return Judgment("NO_DECOMPOSE", "—", "other", 0.7, "a table of links")
    if role_under(block.path) == "input" and is_input_table(block.text):
        return Judgment("TOOL_INPUT", "C3", "constant", 0.75, "a table of inputs")
    nearest = role_under(block.path[-1:])
    if nearest == "when" or words.DIRECTIVE_COLUMNS.search(lines[0]):
        return Judgment("CONFIG", "C2", "rule", 0.7, "a table of rules")
    return Judgment("DETERMINISTIC", "C3", "constant", 0.7, "a lookup table")


def _is_links(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return bool(lines) and all("](" in line or "http" in line for line in lines)
