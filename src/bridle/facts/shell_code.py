"""Commands that take code of another language, or a command, in one of their options."""

from __future__ import annotations

from msgspec import Struct

from bridle.facts.shell_words import names, words


class Interpreter(Struct, frozen=True):
    """`short` and `long` are the options that hold code, `values` those with another value.

    `operand` is the place of the operand that is code when no option holds any, None for never.
    """

    language: str
    short: str = ""
    long: tuple[str, ...] = ()
    values: str = ""
    operand: int | None = None
    subcommand: str = ""
    """A first operand after which code stands."""


INTERPRETERS: dict[str, Interpreter] = {
    "python": Interpreter("python", "c", (), "WX"),
    "pypy": Interpreter("python", "c", (), "WX"),
    "ipython": Interpreter("python", "c"),
    "perl": Interpreter("perl", "eE", (), "I"),
    "ruby": Interpreter("ruby", "e", (), "IrC"),
    "node": Interpreter("javascript", "ep", names("eval print"), "rC"),
    "nodejs": Interpreter("javascript", "ep", names("eval print"), "rC"),
    "bun": Interpreter("javascript", "ep", names("eval print")),
    "deno": Interpreter("javascript", subcommand="eval"),
    "php": Interpreter("php", "rBRE", names("run"), "dcz"),
    "lua": Interpreter("lua", "e", (), "l"),
    "luajit": Interpreter("lua", "e", (), "l"),
    "Rscript": Interpreter("r", "e"),
    "R": Interpreter("r", "e"),
    "julia": Interpreter("julia", "eE", names("eval print")),
    "osascript": Interpreter("applescript", "e"),
    "expect": Interpreter("expect", "c"),
    "tclsh": Interpreter("expect"),
    "emacs": Interpreter("elisp", "", names("eval execute")),
    "vim": Interpreter("vim", "cS", names("cmd")),
    "vi": Interpreter("vim", "cS"),
    "nvim": Interpreter("vim", "cS", names("cmd")),
    "ex": Interpreter("vim", "cS"),
    "view": Interpreter("vim", "cS"),
    "gdb": Interpreter("gdb", "", names("ex eval-command iex command")),
    "lldb": Interpreter("gdb", "o", names("one-line")),
    "awk": Interpreter("awk", "", ("source",), "Fvf", 0),
    "gawk": Interpreter("awk", "e", ("source",), "Fvf", 0),
    "mawk": Interpreter("awk", "", (), "Fvf", 0),
    "nawk": Interpreter("awk", "", (), "Fvf", 0),
    "sed": Interpreter("sed", "e", ("expression",), "fl", 0),
    "gsed": Interpreter("sed", "e", ("expression",), "fl", 0),
    "sqlite3": Interpreter("sqlite", "", ("cmd",), "", 1),
    "psql": Interpreter("psql", "c", ("command",), "dUhpfv"),
    "mysql": Interpreter("mysql", "e", ("execute",), "uhPD"),
    "jshell": Interpreter("java"),
    "groovy": Interpreter("groovy", "e"),
    "scala": Interpreter("scala", "e"),
    "elixir": Interpreter("elixir", "e"),
    "erl": Interpreter("erlang", "", ("eval",)),
    "ghc": Interpreter("haskell", "e"),
    "pwsh": Interpreter("powershell", "cC", names("Command c EncodedCommand")),
    "powershell": Interpreter("powershell", "cC", names("Command c EncodedCommand")),
    "ed": Interpreter("ed"),
}

SPAWNS: dict[str, str] = {
    "python": (
        r"\b(?:os|subprocess|pty|ctypes|cffi|shutil|runpy|importlib|multiprocessing|asyncio|pickle|marshal|code"
        r"|exec|eval|compile|getattr|setattr|globals|locals|vars|builtins|modules|popen\w*|system|spawn\w*"
        r"|socket|signal|imp|pathlib|open|input|breakpoint|commands|platform|webbrowser|sh|plumbum|pexpect"
        r"|base64|codecs|zipimport|pkgutil|inspect|gc|types|operator)\b|__"
    ),
    "javascript": (
        r"\b(?:require|import|process|child_process|exec\w*|spawn\w*|eval|Function|constructor|globalThis"
        r"|global|Bun|Deno|fs|module|Reflect|binding|vm)\b|\["
    ),
    "awk": r"system|getline|\||>|@|\\",
    "sed": (
        r"(?:^|[;{}\n0-9$/!\s])e(?:[\s;}]|$)"
        r"|[^\w\s\\][gpiImMw0-9]*e[gpiImM0-9]*(?:$|[;}\n])"
    ),
    "sqlite": r"(?:^|\n)\s*\.",
    "perl": (
        r"`|\b(?:system|exec|qx|open|fork|eval|require|do|use|unlink|pipe|syscall|kill)\b|[/}]\w*e\b|<[^>]*>|\\"
    ),
    "ruby": (
        r"`|\b(?:system|exec|spawn|fork|eval|open|popen\w*|send|public_send|IO|File|Kernel|Process|require"
        r"|load|instance_eval|class_eval|method|syscall|const_get)\b|%x|\["
    ),
    "php": (
        r"`|\b(?:exec|shell_exec|system|passthru|popen|proc_open|pcntl_\w+|eval|assert|include|require|unlink"
        r"|call_user_func\w*|create_function|file\w*|fopen|mail|dl)\b|\$\$|\$\w+\s*\("
    ),
}
"""Words by which code of a language may start a process, load code or hide what it does.

Code without any of them is judged as a program; other code, and code of any language not listed, is
code that can't be told.
"""

SHELL_OPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "tar": (
        "I",
        names("checkpoint-action to-command use-compress-program rsh-command info-script new-volume-script"),
    ),
    "bsdtar": ("", names("use-compress-program")),
    "rsync": ("e", names("rsh rsync-path")),
    "rg": ("", names("pre hostname-bin")),
    "man": ("PH", names("pager html")),
    "sort": ("", names("compress-program")),
    "split": ("", names("filter")),
    "zip": ("", names("unzip-command")),
    "scp": ("S", ()),
    "sftp": ("S", ()),
    "fzf": ("", names("preview bind")),
    "git": ("", names("upload-pack receive-pack")),
    "git difftool": ("x", names("extcmd")),
    "git rebase": ("x", names("exec")),
    "git grep": ("O", names("open-files-in-pager")),
    "git filter-branch": (
        "",
        names(
            "tree-filter index-filter msg-filter env-filter commit-filter parent-filter tag-name-filter setup"
        ),
    ),
    "make": ("", names("eval")),
    "gmake": ("", names("eval")),
    "nmap": ("", names("script")),
    "wget": ("", names("use-askpass")),
    "borg": ("", names("rsh")),
    "restic": ("", names("password-command")),
    "ansible": ("a", names("args")),
}
"""Options whose value is a shell command."""

SHELL_PREFIXES: tuple[str, ...] = names("exec= !")
"""Written before the command in some values: `--checkpoint-action=exec=CMD`, a git alias `!CMD`."""

OPTION_COMMANDS: dict[str, tuple[str, ...]] = {
    "ssh": names("ProxyCommand LocalCommand KnownHostsCommand PermitLocalCommand"),
    "scp": names("ProxyCommand LocalCommand KnownHostsCommand"),
    "sftp": names("ProxyCommand LocalCommand KnownHostsCommand"),
}
"""`-o Name=CMD`: configuration by option that holds a command."""

EXEC_FLAGS: dict[str, frozenset[str]] = {
    "find": words("-exec -execdir -ok -okdir"),
    "gfind": words("-exec -execdir -ok -okdir"),
    "fd": words("-x -X --exec --exec-batch"),
    "fdfind": words("-x -X --exec --exec-batch"),
}
"""Words after which a command stands; `;` or `+` ends it."""

FIND_WRITES: frozenset[str] = words("-delete -fprint -fprint0 -fprintf -fls")

FIND_ALL: frozenset[str] = words("-delete -depth -mindepth -maxdepth -type -print -print0 -xdev -mount")
"""With only these words `find -delete` removes all there is."""

STDIN_FILES: frozenset[str] = words("- -f- --file=- --makefile=- /dev/stdin")
"""Words by which make reads its file from the input."""

OPERAND_COMMANDS: dict[str, tuple[str, ...]] = {"make": names("SHELL MAKE"), "gmake": names("SHELL MAKE")}
"""`NAME=CMD` among the operands: variables that hold a command."""
