"""The YAML block at the top of a Markdown file, with the place of every field.

A block that plain YAML accepts stays as it is. The reader repairs any other block: first it quotes
values that hold `: ` and the like, then it joins lines that start no known field to the value
before them. `problems` lists what it repaired and what it could not repair; it never raises.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from checkrein.base.origin import Span

if TYPE_CHECKING:
    import yaml

ProblemKind = Literal["quoted", "folded", "unparsable", "unterminated", "not_mapping", "duplicate"]

_CLOSE = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_OPEN = re.compile(r"---[ \t]*\r?\n")
_ENTRY = re.compile(r"(?P<head>[A-Za-z_][\w.-]*[ \t]*:)(?P<gap>[ \t]+|$)(?P<value>.*)")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,99}\Z")
_NOT_TEXT = frozenset(("true", "false", "yes", "no", "on", "off", "null"))
_QUOTES = frozenset("'\"\\")
_DEPTH_LIMIT = 100
_SIZE_LIMIT = 50_000
_LOCATED_LEVELS = 6
_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"


@cache
def yaml_loader() -> Any:
    """PyYAML's safe loader, in C when available. The first file with frontmatter imports it."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Problem(Struct, frozen=True):
    kind: ProblemKind
    message: str
    span: Span


class Frontmatter(Struct, frozen=True):
    """`values` as YAML gives them, keys as written; `spans` holds members of a mapping as `field.member` too.

    `body_line` is the line of the body's first character.
    """

    values: dict[str, Any]
    spans: dict[str, Span]
    body: str
    body_line: int
    present: bool = True
    problems: tuple[Problem, ...] = ()


class Block(Struct, frozen=True):
    """A YAML mapping with places, or the reason why the text is not one."""

    values: dict[str, Any]
    spans: dict[str, Span]
    duplicates: tuple[str, ...] = ()
    error: str | None = None
    error_line: int = 1


def parse(text: str, known: Collection[str] = ()) -> Frontmatter:
    """Split `text` into frontmatter and body. `known` names the fields that a repair may rely on."""
    opening = _OPEN.match(text)
    if opening is None:
        return Frontmatter({}, {}, text, 1, present=False)
    closing = _CLOSE.search(text, opening.end())
    if closing is None:
        problem = Problem("unterminated", "the frontmatter that starts on line 1 is never closed", Span(1))
        return Frontmatter({}, {}, text, 1, present=False, problems=(problem,))
    source = text[opening.end() : closing.start()]
    end = closing.end() + 1
    body_line = 2 + source.count("\n") + 1
    block, problems = _load_lenient(source, known, first_line=2)
    return Frontmatter(block.values, block.spans, text[end:], body_line, True, problems)


def _load_lenient(source: str, known: Collection[str], first_line: int) -> tuple[Block, tuple[Problem, ...]]:
    block = load_block(source, first_line)
    if block.error is None:
        return block, _duplicates(block)
    failure = (block.error, block.error_line)
    quoted = _quote(source)
    if quoted != source:
        block = load_block(quoted, first_line)
        if block.error is None:
            changed = _first_difference(source, quoted) + first_line
            message = f"line {changed} is not plain YAML ({failure[0]}); its value counts as quoted text"
            return block, (Problem("quoted", message, Span(changed)), *_duplicates(block))
    folded = _fold(source, known)
    block = load_block(folded, first_line)
    if block.error is None and block.values:
        message = f"not YAML at line {failure[1]} ({failure[0]}); lines that start no known field were joined"
        return block, (Problem("folded", message, Span(failure[1])), *_duplicates(block))
    kind: ProblemKind = "not_mapping" if failure[0] == _NOT_MAPPING else "unparsable"
    return Block({}, {}), (Problem(kind, failure[0], Span(failure[1])),)


_NOT_MAPPING = "the frontmatter is not a list of `field: value` lines"


def load_block(source: str, first_line: int = 1) -> Block:
    """One YAML mapping. Nesting and alias expansion are bounded, so hostile input can't hang or crash us."""
    source = source.replace("\r\n", "\n")
    plain = _load_plain(source, first_line)
    if plain is not None:
        return plain
    import yaml

    if not is_shallow(source):
        return Block({}, {}, error=f"is nested more than {_DEPTH_LIMIT} levels deep", error_line=first_line)
    loader = None
    anchors = "&" in source
    try:
        loader = yaml_loader()(source)
        node = loader.get_single_node()
        if node is None:
            return Block({}, {})
        if not isinstance(node, yaml.MappingNode):
            return Block({}, {}, error=_NOT_MAPPING, error_line=first_line)
        block = _build(loader, node, first_line, nested=not anchors)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = first_line + (mark.line if mark else 0)
        message = getattr(error, "problem", None) or str(error).splitlines()[0]
        return Block({}, {}, error=str(message), error_line=line)
    except (ValueError, OverflowError, RecursionError, TypeError) as error:
        return Block({}, {}, error=str(error), error_line=first_line)
    finally:
        if loader is not None:
            loader.dispose()
    if anchors and not _is_bounded(block.values):
        return Block({}, {}, error="its aliases expand too far", error_line=first_line)
    return block


def _load_plain(source: str, first_line: int) -> Block | None:
    """Read a block that holds only `name: some words` lines, as most do, without loading YAML."""
    values: dict[str, Any] = {}
    spans: dict[str, Span] = {}
    for number, line in enumerate(source.removesuffix("\n").split("\n"), first_line):
        name, _, value = line.partition(": ")
        text = _text(value)
        if text is None or not _NAME.match(name) or name.lower() in _NOT_TEXT or name in values:
            return None
        values[name] = text
        spans[name] = Span(number, 1, number, len(line) + 1)
    return Block(values, spans)


def _text(value: str) -> str | None:
    """The text that YAML makes of these words on one line; None when only YAML itself can tell."""
    if not value.isprintable():
        return None
    if value[:1] in ("'", '"'):
        inner = value[1:-1]
        return inner if value[-1] == value[0] and len(value) > 1 and not _QUOTES.intersection(inner) else None
    is_plain = value[:1].isalpha() and value[-1] not in " :" and ": " not in value and " #" not in value
    return value if is_plain and value.lower() not in _NOT_TEXT else None


def _build(loader: Any, root: yaml.MappingNode, first_line: int, *, nested: bool) -> Block:
    """Values as `yaml.load` gives them, with their places. Plain text, the usual case, is cheap."""
    values: dict[str, Any] = {}
    spans: dict[str, Span] = {}
    inner: dict[str, Span] = {}
    duplicates: list[str] = []
    for key, value in root.value:
        if key.tag != _TEXT:
            return _renamed(root, loader.construct_document(root), first_line)
        name = key.value
        if name in values:
            duplicates.append(name)
        if value.tag == _TEXT:
            values[name] = value.value
        else:
            values[name] = loader.construct_object(value, deep=True)
            if nested and value.id != "scalar":
                _locate_members(value, name, inner, first_line, _LOCATED_LEVELS)
        start, end = key.start_mark, value.end_mark
        line, column, end_line, end_column = start.line, start.column, end.line, end.column
        if end_column:
            spans[name] = Span(line + first_line, column + 1, end_line + first_line, end_column + 1)
        else:
            spans[name] = Span(line + first_line, column + 1, end_line + first_line - (end_line > line), 0)
    return Block(values, inner | spans if inner else spans, tuple(duplicates))


def _renamed(root: yaml.MappingNode, value: dict[Any, Any], first_line: int) -> Block:
    """Keys that YAML turns into something else (`on`, `1`, a date) keep the name in the file."""
    spans: dict[str, Span] = {}
    duplicates: list[str] = []
    for key, item in root.value:
        name = key.value if isinstance(key.value, str) else "?"
        if name in spans:
            duplicates.append(name)
        spans[name] = _span(key.start_mark, item.end_mark, first_line)
    merged = any(key.tag == _MERGE for key, _ in root.value)
    if merged or len(spans) != len(value):
        values = {str(name): item for name, item in value.items()}
    else:
        values = dict(zip(spans, value.values(), strict=True))
    return Block(values, spans, tuple(duplicates))


def _locate_members(node: Any, path: str, spans: dict[str, Span], first_line: int, levels: int) -> None:
    """Places inside a field that is a mapping or a list: `field.member`, `field[0]`."""
    members: list[tuple[str, Any, Any]] = []
    if node.id == "mapping":
        members = [(f"{path}.{k.value}", k, v) for k, v in node.value if isinstance(k.value, str)]
    elif node.id == "sequence":
        members = [(f"{path}[{index}]", item, item) for index, item in enumerate(node.value)]
    for name, first, last in members:
        spans[name] = _span(first.start_mark, last.end_mark, first_line)
        if levels > 1 and last.id != "scalar":
            _locate_members(last, name, spans, first_line, levels - 1)


def _span(start: yaml.Mark, end: yaml.Mark, first_line: int) -> Span:
    last = end.line + first_line - (1 if end.column == 0 and end.line > start.line else 0)
    return Span(start.line + first_line, start.column + 1, last, end.column + 1 if end.column else 0)


def _duplicates(block: Block) -> tuple[Problem, ...]:
    return tuple(
        Problem("duplicate", f"`{name}` appears more than once; the last one counts", block.spans[name])
        for name in block.duplicates
    )


def is_shallow(source: str) -> bool:
    """Whether a YAML text is nested so little that composing it can't exhaust the stack."""
    openers = source.count("[") + source.count("{") + source.count("- ") + source.count("? ")
    if openers < _DEPTH_LIMIT and "\n" + " " * _DEPTH_LIMIT not in source:
        return True
    import yaml

    depth = 0
    try:
        for event in yaml.parse(source, yaml_loader()):
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > _DEPTH_LIMIT:
                    return False
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except yaml.YAMLError:
        return True
    return True


def _is_bounded(value: Any) -> bool:
    budget = _SIZE_LIMIT
    pending = [value]
    while pending:
        budget -= 1
        if budget < 0:
            return False
        item = pending.pop()
        if isinstance(item, dict):
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
    return True


def _quote(source: str) -> str:
    """Quote the one-line values that YAML rejects without quotes: `a: b`, `@x`, `[a] b`."""
    lines = source.replace("\r\n", "\n").split("\n")
    result = []
    for index, line in enumerate(lines):
        entry = _ENTRY.fullmatch(line)
        value = entry["value"].rstrip() if entry else ""
        following = lines[index + 1] if index + 1 < len(lines) else ""
        if entry and value and not following.startswith((" ", "\t")) and _needs_quotes(value):
            line = f"{entry['head']} {_single_quoted(value)}"
        result.append(line)
    return "\n".join(result)


def _needs_quotes(value: str) -> bool:
    return load_block(f"v: {value}").error is not None


def _fold(source: str, known: Collection[str]) -> str:
    """Start a field only at a line that names a known one; join everything else to the field before it."""
    fields: list[tuple[str, list[str]]] = []
    before = 0
    for line in source.replace("\r\n", "\n").split("\n"):
        entry = _ENTRY.fullmatch(line)
        if entry and (not known or entry["head"].rstrip(": \t") in known):
            fields.append((entry["head"], [entry["value"]]))
        elif fields:
            fields[-1][1].append(line)
        else:
            before += 1
    return "\n" * before + "\n".join(_in_lines(head, parts) for head, parts in fields)


def _in_lines(head: str, parts: list[str]) -> str:
    """A joined field with blank lines for the lines that it lost, so that later fields keep their places."""
    value = _folded_value(parts)
    return f"{head} {value}" + "\n" * (len(parts) - 1 - value.count("\n"))


def _folded_value(parts: list[str]) -> str:
    first, rest = parts[0].strip(), [part.rstrip() for part in parts[1:]]
    as_written = "\n".join([parts[0], *rest])
    if load_block(f"v: {as_written}").error is None:
        return as_written
    words = " ".join(text for part in [first, *rest] if (text := part.strip()))
    return _single_quoted(words)


def _single_quoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return "'" + value.replace("'", "''") + "'"


def _first_difference(before: str, after: str) -> int:
    pairs = zip(before.replace("\r\n", "\n").split("\n"), after.split("\n"), strict=False)
    return next((index for index, (old, new) in enumerate(pairs) if old != new), 0)
