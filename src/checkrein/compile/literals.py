"""Python and TOML text for values. The spec's text reaches generated code only through these functions.

A formatter would leave the text alone: double quotes unless that needs more escapes, one entry per line with
a trailing comma when there are several, and triple quotes for text of more than one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

LINE = 110
SHORT = 50


def text(value: str) -> str:
    """A string literal; long text and text of several lines gets a block of its own."""
    if len(value) > (SHORT if value.isascii() else SHORT // 2) or (
        "\n" in value.strip("\n") and len(value) > 8
    ):
        return _block(value)
    return one_line(value)


def one_line(value: str) -> str:
    quote = "'" if value.count('"') > value.count("'") else '"'
    if value.isprintable():
        return quote + value.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote
    return quote + "".join(_char(char, quote) for char in value) + quote


def _char(char: str, quote: str) -> str:
    if char == quote or char == "\\":
        return "\\" + char
    return _escaped(char)


def _escaped(char: str) -> str:
    if char == "\n":
        return "\\n"
    if char == "\t":
        return "\\t"
    if char == "\r":
        return "\\r"
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _block(value: str) -> str:
    plain = value.replace("\n", "").isprintable()
    body = value.replace("\\", "\\\\") if plain else "\n".join(map(_line, value.split("\n")))
    body = body.replace('"""', '\\"\\"\\"')
    if (len(value) - len(value.rstrip('"'))) % 3:  # threes are escaped already
        body = body[:-1] + '\\"'
    return f'"""\\\n{body}"""'


def _line(line: str) -> str:
    escaped = line.replace("\\", "\\\\")
    return escaped if escaped.isprintable() else "".join(map(_escaped, escaped))


def docstring(value: str, indent: str) -> str:
    """A docstring of several lines at `indent`; blank lines stay empty, the last line holds the quotes."""
    body = _block(value.strip())[5:-3]
    lines = [line.rstrip() for line in body.split("\n")]
    first = f"Note: {lines[0]}" if lines[0].startswith('"') else lines[0]
    rest = [f"{indent}{line}" if line else "" for line in lines[1:]]
    return "\n".join([f'"""{first}', *rest, f'{indent}"""'])


def value(item: object, indent: int = 0) -> str:
    """Strings, numbers, truth values, None, and tuples, lists and maps of them."""
    if isinstance(item, str):
        return text(item)
    if item is None or isinstance(item, bool | int | float):
        return repr(item)
    if isinstance(item, Mapping):
        return mapping(item, indent)
    if isinstance(item, Sequence):
        return sequence(item, indent, "()" if isinstance(item, tuple) else "[]")
    return text(str(item))


def assignment(name: str, annotation: str, item: object) -> str:
    """`NAME: Final[type] = value`, in parentheses when the line would be too long."""
    head = f"{name}: Final[{annotation}] = "
    made = value(item)
    first = made.split("\n", 1)[0]
    if isinstance(item, str) and "\n" not in made and len(head) + len(first) > LINE:
        return f"{head}(\n    {made}\n)"
    return head + made


def sequence(items: Sequence[object], indent: int = 0, marks: str = "()") -> str:
    if not items:
        return marks
    inner = " " * (indent + 4)
    parts = [value(item, indent + 4) for item in items]
    if len(parts) == 1:
        flat = f"{marks[0]}{parts[0]}{',' if marks == '()' else ''}{marks[1]}"
        if "\n" not in flat and len(flat) + indent + 40 <= LINE:
            return flat
        if marks == "()" and "\n" in parts[0]:
            return f"(\n{inner}{parts[0]},\n{' ' * indent})"
        if len(flat) + indent + 40 <= LINE:
            return flat
    lines = "".join(f"{inner}{part},\n" for part in parts)
    return f"{marks[0]}\n{lines}{' ' * indent}{marks[1]}"


def mapping(items: Mapping[object, object], indent: int = 0) -> str:
    if not items:
        return "{}"
    inner = " " * (indent + 4)
    lines = "".join(
        f"{inner}{one_line(str(key))}: {value(item, indent + 4)},\n" for key, item in items.items()
    )
    return f"{{\n{lines}{' ' * indent}}}"


def imports(module: str, names: Iterable[str], indent: str = "") -> str:
    """An import of names, sorted as a linter wants it: constants, classes, the rest."""
    ordered = sorted(names, key=lambda name: (not name.isupper(), not name[:1].isupper(), name))
    flat = f"{indent}from {module} import {', '.join(ordered)}"
    if len(flat) <= LINE:
        return flat
    listed = "".join(f"{indent}    {name},\n" for name in ordered)
    return f"{indent}from {module} import (\n{listed}{indent})"


def comment(value: str) -> str:
    """Text that stays on one comment line."""
    if value.isprintable():
        return value.strip()
    return "".join(char if char.isprintable() else " " for char in value).strip()


def toml(value: str) -> str:
    """A TOML basic string."""
    out = []
    for char in value:
        if char in '"\\':
            out.append("\\" + char)
        elif char in "\n\r\t":
            out.append({"\n": "\\n", "\r": "\\r", "\t": "\\t"}[char])
        elif ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 or 0xD800 <= ord(char) < 0xE000:
            out.append("\\ufffd" if ord(char) >= 0xD800 else f"\\u{ord(char):04x}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


def markdown(value: str) -> str:
    """Text for one line of a page or one cell of a table."""
    flat = " ".join(value.split())
    return flat.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
