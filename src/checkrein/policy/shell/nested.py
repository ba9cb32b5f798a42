"""Programs that run given commands or code: shells, interpreters, find, git, options that hold a command."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from msgspec import structs

from checkrein.base.later import later
from checkrein.facts.shell_code import (
    BUNDLED,
    CODE_FILES,
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
    TMUX_PLAIN,
    TMUX_RUNS,
)
from checkrein.facts.shell_git import GLOBAL_VALUES
from checkrein.facts.shell_wrappers import (
    FOREIGN_SHELLS,
    READS_COMMANDS,
    SHELL_LONG,
    SHELL_LONG_VALUES,
    SHELL_VALUE_OPTIONS,
    SHELLS,
)
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.shell.invocation import (
    OTHER_DIALECT,
    UNKNOWN_CODE,
    Found,
    Running,
    is_stream,
    parameters,
)
from checkrein.policy.shell.options import split_options
from checkrein.policy.shell.program import Command, Word

_VERSION = later(r"(python|pypy|perl|ruby|lua|php|node|tclsh|bash)-?[\d.]+")


def nested_name(base: str) -> str:
    """The known name of a program: `python3.11` is python."""
    found = _VERSION.fullmatch(base)
    return found.group(1) if found and base not in NESTED else base


# Shells


def _shell(running: Running) -> Found:
    """`sh -c TEXT ARGS`, `sh FILE`, or commands on the input; files that the shell reads first."""
    found = _shell_text(running)
    inner = list(found.inner)
    for option, word in pairwise(running.words[1:]):
        if option.text.startswith("-") and option.text.lstrip("-") in SHELL_LONG_VALUES:
            inner += running.argv((word,))
    opaque = found.opaque or _streamed(running, "bash", CODE_FILES["bash"])
    return structs.replace(found, inner=tuple(inner), opaque=opaque)


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
    other = base in FOREIGN_SHELLS or (base not in _BASH and OTHER_DIALECT.search(text) is not None)
    return Found(
        inner=inner, unknown=unknown or ("another shell reads it by its own rules" if other else None)
    )


_BASH = ("bash", "rbash")


def _input_commands(running: Running) -> Found:
    """`at`, `batch`, `crontab`: what is on the input runs later."""
    if not running.state.stdin:
        return Found()
    return _text(running, running.state.stdin, (), "sh")


# Options that hold commands


def option_commands(running: Running, rest: tuple[str, ...] = ()) -> Found:
    """Options whose value is a shell command: `tar --to-command=CMD`, `ssh -o ProxyCommand=CMD`.

    `rest`: the words from the subcommand on, where options with values come before it.
    """
    texts = _unbundled(running.texts)
    base = texts[0].rsplit("/", 1)[-1]
    inner: list[Command] = []
    unknown = None
    sub = rest[0] if rest else next((text for text in texts[1:] if not text.startswith("-")), "")
    for key in (base, f"{base} {sub}"):
        short, long = SHELL_OPTIONS.get(key, ("", ()))
        if not short and not long:
            continue
        options = split_options(texts[1:], short, long)
        for value in options.values((*short, *long)):
            inner.extend(running.sh(_bare(value)))
            unknown = UNKNOWN_CODE if ANY in value else unknown
    named = OPTION_COMMANDS.get(base, ())
    for value in split_options(texts[1:], "oF", ()).values(("o",)) if named else ():
        option, _, held = re.sub(r"\s*[=\s]\s*", "=", value.strip(), count=1).partition("=")
        if option.strip().lower() in (name.lower() for name in named):
            inner.extend(running.sh(held))
    for key in (base, f"{base} {sub}"):
        short, long = SETTING_OPTIONS.get(key, ("", ()))
        for value in split_options(texts[1:], short, long).values((*short, *long)) if short or long else ():
            inner.extend(running.sh(_bare(value.partition("=")[2].strip("\"' "))))
    for text in texts[1:]:
        option, given, held = text.partition("=")
        if given and option in OPERAND_COMMANDS.get(base, ()):
            inner.extend(running.sh(held))
    short, long = LENIENT_OPTIONS.get(base, ("", ()))
    lenient = any(_names(text, short, long) for text in texts[1:]) if short or long else False
    opaque = "its input may run commands" if lenient else None
    files = CODE_FILES.get(base)
    if files is not None:
        opaque = opaque or _streamed(running, base, files)
    return Found(inner=tuple(inner), unknown=unknown, opaque=opaque)


def _unbundled(texts: tuple[str, ...]) -> tuple[str, ...]:
    """`tar cIf PROG x.tar` with its letters as separate options, each before its value."""
    if texts[0].rsplit("/", 1)[-1] not in BUNDLED or len(texts) < 2 or texts[1].startswith("-"):
        return texts
    out: list[str] = [texts[0]]
    values = list(texts[2:])
    for letter in texts[1]:
        out.append(f"-{letter}")
        if letter in BUNDLED[texts[0].rsplit("/", 1)[-1]] and values:
            out.append(values.pop(0))
    return (*out, *values)


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
                started = _from(running, words[at].text).argv(part)
                plain = flag == "-exec" and all(is_static(word.text) for word in words[at:end])
                inner.extend(_named(running, words[:at], started) if plain else started)
            at = end
        at += 1
    acts = any(word.text in FIND_WRITES for word in words)
    return Found(inner=tuple(inner), prefixable=not inner and not acts)


def _named(running: Running, before: Sequence[Word], started: tuple[Command, ...]) -> Iterator[Command]:
    """The commands with the files that the tests `before` select, where `{}` is a word of its own."""
    from checkrein.policy.shell.searches import selected

    state = running.state
    found = selected(tuple(word.text for word in before), state.cwds, state.home)
    for one in started:
        alone = all(is_static(word) or word == ANY for word in one.words)
        yield structs.replace(one, found=found) if alone else one


def _from(running: Running, flag: str) -> Running:
    """`-execdir` runs in the directory of each file."""
    from checkrein.policy.shell.places import below_roots

    if not flag.endswith("dir"):
        return running
    return structs.replace(running, state=below_roots(running.state, running.texts))


def _placed(word: Word) -> Word:
    return structs.replace(word, text=word.text.replace("{}", ANY)) if "{}" in word.text else word


# git, interpreters, multiplexers


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
        at += 2 if text in GLOBAL_VALUES else 1
    return settings, texts[at:]


def _git(running: Running) -> Found:
    from checkrein.policy.shell.git_runs import git

    return git(running)


def _interpreter(running: Running) -> Found:
    from checkrein.policy.shell.interpreters import interpreter

    return interpreter(running)


def _tmux(running: Running) -> Found:
    """A server that runs commands for its clients: only listing and closing is known to run nothing."""
    texts = list(running.texts[1:])
    found = option_commands(running)
    while texts and texts[0].startswith("-") and len(texts[0]) > 1:
        opaque = texts[0][1] in "fc"
        if opaque and texts[0][:2] == "-f" and "/dev/null" not in texts[:2]:
            return Found(inner=found.inner, opaque="it is unknown what its file runs")
        if opaque and texts[0][:2] == "-c":
            return Found(inner=running.text(" ".join(texts[1:2]))[0], opaque=UNKNOWN_CODE)
        texts = texts[2 if texts[0] in ("-L", "-S", "-f", "-T") else 1 :]
    inner = list(found.inner)
    plain = True
    for part in _parts(texts):
        commands, all_known = _tmux_command(running, part)
        inner.extend(commands)
        plain = plain and all_known
    return Found(inner=tuple(inner), opaque=None if plain else UNKNOWN_CODE)


def _parts(texts: list[str]) -> list[list[str]]:
    """The commands between the semicolons."""
    parts: list[list[str]] = [[]]
    for text in texts:
        if text.endswith(";"):
            parts[-1].extend([text[:-1]] if text != ";" else [])
            parts.append([])
        else:
            parts[-1].append(text)
    return [part for part in parts if part]


def _tmux_command(running: Running, words: list[str]) -> tuple[tuple[Command, ...], bool]:
    """What one command of tmux runs, and whether that is all."""
    plain = not any("#(" in word or ANY in word for word in words)
    if words[0] in TMUX_PLAIN:
        return (), plain
    if words[0] in TMUX_RUNS:
        text = " ".join(split_options(words[1:], TMUX_RUNS[words[0]], ()).operands)
        return running.sh(text) if text else (), plain
    return (), False


def _npm(running: Running) -> Found:
    """`npm pkg set scripts.x=CMD` stores a command that `npm run x` runs."""
    found = option_commands(running)
    inner = list(found.inner)
    opaque = found.opaque
    for text in running.texts[1:]:
        key, given, value = text.partition("=")
        if given and key.startswith("scripts.") and "pkg" in running.texts:
            inner.extend(running.sh(value))
            opaque = opaque or "it stores a command"
    return structs.replace(found, inner=tuple(inner), opaque=opaque)


def _cmake(running: Running) -> Found:
    """`cmake -E env CMD`."""
    found = option_commands(running)
    at = next((at for at, text in enumerate(running.texts) if text == "-E"), None)
    if at is None or not {"env", "time", "chdir"}.intersection(running.texts[at + 1 : at + 2]):
        return found
    skip = at + 3 if running.texts[at + 1] == "chdir" else at + 2
    rest = running.words[skip:]
    name = (Word("env"),) if running.texts[at + 1] == "env" else ()
    return structs.replace(found, inner=(*found.inner, *(running.argv((*name, *rest)) if rest else ())))


def _zip(running: Running) -> Found:
    """`zip -T -TT CMD` runs CMD."""
    tests = any(text.startswith("-") and ("TT" in text or "unzip" in text) for text in running.texts[1:])
    inner = [one for text in running.texts[1:] if " " in text for one in running.sh(text)] if tests else []
    return Found(inner=tuple(inner), opaque=UNKNOWN_CODE if tests else None)


def _make(running: Running) -> Found:
    """`make --eval=TEXT`, `make -E TEXT`, `make X='$(shell CMD)'`: text that make evaluates."""
    found = option_commands(running)
    texts = running.texts[1:]
    evaluates = any(re.match(r"--ev|-\w*E", text) for text in texts) or any("$(" in text for text in texts)
    return structs.replace(found, opaque=found.opaque or (UNKNOWN_CODE if evaluates else None))


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
        option_commands,
    ),
    **dict.fromkeys(EXEC_FLAGS, _find),
    "git": _git,
    "tmux": _tmux,
    "npm": _npm,
    "cmake": _cmake,
    "zip": _zip,
    **dict.fromkeys(("make", "gmake", "bmake"), _make),
}
