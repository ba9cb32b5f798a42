"""A denied command, wrapped in anything to any depth, is never allowed; an allowed one stays allowed.

The constructs below are what the shell analysis claims to see through. Each branch of the analysis is also
switched off in turn, and the constructs must notice: a branch that nothing notices is not tested.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from shlex import quote

import pytest

from checkrein.base.origin import Origin
from checkrein.facts import shell_code, shell_env, shell_wrappers
from checkrein.model.rule import parse_rule
from checkrein.policy import carried, shell
from checkrein.policy.decide import decide
from checkrein.policy.policy import Policy, compile_policy
from checkrein.policy.shell import assign, builtins, execute, forms, nested, nodes, simple, words
from checkrein.policy.values import Call, Context, Verdict, rank

CONTEXT = Context(cwd="/p", root="/p", home="/h")
ORIGIN = Origin("/p/.claude/settings.json", "user")


def policy(allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> Policy:
    rules = [parse_rule(text, "allow", ORIGIN) for text in allow]
    return compile_policy([*rules, *(parse_rule(text, "deny", ORIGIN) for text in deny)])


def verdict(policy: Policy, text: str) -> Verdict:
    return decide(policy, Call("Bash", {"command": text}), CONTEXT).verdict


# Constructs. Each takes shell text and gives shell text that runs it; `%%` is where it goes.

TEXT: dict[str, str] = {
    "subshell": "(\n%%\n)",
    "group": "{\n%%\n}",
    "and": "true && %%",
    "or": "false || {\n%%\n}",
    "sequence": "ls; %%",
    "newline": "ls\n%%",
    "pipe": "ls | {\n%%\n}",
    "pipe both": "ls |& {\n%%\n}",
    "background": "{\n%%\n} &",
    "negation": "! (\n%%\n)",
    "if condition": "if %%\nthen ls\nfi",
    "if body": "if true\nthen\n%%\nfi",
    "elif condition": "if false\nthen ls\nelif %%\nthen ls\nfi",
    "else": "if false\nthen ls\nelse\n%%\nfi",
    "while condition": "while %%\ndo ls\ndone",
    "while body": "while true\ndo\n%%\ndone",
    "until body": "until false\ndo\n%%\ndone",
    "for body": "for i in 1 2\ndo\n%%\ndone",
    "counting for": "for ((i=0; i<2; i++))\ndo\n%%\ndone",
    "case": "case x in\nx)\n%%\n;;\nesac",
    "select": "select x in a\ndo\n%%\ndone",
    "function": "f() {\n%%\n}\nf",
    "function keyword": "function g {\n%%\n}\ng",
    "substitution": "echo $(\n%%\n)",
    "quoted substitution": 'echo "$(\n%%\n)"',
    "process input": "cat <(\n%%\n)",
    "process output": "ls > >(\n%%\n)",
    "assignment": "x=$(\n%%\n)",
    "export": "export x=$(\n%%\n)",
    "unset": "unset $(\n%%\n)",
    "array": "x=($(\n%%\n))",
    "test": "[[ -n $(\n%%\n) ]]",
    "arithmetic": "echo $(( $(\n%%\n) ))",
    "arithmetic command": "(( x = $(\n%%\n) ))",
    "redirection target": "ls > $(\n%%\n)",
    "redirected": "{\n%%\n} > /dev/null 2>&1",
    "here-string": "cat <<< $(\n%%\n)",
    "default value": "echo ${x:-$(\n%%\n)}",
    "concatenation": "echo a$(\n%%\n)b",
    "comment": "# note\n%% # note",
}

QUOTED: dict[str, str] = {
    "sh -c": "sh -c %%",
    "bash -lc": "bash -lc %%",
    "bash -o": "bash -o pipefail -c %%",
    "env bash": "/usr/bin/env bash -c %%",
    "eval": "eval %%",
    "trap": "trap %% EXIT",
    "bash here-string": "bash <<< %%",
    "source here-string": "source /dev/stdin <<< %%",
    "dot here-string": ". /dev/stdin <<< %%",
    "su -c": "su root -c %%",
    "script -c": "script -qc %% /dev/null",
    "watch": "watch -n 1 %%",
    "ssh": "ssh host %%",
    "flock -c": "flock /tmp/l -c %%",
    "find sh": "find . -exec sh -c %% \\;",
    "xargs sh": "xargs -n 1 sh -c %%",
    "positional": "bash -c 'eval \"$1\"' _ %%",
    "variable": '{\nv=%%; eval "$v"\n}',
}

ARGV: dict[str, str] = {
    "timeout": "timeout -s KILL 5 %%",
    "nice": "nice -n 5 %%",
    "nohup": "nohup %%",
    "time": "time -p %%",
    "stdbuf": "stdbuf -o L %%",
    "command": "command -p %%",
    "exec": "exec -a x %%",
    "env": "env -u Y X=1 %%",
    "sudo": "sudo -u root -- %%",
    "xargs": "xargs -n1 %%",
    "find -exec": "find . -name x -exec %% \\;",
    "find -execdir": "find . -execdir %% +",
    "setsid": "setsid %%",
    "assignment prefix": "FOO=1 %%",
    "redirection first": "> /dev/null %%",
    "function arguments": 'f() { "$@"; }; f %%',
    "set": '(set -- %%; "$@")',
    "array": '(a=(%%); "${a[@]}")',
    "busybox": "busybox %%",
    "alias": "alias q=%%",
    "coproc": "coproc %%",
    "env -S": "env -S %%",
}

HEREDOCS: dict[str, str] = {
    "heredoc": "bash <<'E%%'\n%%\nE%%",
    "plain heredoc": "bash -s <<E%%\n%%\nE%%",
    "sudo heredoc": "sudo sh <<'E%%'\n%%\nE%%",
}


def wrap(kind: str, payload: str, mark: int = 0) -> str:
    if kind in TEXT:
        return TEXT[kind].replace("%%", payload)
    if kind in QUOTED:
        return QUOTED[kind].replace("%%", quote(payload))
    if kind in HEREDOCS:
        if kind == "plain heredoc" and any(char in payload for char in "$`\\"):
            kind = "heredoc"  # bash would expand them before the command sees them
        head, _, tail = HEREDOCS[kind].replace("E%%", f"E{mark}").partition("%%")
        return head + payload + tail
    simple = payload if "\n" not in payload and _is_simple(payload) else f"bash -c {quote(payload)}"
    if kind in ("alias", "env -S"):
        return ARGV[kind].replace("%%", quote(simple))
    return ARGV[kind].replace("%%", simple)


def _is_simple(text: str) -> bool:
    return all(char.isalnum() or char in " ./_-" for char in text)


ALL = (*TEXT, *QUOTED, *ARGV, *HEREDOCS)

SPELLINGS: tuple[str, ...] = (
    "rm a.txt",
    "\\rm a.txt",
    "r\\m a.txt",
    "'rm' a.txt",
    'r""m a.txt',
    "$'\\x72m' a.txt",
    '$"rm" a.txt',
    "/bin/rm a.txt",
    "/bin/r? a.txt",
    "r{m,} a.txt",
    "X=rm; $X a.txt",
    "X=rm; ${X} a.txt",
    "${X:-rm} a.txt",
    "for c in ls rm; do $c a.txt; done",
    "FOO=1 rm a.txt",
    "rm",
)


def test_there_are_enough_constructs() -> None:
    assert len(ALL) >= 25
    assert len(set(ALL)) >= 25


DENIES = policy(("Bash",), ("Bash(rm *)",))


def chain(random_: random.Random, payload: str, depth: int, kinds: tuple[str, ...]) -> tuple[str, list[str]]:
    used: list[str] = []
    for level in range(depth):
        kind = random_.choice(kinds)
        used.append(kind)
        payload = wrap(kind, payload, level)
    return payload, used


@pytest.mark.parametrize("shard", range(10))
def test_a_wrapped_denied_command_is_never_allowed(shard: int) -> None:
    random_ = random.Random(shard)
    for _ in range(1_100):
        text, used = chain(random_, random_.choice(SPELLINGS), random_.randint(1, 5), ALL)
        assert verdict(DENIES, text) != "allow", (used, text)


@pytest.mark.parametrize("kind", ALL)
def test_one_construct_is_seen_through(kind: str) -> None:
    assert verdict(DENIES, wrap(kind, "rm a.txt")) == "deny"


# What is static and allowed stays allowed.

EVALUATED = ("arithmetic", "arithmetic command")
"""bash evaluates what the command prints."""
CLEAN_TEXT = tuple(kind for kind in TEXT if kind not in ("unset", "redirection target", *EVALUATED))
BASH_ONLY = ("counting for", "select", "function keyword", "test", "time", "source here-string", "coproc")
RUN_BY_SH = (
    "sh -c",
    "su -c",
    "script -c",
    "watch",
    "ssh",
    "flock -c",
    "find sh",
    "xargs sh",
    "env -S",
    "coproc",
)
"""sh reads some words of bash by other rules."""
CLEAN = (*CLEAN_TEXT, *(kind for kind in QUOTED if kind != "trap"), *ARGV)
BENIGN = ("ls -la", "npm test", "git push origin main", "cargo build --release", "echo hi", "cat a.txt")


@pytest.mark.parametrize("shard", range(6))
def test_a_wrapped_static_command_stays_allowed(shard: int) -> None:
    random_ = random.Random(1000 + shard)
    for _ in range(1_000):
        text, used = chain(random_, random_.choice(BENIGN), random_.randint(1, 4), CLEAN)
        first = next((at for at, kind in enumerate(used) if kind in BASH_ONLY), len(used))
        if not set(RUN_BY_SH).isdisjoint(used[first:]):
            continue
        assert verdict(DENIES, text) == "allow", (used, text)


SCOPED = policy(("Bash(npm test *)", "Bash(cargo build *)"), ("Bash(rm *)",))
PLAIN: dict[str, str] = {
    "and": "ls && @",
    "or": "@ || true",
    "sequence": "pwd; @",
    "newline": "ls\n@",
    "pipe": "@ | cat",
    "negation": "! @",
    "if": "if true\nthen @\nfi",
    "if condition": "if @\nthen ls\nfi",
    "while": "while true\ndo @\ndone",
    "for": "for i in 1 2\ndo @\ndone",
    "timeout": "timeout 5 @",
    "nice": "nice -n 5 @",
    "nohup": "nohup @",
    "time": "time @",
    "stdbuf": "stdbuf -oL @",
    "command": "command @",
    "environment": "NODE_ENV=test @",
    "silence": "@ > /dev/null 2>&1",
    "comment": "@ # note",
    "directory": "cd sub && @",
    "test": "[ -f a ] && @",
}
WRAPPERS_ONLY = ("timeout", "nice", "nohup", "time", "stdbuf", "command")


@pytest.mark.parametrize("shard", range(4))
def test_a_scoped_rule_covers_plain_constructs(shard: int) -> None:
    random_ = random.Random(2000 + shard)
    for _ in range(1_100):
        text = random_.choice(("npm test", "npm test unit", "cargo build --release"))
        for kind in random_.choices(WRAPPERS_ONLY, k=random_.randint(0, 2)):
            text = PLAIN[kind].replace("@", text)
        for kind in random_.sample(sorted(set(PLAIN) - set(WRAPPERS_ONLY)), k=random_.randint(0, 2)):
            if kind in ("environment", "negation", "silence") and not _is_simple(text):
                continue
            text = PLAIN[kind].replace("@", text)
        assert verdict(SCOPED, text) == "allow", text


# Every branch is noticed.

STRICT = policy(("Bash",), ("Bash(rm *)", "Bash(git switch *)", "Read(/secrets/k)", "Read(.env)"))
COMMANDS_ONLY = policy(("Bash",), ("Bash(rm *)", "Bash(git switch *)"))
"""Without file rules, which stop code that computes names by themselves."""


def _wrapper_sample(name: str, spec: shell_wrappers.Wrapper) -> str:
    if spec.after:
        return f"{name} {spec.after[0]} {'x ' * spec.operands}rm a"
    operands = "x " * spec.operands
    if spec.strings and (
        spec.operands > 3 or name in ("env", "nix-shell", "nix develop", "nix shell", "vagrant ssh")
    ):
        option = spec.strings[0]
        return f"{name} {'-' if len(option) == 1 else '--'}{option} 'rm a'"
    return f"{name} {operands}rm a"


def _interpreter_sample(name: str, known: shell_code.Interpreter) -> str:
    code = (
        "!rm a"
        if known.language in ("vim", "gdb", "ed")
        else "system('r'+'m a')|`x`; require('x') \\! .shell"
    )
    if known.language == "sed":
        code = "1e rm a"
    if known.language == "m4":
        code = "esyscmd(x)"
    if known.language == "sqlite":
        code = ".shell rm a"
    if known.subcommand:
        return f"{name} {known.subcommand} {quote(code)}"
    if known.short:
        return f"{name} -{known.short[0]} {quote(code)}"
    if known.long and known.operand is None:
        return f"{name} --{known.long[0]}={quote(code)}"
    if known.operand is not None:
        return f"{name} {'x ' * known.operand}{quote(code)}"
    return f"{name} <<< {quote(code)}"


def _option_sample(key: str) -> str:
    short, long = shell_code.SHELL_OPTIONS[key]
    return f"{key} -{short[0]} 'rm a'" if short else f"{key} --{long[0]}='rm a' x src"


def _first(options: tuple[str, tuple[str, ...]]) -> str:
    short, long = options
    name = short[:1] or long[0]
    return f"-{name}" if len(name) == 1 else f"--{name}"


SAMPLES: tuple[str, ...] = (
    *(wrap(kind, "rm a.txt") for kind in ALL),
    *SPELLINGS,
    "zip x.zip a -T -TT 'r$@m a'",
    "jobs -x rm a",
    "tmux send-keys 'r$@m a' Enter",
    *(_wrapper_sample(name, spec) for name, spec in shell_wrappers.WRAPPERS.items()),
    *(_interpreter_sample(name, known) for name, known in shell_code.INTERPRETERS.items()),
    *(f"{name} -c 'rm a'" for name in (*shell_wrappers.SHELLS, *shell_wrappers.FOREIGN_SHELLS)),
    *(f"{name} <<< 'rm a'" for name in shell_wrappers.READS_COMMANDS),
    *(_option_sample(key) for key in shell_code.SHELL_OPTIONS),
    *(f"{name} -o {options[0]}='rm a' x" for name, options in shell_code.OPTION_COMMANDS.items()),
    *(f"{name} SHELL='rm a'" for name in shell_code.OPERAND_COMMANDS),
    *(f"{name} . {next(iter(flags))} rm {{}} \\;" for name, flags in shell_code.EXEC_FLAGS.items()),
    *(f"{name}='rm a' x" for name in shell_env.COMMANDS),
    *(f"{name}='$(rm a)' x" for name in shell_env.PROMPTS),
    *(f"{name}=file x" for name in shell_env.SOURCED),
    *(f"{key} {_first(options)} x='rm a' y" for key, options in shell_code.SETTING_OPTIONS.items()),
    *(f"{key} {_first(options)} y" for key, options in shell_code.LENIENT_OPTIONS.items()),
    *(f"{key} {_first(('', files))} /dev/fd/9" for key, files in shell_code.CODE_FILES.items() if files),
    *(f"{key} x /dev/stdin <<< y" for key in shell_code.CODE_OPERANDS),
    "complete -C 'rm a' x",
    "compgen -C 'rm a' x",
    "bind -x '\"q\": rm a'",
    "fc -s",
    "wait -p 'a[$(r${E}m a)]'",
    "unheard-of --with rm a",
    "unheard-of 'timeout 5 rm a'",
    "unheard-of <<< 'rm a'",
    "X='rm a' unheard-of",
    "export X='rm a'; unheard-of",
    "git -c alias.x='!rm a' x",
    "git -C . switch x",
    "git --git-dir .git switch x",
    "cd secrets && cat k",
    "pushd secrets && cat k",
    "cd /p/secrets && pushd /tmp && popd && cat k",
    'set -- x rm a; shift; "$@"',
    *(f"X=ls; {name} X < f; $X a" for name in ("read", "mapfile", "readarray", "getopts a")),
    "X=ls; printf -v X rm; $X a",
    "bash 0<f",
    "let 'x[$(r${E}m a)]=1'",
    "X=ls; builtin unset X; ${X:-rm} a",
    *(f"X=ls; builtin {name} X=rm; $X a" for name in ("export", "declare", "typeset", "local", "readonly")),
    "test -v 'a[$(rm a)]'",
    "builtin [ -v 'a[$(rm a)]' ]",
    "hash -p /bin/rm ls; ls a",
    "enable -f x.so y",
    "shopt -s dotglob; cat *",
    "X=1; ${X:+rm} a",
    "A=(rm a); ${A[0]} b",
    "$'rm' a",
    "'rm' a",
    "X=r; ${X}m a",
    "cat <<E\n$(rm a)\nE",
    "unset $(rm a)",
    "x=1 y=$(rm a)",
    'echo "${X:-`rm a`}"',
    "f() { rm a; }",
)


def _ignore_node(_: object, _node: object, state: object, _doubts: object) -> object:
    return state, state


def _as_written(_: object, node: object, _quoted: bool) -> tuple[str, str]:
    text = node.text.decode()  # type: ignore[attr-defined]  # a syntax node
    return text, "u" * len(text)


SEEING_PARTS = (
    "word",
    "concatenation",
    "command_name",
    "string",
    "raw_string",
    "ansi_c_string",
    "simple_expansion",
    "expansion",
    "command_substitution",
    "process_substitution",
    "arithmetic_expansion",
)
"""Parts of words that change what is run; the others are read as they stand."""

IDLE_NODES = ("comment", "ERROR", "do_group")
"""A comment runs nothing, an error is a problem of its own, and a loop walks its body itself."""


def _branches() -> Iterator[tuple[str, dict[str, object], str, object]]:
    for name in nodes.NODES:
        if name not in IDLE_NODES:
            yield f"node {name}", nodes.NODES, name, _ignore_node  # type: ignore[misc]
    for name in SEEING_PARTS:
        yield f"part {name}", words.PARTS, name, _as_written  # type: ignore[misc]
    for name in execute.WRAPPERS:
        yield f"wrapper {name}", execute.WRAPPERS, name, None  # type: ignore[misc]
    for name in builtins.BUILTINS:
        yield f"builtin {name}", builtins.BUILTINS, name, None  # type: ignore[misc]
    for name in nested.NESTED:
        yield f"program {name}", nested.NESTED, name, None  # type: ignore[misc]
    for name in nested.SHELL_OPTIONS:
        yield f"option of {name}", nested.SHELL_OPTIONS, name, None  # type: ignore[misc]


BRANCHES = list(_branches())


@cache
def _with_all_on() -> dict[str, tuple[int, ...]]:
    return {text: _ranks(text) for text in SAMPLES}


def _ranks(text: str) -> tuple[int, ...]:
    return tuple(rank(verdict(policy, text)) for policy in (STRICT, COMMANDS_ONLY))


def _noticed(hint: str = "") -> bool:
    """Whether some sample is judged more loosely now; those that name the branch are tried first."""
    usual = _with_all_on()
    likely = [text for text in SAMPLES if hint in text]
    return any(
        now < before
        for text in (*likely, *SAMPLES)
        for now, before in zip(_ranks(text), usual[text], strict=True)
    )


def test_nothing_is_allowed_with_every_branch_on() -> None:
    assert [text for text in SAMPLES if verdict(STRICT, text) == "allow"] == []


@pytest.mark.parametrize("shard", range(4))
def test_every_branch_is_noticed_when_it_is_off(shard: int, monkeypatch: pytest.MonkeyPatch) -> None:
    missed = []
    _with_all_on()
    for label, table, name, replacement in BRANCHES[shard::4]:
        with monkeypatch.context() as patch:
            if replacement is None:
                patch.delitem(table, name)
            else:
                patch.setitem(table, name, replacement)
            if not _noticed(name):
                missed.append(label)
    assert missed == []


VARIABLE_SETS = ("COMMANDS", "PROMPTS", "SOURCED")


@pytest.mark.parametrize("name", VARIABLE_SETS)
def test_variables_that_hold_commands_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _with_all_on()
    for variable in getattr(shell_env, name):
        with monkeypatch.context() as patch:
            patch.setattr(assign, name, getattr(shell_env, name) - {variable})
            assert _noticed(variable), variable


OFF: dict[str, tuple[object, str, Callable[..., object]]] = {
    "subcommands after options": (forms, "_subcommands", lambda _: []),
    "functions that nothing calls": (shell, "uncalled", lambda _: None),
    "substitutions overlooked by the grammar": (words.Reader, "literal", lambda _, source: source),
    "brace expansion": (words, "has_braces", lambda _: False),
    "commands in the words of other programs": (carried, "carried", lambda *_: None),
    "numbers before a redirection": (simple, "_is_descriptor", lambda *_: False),
}


@pytest.mark.parametrize("name", OFF)
def test_other_branches_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _with_all_on()
    owner, attribute, replacement = OFF[name]
    monkeypatch.setattr(owner, attribute, replacement)
    assert _noticed()
