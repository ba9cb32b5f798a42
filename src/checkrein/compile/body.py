"""The elements of a body: steps of its procedures first, then everything between them.

A procedure is a numbered list of instructions, or a run of headings such as `Step 1` and `Phase 2`. The text
under such a heading belongs to its step, lists included; only headings of steps inside a phase replace it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from checkrein.compile.blocks import BOLD_LEVEL, Block, first_line_of, inner, plain, read_blocks
from checkrein.compile.grammar import is_account, is_imperative, named_work, names_work, parts
from checkrein.compile.headings import is_marked, role_of, roles_above
from checkrein.compile.pieces import Piece, settled
from checkrein.compile.procedures import told_apart
from checkrein.compile.tags import is_template, tag_block, tag_step
from checkrein.facts import compile_words as words
from checkrein.facts.compile_headings import STEPS_ANYWAY

_STEP_HEADING = re.compile(rf"^(?:step|phase|stage)\s+(?:\d+[a-z]?|{words.NUMERALS})\b[\s:.–—-]*", re.I)
_PHASE = re.compile(r"\b(?:step|phase|stage)\W*$", re.I)
_TAG = re.compile(r"^</?[a-z][\w-]*>\s*$", re.MULTILINE)
_COUNTED = re.compile(r"^(?:#+\s+|\*\*)\d+[.):]\s")
_BOLD_NUMBER = re.compile(r"^\*\*\d+[.)]\s[^*\n]{2,80}\*\*:?\s*$")
_BOLD_ITEM = re.compile(r"^\*\*(\d+[.)])\s+(?=[^*\n]{2,80}\*\*)")
_WRAPPED = re.compile(
    r"(?P<lead>\s*)(?P<fence>`{3,})(?:prompt|markdown|md|skill|instructions|chatagent|agent)[ \t]*\n"
    r"(?P<inside>.*)\n(?P=fence)(?P<tail>\s*)",
    re.DOTALL,
)
_STEP_HEAD = re.compile(r"\*\*([^*\n]+?)(?:[.:!]\*\*|\*\*\s*(?:[:–—-]|$))", re.MULTILINE)
_PARAGRAPH_END = re.compile(r"\n\s*(?:\n|[-*+] |\d+[.)] |```|~~~|\|)")
_SENTENCE_END = re.compile(r"(?<=[a-z)`\]\"*])[.!?](?=\s+[A-Z`*\[\"(]|\s*$)")
_LEAD_NUMBER = re.compile(
    rf"^(?:(?:step|phase|stage)\s+)?(?:\d+(?:\.\d+)*|(?:{words.NUMERALS})\b)[\s:.)–—-]+", re.I
)


Context = tuple[tuple[str, ...], bool]
"""The headings that speak for a section, and whether it is one of a counted series."""
_STEPS_BELOW = (None, "procedure", "environment", "input", "memory")


def split_body(text: str, first_line: int = 1, *, delivers: bool = False) -> list[Piece]:
    """Put every significant line of `text` in at least one piece, in order of their first line. `delivers`
    says that the spec is for writing a text."""
    source = text.replace("\r\n", "\n").replace("\r", " ")
    blocks = _promoted(read_blocks(_unwrapped(source), first_line))
    lines = source.split("\n")
    lists = _procedures(blocks)
    sections = dict(_step_sections(blocks))
    contexts = _series(blocks) | _templated(blocks)
    names = _section_names(blocks)
    pieces: list[Piece] = []
    index = 0
    while index < len(blocks):
        block = blocks[index]
        if index in sections:
            end = sections[index]
            pieces.extend(_section(blocks, index, end, lines, first_line))
            index = end
            continue
        if block.kind != "heading" or _BOLD_NUMBER.match(block.text):
            step = block.group in lists and not _is_rule(block)
            pieces.extend(_step(block) if step else (_plain(block, contexts, names, delivers),))
        index += 1
    return settled(told_apart(pieces, _written(blocks)), lines, first_line)


def _unwrapped(text: str) -> str:
    """The text inside the fence when the whole body is one fence, such as an exported prompt."""
    found = _WRAPPED.fullmatch(text)
    if found is None or re.search(rf"^{found['fence']}", found["inside"], re.MULTILINE):
        return text
    return f"{found['lead']}\n{found['inside']}\n{found['tail']}"


def _promoted(blocks: list[Block]) -> list[Block]:
    """A bold line with a number is a heading: `**1. Fetch the list**`. What follows belongs to it. A
    paragraph that starts like that is an item of a list."""
    if sum(_is_bold_number(block) for block in blocks) < 2:
        return _itemised(blocks)
    found: list[Block] = []
    title: str | None = None
    above = -1
    for number, block in enumerate(blocks):
        if _is_bold_number(block):
            title, above = plain(block.text.strip("*: \n")), number
            found.append(replace(block, kind="heading", level=BOLD_LEVEL))
        elif block.kind == "heading":
            title = None
            found.append(block)
        elif title is not None:
            found.append(replace(block, path=(*block.path, title), section=above))
        else:
            found.append(block)
    return found


def _itemised(blocks: list[Block]) -> list[Block]:
    group = max((block.group for block in blocks), default=0)
    found: list[Block] = []
    sections: dict[int, int] = {}
    for block in blocks:
        lead = _BOLD_ITEM.match(block.text) if block.kind == "paragraph" else None
        if lead is None:
            found.append(block)
            continue
        known = sections.setdefault(block.section, group + len(sections) + 1)
        text = f"{lead[1]} **{block.text[lead.end() :]}"
        found.append(replace(block, kind="item", ordered=True, group=known, text=text))
    return found


def _is_bold_number(block: Block) -> bool:
    return block.kind == "paragraph" and _BOLD_NUMBER.match(block.text) is not None


def _procedures(blocks: list[Block]) -> set[int]:
    """Groups of numbered items that are steps, not facts or rules. A list that goes on counting after a fence
    is one list."""
    runs: list[list[Block]] = []
    ordered: set[int] = set()
    for number, block in enumerate(blocks):
        if block.kind != "item" or not block.ordered:
            continue
        last = runs[-1][-1] if runs else None
        goes_on = last is not None and last.section == block.section and _number(block) == _number(last) + 1
        if last is not None and (last.group == block.group or goes_on):
            runs[-1].append(block)
            continue
        runs.append([block])
        if (
            number
            and blocks[number - 1].kind == "paragraph"
            and words.IN_ORDER.search(blocks[number - 1].text)
        ):
            ordered.add(block.group)
    return {item.group for run in runs if run[0].group in ordered or _is_procedure(run) for item in run}


def _number(item: Block) -> int:
    found = re.match(r"\s*(\d{1,6})", item.text)
    return int(found[1]) if found else -1


def _is_procedure(items: list[Block]) -> bool:
    """Steps are instructions in a row. Under a heading on how to go on, one in three is enough; under one on
    rules, facts or results there are no steps."""
    if len(items) < 2:
        return False
    nearest = items[0].path[-1] if items[0].path else ""
    role = role_of(nearest)
    if is_marked(items[0].path, "trouble", len(items[0].path)):
        return False
    if "example" in roles_above(items[0].path[:-1]):
        return False
    if role in ("procedure", "environment") or _STEP_HEADING.match(nearest):
        return sum(_is_work(_first_line(item)) for item in items) * 3 >= len(items)
    if sum(is_account(_first_line(item)) for item in items) * 2 > len(items):
        return False
    choices = [_is_choice(_first_line(item)) for item in items]
    if choices[0] and sum(choices) * 2 > len(items):
        return False
    if role not in _STEPS_BELOW and not STEPS_ANYWAY.search(nearest):
        return False
    return sum(names_work(_first_line(item)) for item in items) * 2 > len(items)


def _is_work(line: str) -> bool:
    said = parts(line)
    if said.coded:
        return " " in said.key
    return is_imperative(line) or names_work(line) or named_work(said.key or plain(line)) is not None


def _is_choice(line: str) -> bool:
    """One of several ways, with its condition: `If X, do Y`, `Use X when Y`. Such a list is not a
    sequence."""
    return words.CHOICE.match(plain(line)) is not None


def _first_line(item: Block) -> str:
    return inner(item).split("\n", 1)[0]


def _step_sections(blocks: list[Block]) -> Iterator[tuple[int, int]]:
    """(heading, end) of the sections that are one step each."""
    headings = [(number, block) for number, block in enumerate(blocks) if block.kind == "heading"]
    siblings: dict[tuple[tuple[str, ...], int], dict[int, bool]] = {}
    for number, block in headings:
        title = plain(block.text.lstrip("# "))
        parent = block.path
        named = _is_named(block)
        if not named and not _COUNTED.match(block.text):
            continue
        role = role_of(parent[-1] if parent else "")
        counted = role in _STEPS_BELOW or role == "prerequisite"
        own = role_of(title)
        fits = is_imperative(title) or (role == "procedure" and own in _STEPS_BELOW)
        if named or (counted and (fits or role == "procedure")):
            siblings.setdefault((parent, block.level), {})[number] = bool(named or fits)
    taken = 0
    steps = sorted(
        number
        for group in siblings.values()
        if len(group) > 1 and sum(group.values()) * 2 >= len(group)
        for number in group
    )
    for index, number in enumerate(steps):
        if number < taken:
            continue
        end = _section_end(blocks, number)
        if _holds_steps(blocks, steps, index, end):
            continue
        taken = end
        yield number, end


def _holds_steps(blocks: list[Block], steps: list[int], index: int, end: int) -> bool:
    """Whether the section of the one at `index` contains a step with such a name."""
    for later in range(index + 1, len(steps)):
        if steps[later] >= end:
            return False
        if _is_named(blocks[steps[later]]):
            return True
    return False


def _is_named(heading: Block) -> bool:
    title = plain(heading.text.lstrip("# "))
    counted = _COUNTED.match(heading.text) is not None and _PHASE.search(title) is not None
    return counted or _STEP_HEADING.match(title) is not None


def _section_end(blocks: list[Block], number: int) -> int:
    level = blocks[number].level
    for later in range(number + 1, len(blocks)):
        if blocks[later].kind == "heading" and blocks[later].level <= level:
            return later
        if blocks[later].kind == "html" and _TAG.match(blocks[later].text):
            return later
    return len(blocks)


def _section(
    blocks: list[Block], number: int, end: int, lines: list[str], first_line: int
) -> Iterator[Piece]:
    heading = blocks[number]
    title = plain(heading.text.lstrip("# "))
    bare = _LEAD_NUMBER.sub("", title) or title
    last = blocks[end - 1].end
    text = "\n".join(lines[heading.start - first_line : last - first_line + 1]).strip()
    judgment = tag_step(bare, "\n".join(text.split("\n")[1:]))
    yield Piece(heading.start, last, text, judgment, bare, title, step=True, path=(*heading.path, title))
    yield from _commands(blocks[number + 1 : end], title)


def _step(block: Block) -> Iterator[Piece]:
    text = inner(block)
    title = _step_title(text) or first_line_of(block)
    heading = block.path[-1] if block.path else ""
    judgment = tag_step(text)
    yield Piece(
        block.start, block.end, text, judgment, title, heading, step=True, block=block, path=block.path
    )
    if "```" in text or "~~~" in text:
        nested = [replace(one, path=block.path) for one in read_blocks(text, block.start)]
        yield from _commands(nested, heading)


def _step_title(text: str) -> str:
    """What a step does: the bold words it starts with, else its first sentence, which may span lines."""
    head = _STEP_HEAD.match(text)
    if head is not None and len(head[1].split()) > 1:
        return plain(head[1])
    sentence = _SENTENCE_END.split(_PARAGRAPH_END.split(text, maxsplit=1)[0], maxsplit=1)[0]
    return plain(sentence)


def _commands(blocks: list[Block], heading: str) -> Iterator[Piece]:
    """Commands and data shapes inside a step are elements of their own."""
    for block in blocks:
        if block.kind == "fence":
            found = tag_block(block)
            if found.tag in ("TOOL_TEMPLATE", "SCHEMA"):
                yield Piece(block.start, block.end, inner(block), found, heading=heading, block=block)


def _is_rule(item: Block) -> bool:
    """An item of a procedure that only forbids, or says how the output looks."""
    line = _first_line(item)
    shown = parts(line).key
    return bool(words.FORBIDS.match(plain(line))) or (
        role_of(shown) == "output" and words.RULE.search(plain(line)) is not None
    )


def _series(blocks: list[Block]) -> dict[int, Context]:
    """Sections of a counted series (`1. Logic`, `2. Data`), with the headings that speak for them: those of
    the series, since a member's own name is only a value."""
    found: dict[int, Context] = {}
    for number, block in enumerate(blocks):
        if block.kind == "heading" and block.path and _COUNTED.match(block.text):
            found[number] = (block.path, True)
    return found


def _templated(blocks: list[Block]) -> dict[int, Context]:
    """Sections with a template to fill in are about the output, whatever their heading."""
    return {
        block.section: ((*block.path, "Output"), False)
        for block in blocks
        if block.kind == "fence" and block.path and is_template(block)
    }


def _written(blocks: list[Block]) -> dict[tuple[str, ...], str]:
    """The headings as written, with their numbers, by their path."""
    found: dict[tuple[str, ...], str] = {}
    for block in blocks:
        if block.kind == "heading":
            title = block.text.strip("#*: \n")
            found[*block.path, plain(title)] = found[*block.path, plain(block.text.lstrip("# "))] = title
    return found


def _section_names(blocks: list[Block]) -> dict[int, str]:
    """The name of each section: its heading, after the one above when the document uses it twice."""
    titles = [plain(block.text.lstrip("# ")) for block in blocks if block.kind == "heading"]
    repeated = {title for title, count in Counter(titles).items() if count > 1}
    found: dict[int, str] = {}
    for block in blocks:
        if block.kind != "heading" and block.path:
            own = block.path[-1]
            within = own in repeated and len(block.path) > 1
            found[block.section] = f"{block.path[-2]}: {own}" if within else own
    return found


def _plain(block: Block, contexts: dict[int, Context], names: dict[int, str], delivers: bool) -> Piece:
    heading = names.get(block.section, "") if block.path else ""
    text = inner(block) if block.kind in ("fence", "item") else block.text.strip()
    path, member = contexts.get(block.section, (block.path, False))
    judgment = tag_block(replace(block, path=path, member=member), delivers)
    return Piece(block.start, block.end, text, judgment, first_line_of(block), heading, block=block)
