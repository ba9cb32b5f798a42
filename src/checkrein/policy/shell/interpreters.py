"""Interpreters and editors: the code in their options, operands and input."""

from __future__ import annotations

import re

from msgspec import Struct, structs

from checkrein.facts.shell_code import (
    CODE_MODULES,
    INPUT_MODULES,
    INTERPRETERS,
    PLAIN_PERL,
    Interpreter,
)
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.shell.code import effect
from checkrein.policy.shell.invocation import Found, Running, is_stream
from checkrein.policy.shell.options import same
from checkrein.policy.shell.program import Command

_ESCAPED = re.compile(r"\s*(?::?\s*(?:silent!?\s+)?!|\.?shell\s|\.system\s|\\!)\s*(.+)")
_LOADED = re.compile(r"[\w@.~+-][\w@./~+:-]*")
_MODULE = re.compile(r"-?([\w:]+)(?:=[\w,:]+)?")
_LONGEST_SED = 2_000
_ATTACHED = re.compile(r"[0lF]\S*")


class Given(Struct):
    """What the words of an interpreter say."""

    code: list[str] = []
    operands: list[str] = []
    files: list[str] = []
    module: str = ""
    unknown: bool = False
    """An option may load code."""


def interpreter(running: Running) -> Found:
    """Code in an option, in the first operand, or on the input."""
    from checkrein.policy.shell.nested import nested_name, option_commands

    name = nested_name(running.words[0].text.rsplit("/", 1)[-1])
    known = INTERPRETERS[name]
    if known.language == "sed":
        return _sed(running)
    given = _read(known, list(running.texts[1:]))
    code, operands = given.code, given.operands
    if known.operand is not None and not (given.files or (code and not known.permutes)):
        last = None if known.permutes else known.operand + 1
        code.extend(operands[known.operand : last])
    reads = not (operands or given.module) or known.always
    reads = reads or (known.operand is None and operands[:1] != [] and is_stream(operands[0]))
    stdin = running.state.stdin
    if known.language == "python" and given.module:
        runs = given.module in CODE_MODULES or any(is_stream(one) for one in operands)
        if runs or (stdin and given.module not in INPUT_MODULES and given.module.startswith("asyncio")):
            code.append(ANY)
    elif (not code or known.always) and reads and stdin:
        code.append(stdin)
    elif not code and known.operand is None and operands and is_stream(operands[0]):
        code.append(ANY)
    if known.language == "m4" and not code and any(is_stream(one) for one in operands):
        code.append(ANY)
    streamed = any(is_stream(one) or known.language == "vim" for one in given.files)
    found = effect(known.language, code)
    inner = [*_editor_commands(running, known.language, code)]
    piped = structs.replace(running.state, stdin=ANY)
    for text in found.texts:
        inner.extend(running.sh(text, piped))
    other = option_commands(running)
    opaque = "it is unknown what its file runs" if streamed else None
    if not found.plain or given.unknown:
        opaque = opaque or f"the effect of its {known.language} code is unknown"
    return Found(opaque=opaque or other.opaque, inner=(*inner, *other.inner), unknown=other.unknown)


def _sed(running: Running) -> Found:
    from checkrein.policy.shell.sed import read_sed

    if sum(map(len, running.texts)) > _LONGEST_SED:
        return Found(opaque="the effect of its sed code is unknown")
    call = read_sed(running.texts[1:])
    inner = tuple(command for text in running.texts[1:] for command in _sed_commands(running, text))
    if any(is_stream(one) for one in call.files):
        return Found(inner=inner, opaque="it is unknown what its file runs")
    unread = not call.script.known and not call.files
    if call.script.runs or unread or call.other:
        return Found(inner=inner, opaque="the effect of its sed code is unknown")
    return Found(inner=inner)


def _sed_commands(running: Running, text: str) -> tuple[Command, ...]:
    """`1e CMD`: the command, where it is written out."""
    found = re.search(r"(?:^|[\s;{}\d$/!])e\s+(\S.*)", text)
    return running.sh(found.group(1)) if found else ()


def _read(known: Interpreter, texts: list[str]) -> Given:
    given = Given()
    words = texts[::-1]
    while words:
        word = words.pop()
        if word.startswith("+") and known.language == "vim":
            given.code.extend([word[1:]] if word != "+" else [])
        elif word == "--":
            given.operands.extend(words[::-1])
            break
        elif not word.startswith("-") or word == "-":
            given.operands.append(word)
            if known.subcommand and given.operands == [known.subcommand]:
                given.code.extend(other for other in words[::-1] if not other.startswith("-"))
            if not known.permutes and (known.operand is None or len(given.operands) > known.operand):
                given.operands.extend(words[::-1])
                break
        elif word.startswith("--") or _is_long(known, word):
            _long(known, word, words, given)
        elif not is_static(word):
            given.unknown = True
        else:
            _letters(known, word, words, given)
            if given.module:
                given.operands.extend(words[::-1])
                break
    return given


def _is_long(known: Interpreter, word: str) -> bool:
    """`-eval CODE`: some programs take long options with one dash."""
    if known.one_dash and len(word) > 2:
        return True
    name = word[1:].partition("=")[0]
    files = known.files if len(known.files) > 2 else ""
    return len(name) > 1 and (name in known.long or name == files)


def _long(known: Interpreter, word: str, words: list[str], given: Given) -> None:
    option, has_value, value = word.lstrip("-").partition("=")
    if len(option) > 1 and any(same(option, one) for one in known.long):
        given.code.append(value if has_value else words.pop() if words else "")
    elif option == known.files:
        given.files.append(value if has_value else words.pop() if words else "")
    elif len(option) > 1 and option in known.loads:
        _load(known, value if has_value else words.pop() if words else "", given)
    elif known.language == "awk" and option not in (
        "posix",
        "traditional",
        "version",
        "help",
        "csv",
        "re-interval",
    ):
        _awk_option(option, value if has_value else "", words, given)


def _awk_option(option: str, value: str, words: list[str], given: Given) -> None:
    """`--file`, `--assign`, `--field-separator`, `--include`, `--load`, `--exec`, and their abbreviations."""
    value = value or (words.pop() if words else "")
    if any(name.startswith(option) for name in ("file", "exec")):
        given.files.append(value)
    elif not any(name.startswith(option) for name in ("assign", "field-separator")):
        given.unknown = True


def _letters(known: Interpreter, word: str, words: list[str], given: Given) -> None:
    for at, letter in enumerate(word[1:], 1):
        if known.language == "vim" and letter == "s" and "e" not in word[1:at].lower() and word != "-s":
            given.unknown = True
        if letter in known.short or letter in known.values or letter in known.files:
            value = word[at + 1 :] or (words.pop() if words else "")
            _value(known, letter, value, given)
            return
        if known.flags and letter not in known.flags:
            given.unknown = True
        if known.language in ("perl", "ruby") and letter == "i":
            return
        if known.language in ("perl", "ruby") and _ATTACHED.match(word[at:]) and letter == "F":
            return


def _value(known: Interpreter, letter: str, value: str, given: Given) -> None:
    if letter in known.short:
        given.code.append(value)
    elif letter in known.loads:
        _load(known, value, given)
    elif letter in known.files:
        given.files.append(value)
        given.unknown = given.unknown or not is_static(value)
    elif letter == "m" and known.language == "python":
        given.module = value
    elif known.language == "awk" and letter in "li":
        given.unknown = True
    elif known.language == "vim" and letter == "u" and value not in ("NONE", "NORC", "DEFAULTS"):
        given.files.append(value)


def _load(known: Interpreter, value: str, given: Given) -> None:
    """A module or a file that runs first."""
    if known.language == "javascript":
        given.unknown = given.unknown or _LOADED.fullmatch(value) is None or value.startswith("data:")
        return
    found = _MODULE.fullmatch(value)
    given.unknown = given.unknown or found is None or found.group(1) not in PLAIN_PERL


def _editor_commands(running: Running, language: str, code: list[str]) -> tuple[Command, ...]:
    """`:!rm x` of an editor, `shell rm x` of a debugger, `.shell rm x` of a database."""
    found: list[Command] = []
    for one in code:
        for line in re.split(r"[\n|]", one):
            escaped = _ESCAPED.match(line)
            if escaped and language in ("vim", "gdb", "sqlite", "psql", "mysql", "ed"):
                found.extend(running.sh(escaped.group(1)))
    return tuple(found)
