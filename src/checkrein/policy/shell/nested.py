"""Programs that run given commands or code: shells, interpreters, find, git, options that hold a command."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import structs

from checkrein.facts import shell_git
from checkrein.facts.shell_code import (
    CODE_FILES,
    CODE_MODULES,
    CODE_OPERANDS,
    EXEC_FLAGS,
    FIND_EXEC,
    FIND_WRITES,
    INTERPRETERS,
    LENIENT_OPTIONS,
    OPERAND_COMMANDS,
    OPTION_COMMANDS,
    SETTING_OPTIONS,
    SHELL_OPTIONS,
    SHELL_PREFIXES,
    SPAWNS,
)
from checkrein.facts.shell_wrappers import (
    FOREIGN_SHELLS,
    OTHER_DIALECT,
    READS_COMMANDS,
    SHELL_LONG,
    SHELL_LONG_VALUES,
    SHELL_VALUE_OPTIONS,
    SHELLS,
)
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.shell.builtins import is_stream
from checkrein.policy.shell.execute import UNKNOWN_CODE, Found, Running, parameters
from checkrein.policy.shell.options import split_options
from checkrein.policy.shell.program import Command, Word

_VERSION = re.compile(r"(python|pypy|perl|ruby|lua|php|node|tclsh|bash)-?[\d.]+")


def nested_name(base: str) -> str:
    """The known name of a program: `python3.11` is python."""
    found = _VERSION.fullmatch(base)
    return found.group(1) if found and base not in NESTED else base


# Shells


def _shell(running: Running) -> Found:
    """`sh -c TEXT ARGS`, `sh FILE`, or commands on the input; files that the shell reads first."""
    found = _shell_text(running)
    return structs.replace(found, opaque=found.opaque or _streamed(running, "bash", CODE_FILES["bash"]))


def _shell_text(running: Running) -> Found:
    words = list(running.words[1:])
    takes_text = takes_input = lastpipe = False
    at = 0
    while at < len(words):
        text = words[at].text
        if text in ("--", "-"):
            at += 1
            break
        if text.startswith("--") or text[1:] in SHELL_LONG:
            at += 2 if text.lstrip("-") in SHELL_LONG_VALUES else 1
        elif text[:1] in "-+" and len(text) > 1:
            takes_text = takes_text or (text[0] == "-" and "c" in text)
            takes_input = takes_input or (text[0] == "-" and "s" in text)
            lastpipe = lastpipe or "O" in text
            at += 1 + sum(letter in SHELL_VALUE_OPTIONS for letter in text[1:])
        else:
            break
    rest = words[at:]
    base = nested_name(running.words[0].text.rsplit("/", 1)[-1])
    state = structs.replace(running.state.child(), lastpipe=lastpipe)
    running = structs.replace(running, state=state)
    if takes_text and rest:
        return _text(running, rest[0].text, parameters([word.text for word in rest[2:]]), base, state.stdin)
    reads_input = not rest or takes_input or is_stream(rest[0].text)
    if reads_input and (state.stdin or rest):
        if rest and not rest[0].text.endswith(("stdin", "/0")) and is_stream(rest[0].text):
            return Found(unknown=UNKNOWN_CODE)
        return _text(running, state.stdin, parameters([word.text for word in rest]), base)
    if rest and not is_static(rest[0].text):
        return Found(unknown=UNKNOWN_CODE)
    return Found(inner=running.argv(rest) if rest else ())


def _text(running: Running, text: str, params: tuple[str, ...] | None, base: str, stdin: str = ANY) -> Found:
    """`stdin`: the input of the commands in the text; for text on the input, the rest of it."""
    inner, _ = running.text(text, structs.replace(running.state, params=params, stdin=stdin))
    unknown = UNKNOWN_CODE if ANY in text else None
    other = base in FOREIGN_SHELLS or (base not in _BASH and re.search(OTHER_DIALECT, text) is not None)
    return Found(
        inner=inner, unknown=unknown or ("another shell reads it by its own rules" if other else None)
    )


_BASH = ("bash", "rbash")


def _input_commands(running: Running) -> Found:
    """`at`, `batch`, `crontab`: what is on the input runs later."""
    if not running.state.stdin:
        return Found()
    return _text(running, running.state.stdin, (), "sh")


# Interpreters


def _interpreter(running: Running) -> Found:
    """Code in an option, in the first operand, or on the input."""
    name = nested_name(running.words[0].text.rsplit("/", 1)[-1])
    known = INTERPRETERS[name]
    code: list[str] = []
    words = list(running.texts[1:])[::-1]
    operands: list[str] = []
    while words:
        word = words.pop()
        if word.startswith("+") and known.language == "vim":
            code.append(word[1:])
            continue
        if word == "--":
            operands.extend(words[::-1])
            break
        if not word.startswith("-") or word == "-":
            operands.append(word)
            if known.subcommand and operands == [known.subcommand]:
                code.extend(other for other in words[::-1] if not other.startswith("-"))
            if known.operand is None or len(operands) > known.operand:
                break
            continue
        if word.startswith("--") or (len(word) > 2 and word[1:].partition("=")[0] in known.long):
            option, given, value = word.lstrip("-").partition("=")
            if option in known.long:
                code.append(value if given else words.pop() if words else "")
            continue
        for at, letter in enumerate(word[1:], 1):
            if letter in known.short or letter in known.values:
                value = word[at + 1 :] or (words.pop() if words else "")
                if letter in known.short:
                    code.append(value)
                break
    if known.language == "python" and not CODE_MODULES.isdisjoint(running.texts):
        code.append(ANY)
    if not code and known.operand is not None and not _has_file(running):
        code.extend(operands[known.operand : known.operand + 1])
    reads = not operands or (known.operand is None and is_stream(operands[0])) or known.always
    if (not code or known.always) and reads and running.state.stdin:
        code.append(running.state.stdin)
    elif not code and known.operand is None and operands and is_stream(operands[0]):
        code.append(ANY)
    inner = _editor_commands(running, known.language, code)
    streamed = _streamed(running, name, tuple(known.files)) if known.files else None
    other = _options(running)
    return Found(
        opaque=streamed or _opaque(known.language, code) or other.opaque,
        inner=(*inner, *other.inner),
        unknown=other.unknown,
    )


def _has_file(running: Running) -> bool:
    return any(text.startswith(("-f", "--file")) for text in running.texts[1:])


def _opaque(language: str, code: list[str]) -> str | None:
    if not code:
        return None
    pattern = SPAWNS.get(language)
    if pattern is not None and all(is_static(one) and not re.search(pattern, one) for one in code):
        return None
    return f"the effect of its {language} code is unknown"


def _editor_commands(running: Running, language: str, code: list[str]) -> tuple[Command, ...]:
    """`:!rm x` of an editor, `shell rm x` of a debugger, `.shell rm x` of a database."""
    found: list[Command] = []
    for one in code:
        for line in re.split(r"[\n|]", one):
            escaped = re.match(r"\s*(?::?\s*(?:silent!?\s+)?!|\.?shell\s|\.system\s|\\!)\s*(.+)", line)
            if escaped and language in ("vim", "gdb", "sqlite", "psql", "mysql", "ed"):
                found.extend(running.text(escaped.group(1))[0])
    return tuple(found)


# Options that hold commands


def _options(running: Running) -> Found:
    """Options whose value is a shell command: `tar --to-command=CMD`, `ssh -o ProxyCommand=CMD`."""
    texts = running.texts
    base = texts[0].rsplit("/", 1)[-1]
    inner: list[Command] = []
    unknown = None
    sub = next((text for text in texts[1:] if not text.startswith("-")), "")
    for key in (base, f"{base} {sub}"):
        short, long = SHELL_OPTIONS.get(key, ("", ()))
        if not short and not long:
            continue
        options = split_options(texts[1:], short, long)
        for value in options.values((*short, *long)):
            inner.extend(running.text(_bare(value))[0])
            unknown = UNKNOWN_CODE if ANY in value else unknown
    named = OPTION_COMMANDS.get(base, ())
    for value in split_options(texts[1:], "oF", ()).values(("o",)) if named else ():
        option, _, held = re.sub(r"\s*[=\s]\s*", "=", value.strip(), count=1).partition("=")
        if option.strip().lower() in (name.lower() for name in named):
            inner.extend(running.text(held)[0])
    for key in (base, f"{base} {sub}"):
        short, long = SETTING_OPTIONS.get(key, ("", ()))
        for value in split_options(texts[1:], short, long).values((*short, *long)) if short or long else ():
            inner.extend(running.text(_bare(value.partition("=")[2].strip("\"' ")))[0])
    for text in texts[1:]:
        option, given, held = text.partition("=")
        if given and option in OPERAND_COMMANDS.get(base, ()):
            inner.extend(running.text(held)[0])
    short, long = LENIENT_OPTIONS.get(base, ("", ()))
    lenient = any(_names(text, short, long) for text in texts[1:]) if short or long else False
    opaque = "its input may run commands" if lenient else None
    files = CODE_FILES.get(base)
    if files is not None:
        opaque = opaque or _streamed(running, base, files)
    return Found(inner=tuple(inner), unknown=unknown, opaque=opaque)


def _names(text: str, short: str, long: tuple[str, ...]) -> bool:
    """Whether a word is one of these options, with one dash or two, with or without a value."""
    if not text.startswith("-"):
        return False
    name = re.split("[=:]", text.lstrip("-"), maxsplit=1)[0]
    return name in long or (not text.startswith("--") and any(letter in short for letter in name))


def _streamed(running: Running, base: str, files: tuple[str, ...]) -> str | None:
    """Why code is unknown: the program reads it from the input or a pipe."""
    short = "".join(name for name in files if len(name) == 1)
    long = tuple(name for name in files if len(name) > 1)
    options = split_options([_two_dashes(text, long) for text in running.texts[1:]], short, long)
    given = options.values(files)
    if base in CODE_OPERANDS:
        given += options.operands
    return "it is unknown what its file runs" if any(is_stream(one) for one in given) else None


def _two_dashes(text: str, long: tuple[str, ...]) -> str:
    return f"-{text}" if text[1:].partition("=")[0] in long and text.startswith("-") else text


def _bare(value: str) -> str:
    for prefix in SHELL_PREFIXES:
        value = value.removeprefix(prefix)
    return value


def _find(running: Running) -> Found:
    """`-exec CMD ;`: every command in the expression; `{}` is unknown."""
    flags = EXEC_FLAGS[running.words[0].text.rsplit("/", 1)[-1]]
    inner: list[Command] = []
    words = running.words[1:]
    at = 0
    while at < len(words):
        flag, given, value = words[at].text.partition("=")
        if given and flag in flags and value:
            inner.extend(running.argv((Word(value), Word(ANY))))
        if words[at].text in flags:
            end = at + 1
            while end < len(words) and words[end].text not in (";", "+"):
                end += 1
            part = [_placed(word) for word in words[at + 1 : end]]
            if part and words[at].text not in FIND_EXEC and not any(ANY in word.text for word in part):
                part.append(Word(ANY))
            if part:
                inner.extend(running.argv(part))
            at = end
        at += 1
    acts = any(word.text in FIND_WRITES for word in words)
    return Found(inner=tuple(inner), prefixable=not inner and not acts)


def _placed(word: Word) -> Word:
    return structs.replace(word, text=word.text.replace("{}", ANY)) if "{}" in word.text else word


# git


def _git(running: Running) -> Found:
    """Settings on the command line that hold commands, and the other ways git runs one."""
    found = _options(running)
    inner = list(found.inner)
    unknown = found.unknown
    settings, rest = split_git(running.texts[1:])
    opaque = found.opaque
    for key, value in settings:
        if key is None:
            unknown = UNKNOWN_CODE
        elif key.lower().startswith(shell_git.CODE_SETTINGS) or "ext::" in key:
            opaque = _elsewhere(value) or opaque
        elif key.lower().startswith(shell_git.COMMAND_SETTINGS):
            inner.extend(_setting(running, key, value))
            unknown = UNKNOWN_CODE if ANY in value else unknown
    if rest[:1] == ("config",):
        words = [text for text in rest[1:] if not text.startswith("-") and text not in ("set", "--")]
        if len(words) > 1 and words[0].lower().startswith(shell_git.CODE_SETTINGS):
            opaque = _elsewhere(words[1]) or opaque
        elif len(words) > 1 and words[0].lower().startswith(shell_git.COMMAND_SETTINGS):
            inner.extend(_setting(running, words[0], " ".join(words[1:])))
    for text in rest:
        if text.startswith("ext::"):
            inner.extend(running.text(text[5:])[0])
    if any(text.startswith(shell_git.CODE_OPTIONS) for text in running.texts[1:]):
        opaque = "other code may run in its place"
    return Found(inner=tuple(inner), unknown=unknown, opaque=opaque)


def _elsewhere(place: str) -> str | None:
    """Hooks, templates and settings in another place. They are code, unless the place is empty."""
    return None if place in ("", "/dev/null") else "code from another place may run"


def _setting(running: Running, key: str, value: str) -> tuple[Command, ...]:
    if key.lower().startswith("alias.") and not value.startswith("!"):
        return running.text(f"git {value}")[0]
    return running.text(value.removeprefix("!"))[0]


def split_git(texts: tuple[str, ...]) -> tuple[list[tuple[str | None, str]], tuple[str, ...]]:
    """Settings given by `-c`, and the words from the subcommand on."""
    settings: list[tuple[str | None, str]] = []
    at = 0
    while at < len(texts) and texts[at].startswith("-"):
        text = texts[at]
        if text == "-c" and at + 1 < len(texts):
            key, _, value = texts[at + 1].partition("=")
            settings.append((key, value))
        elif text.startswith("--config-env"):
            settings.append((None, ""))
        at += 2 if text in shell_git.GLOBAL_VALUES else 1
    return settings, texts[at:]


Nested = Callable[[Running], Found]

NESTED: dict[str, Nested] = {
    **dict.fromkeys(INTERPRETERS, _interpreter),
    **dict.fromkeys((*SHELLS, *FOREIGN_SHELLS), _shell),
    **dict.fromkeys(READS_COMMANDS, _input_commands),
    **dict.fromkeys(
        (
            key
            for key in (*SHELL_OPTIONS, *OPTION_COMMANDS, *SETTING_OPTIONS, *LENIENT_OPTIONS, *CODE_FILES)
            if " " not in key and key not in INTERPRETERS and key not in SHELLS
        ),
        _options,
    ),
    **dict.fromkeys(EXEC_FLAGS, _find),
    "git": _git,
}
