"""Commands that take code of another language, or a command, in one of their options."""

from __future__ import annotations

from msgspec import Struct

from checkrein.facts.shell_words import names, words


class Interpreter(Struct, frozen=True):
    """`short` and `long` are the options that hold code, `values` those with another value.

    `operand` is the place of the operand that is code when no option holds code; None means never.
    """

    language: str
    short: str = ""
    long: tuple[str, ...] = ()
    values: str = ""
    operand: int | None = None
    subcommand: str = ""
    """A first operand that code follows."""
    files: str = ""
    """Options that name a file of code; then a pipe or the input holds code."""
    always: bool = False
    """Takes commands from its input with any other arguments."""


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
    "expect": Interpreter("expect", "c", files="f"),
    **dict.fromkeys(names("tclsh wish jimsh"), Interpreter("expect")),
    "emacs": Interpreter("elisp", "", names("eval execute")),
    "emacsclient": Interpreter("elisp", "e", names("eval")),
    **dict.fromkeys(
        names("vim nvim gvim mvim vimdiff view rvim"),
        Interpreter("vim", "cS", names("cmd"), "uUsTt", files="sSu"),
    ),
    **dict.fromkeys(names("vi ex"), Interpreter("vim", "cS", (), "uUsTt", files="sSu", always=True)),
    "gdb": Interpreter("gdb", "", names("ex eval-command iex command"), "x", files="x", always=True),
    "cgdb": Interpreter("gdb", "", names("ex eval-command iex command"), "x", files="x", always=True),
    "lldb": Interpreter("gdb", "oO", names("one-line one-line-before-file"), "s", files="sS", always=True),
    "awk": Interpreter("awk", "", ("source",), "Fvf", 0, files="f"),
    "gawk": Interpreter("awk", "e", ("source",), "Fvfli", 0, files="f"),
    **dict.fromkeys(names("mawk nawk original-awk"), Interpreter("awk", "", (), "Fvf", 0, files="f")),
    "sed": Interpreter("sed", "e", ("expression",), "fl", 0, files="f"),
    "gsed": Interpreter("sed", "e", ("expression",), "fl", 0, files="f"),
    "sqlite3": Interpreter("sqlite", "", ("cmd",), "", 1, always=True),
    "duckdb": Interpreter("sqlite", "c", names("cmd"), "", 1, always=True),
    "psql": Interpreter("psql", "c", ("command",), "dUhpfv", files="f", always=True),
    **dict.fromkeys(names("mysql mariadb"), Interpreter("mysql", "e", ("execute",), "uhPD", always=True)),
    **dict.fromkeys(names("mongosh mongo"), Interpreter("mongo", "", ("eval",), always=True)),
    **dict.fromkeys(names("lftp ftp"), Interpreter("ftp", "ec", always=True)),
    "sftp": Interpreter("ftp", "", (), "bBcDFiJloPRS", files="b", always=True),
    "telnet": Interpreter("ftp", always=True),
    "jshell": Interpreter("java"),
    **dict.fromkeys(
        names("groovy scala kotlin elixir clojure clj bb csi csharp rust-script gore yaegi evcxr"),
        Interpreter("code", "e", names("eval")),
    ),
    **dict.fromkeys(
        names("irb iex ghci bpython ptpython pry swift ocaml utop fsharpi coqtop"),
        Interpreter("code", "e", names("eval exec")),
    ),
    **dict.fromkeys(names("tsx ts-node"), Interpreter("javascript", "ep", names("eval print"), "rC")),
    "erl": Interpreter("erlang", "", ("eval",)),
    "ghc": Interpreter("haskell", "e"),
    **dict.fromkeys(
        names("guile racket scheme chicken gsi sbcl clisp ecl"), Interpreter("lisp", "cex", names("eval"))
    ),
    **dict.fromkeys(
        names("octave gnuplot maxima gp sage matlab"), Interpreter("maths", "ecr", names("eval batch-string"))
    ),
    "dc": Interpreter("dc", "e", ("expression",), "f", files="f", always=True),
    "m4": Interpreter("m4"),
    "rake": Interpreter("ruby", "eEp", names("execute execute-continue execute-print"), "fIrR", files="f"),
    "pwsh": Interpreter("powershell", "cC", names("Command c EncodedCommand")),
    "powershell": Interpreter("powershell", "cC", names("Command c EncodedCommand")),
    **dict.fromkeys(names("ed red sam"), Interpreter("ed", "", (), "p", always=True)),
}

CODE_MODULES: frozenset[str] = words("pdb bdb timeit code IPython ptpython bpython")
"""Modules of Python that run code from their arguments."""

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
    "sqlite": (
        r"(?:^|\n)\s*\.(?!(?:tables|schema|mode|headers?|indexes|databases|dump|stats|width)\b)"
        r"|load_extension|edit\s*\(|writefile|fts3_tokenizer"
    ),
    "ed": r"!",
    "ftp": r"!|\|",
    "dc": r"!",
    "psql": (
        r"\\(?!(?:d[a-zA-Z]*|l|x|timing|conninfo|q)\+?(?:\s+[\w.]+)?\s*$)"
        r"|(?i:\bprogram\b|\bload\b|\bcreate\b.*\blanguage\b)"
    ),
    "mysql": r"(?i:\\|\bsystem\b|\bpager\b|\btee\b|\bsource\b|\bedit\b)",
    "m4": r"syscmd|builtin|indir|include|changequote|defn|esyscmd|popdef",
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
"""Words in code of a language that may start a process, load code or hide what it does.

Code without any of them counts as a program. Other code, and code of a language that is not here, counts as
unknown code.
"""

_TAR = (
    "IF",
    names(
        "checkpoint-action to-command use-compress-program rsh-command rmt-command info-script"
        " new-volume-script"
    ),
)

SHELL_OPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "tar": _TAR,
    "gtar": _TAR,
    "bsdtar": ("", names("use-compress-program")),
    "cpio": ("", names("rsh-command rmt-command")),
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
    "git clone": ("u", names("upload-pack")),
    **dict.fromkeys(
        ("git ls-remote", "git push", "git archive", "git fetch-pack", "git send-pack"),
        ("", names("exec upload-pack receive-pack")),
    ),
    "git send-email": ("", names("sendmail-cmd to-cmd cc-cmd header-cmd smtp-server")),
    "git daemon": ("", names("access-hook")),
    "git instaweb": ("db", names("httpd browser")),
    "git web--browse": ("b", names("browser")),
    "git shell": ("c", ()),
    "svn": ("", names("editor-cmd diff-cmd diff3-cmd merge-cmd")),
    "just": ("", names("shell")),
    "npm": ("", names("script-shell")),
    "helm": ("", names("post-renderer")),
    "rclone": ("", names("password-command")),
    "bat": ("", names("pager")),
    "mosh": ("", names("ssh server")),
    "nodemon": ("x", names("exec")),
    "ncat": ("ec", names("exec sh-exec")),
    "nc": ("ec", ()),
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
"""Prefixes of the command in some values: `--checkpoint-action=exec=CMD`, a git alias `!CMD`."""

OPTION_COMMANDS: dict[str, tuple[str, ...]] = {
    "ssh": names("ProxyCommand LocalCommand KnownHostsCommand PermitLocalCommand"),
    "scp": names("ProxyCommand LocalCommand KnownHostsCommand"),
    "sftp": names("ProxyCommand LocalCommand KnownHostsCommand"),
}
"""`-o Name=CMD`: configuration options that hold a command."""

SETTING_OPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "git clone": ("c", names("config")),
    "hg": ("", names("config")),
    "svn": ("", names("config-option")),
    "jj": ("", names("config config-toml")),
    "wget": ("e", names("execute")),
    "apt": ("o", names("option")),
    "apt-get": ("o", names("option")),
    "cargo": ("", names("config")),
    "sshfs": ("o", ()),
}
"""Options whose value is `setting=command`."""

LENIENT_OPTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        names("pdflatex latex xelatex lualatex tex latexmk"), ("", names("shell-escape enable-write18"))
    ),
    **dict.fromkeys(names("groff troff"), ("U", ())),
    "kustomize": ("", names("enable-exec enable-alpha-plugins")),
    "gs": ("", names("dNOSAFER NOSAFER")),
    "java": ("", names("javaagent agentpath agentlib")),
}
"""With these, the program's input may run commands, or the program first loads code."""

FIND_EXEC: frozenset[str] = words("-exec -execdir -ok -okdir")
"""The command after these gets only the written words; others get a name at the end."""

EXEC_FLAGS: dict[str, frozenset[str]] = {
    **dict.fromkeys(names("find gfind bfs"), FIND_EXEC),
    "fd": words("-x -X --exec --exec-batch"),
    "fdfind": words("-x -X --exec --exec-batch"),
}
"""Words that a command follows; `;` or `+` ends it."""

FIND_WRITES: frozenset[str] = words("-delete -fprint -fprint0 -fprintf -fls")

FIND_ALL: frozenset[str] = words("-delete -depth -mindepth -maxdepth -type -print -print0 -xdev -mount")
"""With only these words `find -delete` removes everything."""

CODE_FILES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(names("make gmake bmake"), names("f file makefile I include-dir")),
    "ninja": names("f C"),
    "just": names("f justfile"),
    "task": names("t taskfile"),
    "ant": names("f file buildfile"),
    "scons": names("f file makefile"),
    "cmake": names("P C"),
    "bash": names("rcfile init-file"),
    "docker": names("f file"),
    "podman": names("f file"),
    "packer": (),
    "skaffold": names("f filename"),
    "tilt": names("f file"),
    "deno": (),
    "ssh": names("F"),
    "tmux": names("f"),
    "screen": names("c"),
    "crontab": (),
}
"""Options that name a file of commands. The input or a pipe there holds unknown code."""

CODE_OPERANDS: frozenset[str] = words("packer deno docker podman crontab")
"""An operand that is the input or a pipe also holds code: `docker build -`."""

OPERAND_COMMANDS: dict[str, tuple[str, ...]] = dict.fromkeys(names("make gmake bmake"), names("SHELL MAKE"))
"""`NAME=CMD` among the operands: variables that hold a command."""

NUMBER_VARIABLES: frozenset[str] = words(
    "RANDOM SECONDS LINENO UID EUID PPID EPOCHSECONDS COLUMNS LINES # ? $ !"
)
"""Variables that bash itself keeps a number in."""

NUMBER_COMMANDS = (
    r"(?:\$\(|`)\s*(?:[^()`\"'\\$]*\|\s*)?"
    r"(?:wc\s+-[lcwm](?:\s*<\s*[\w./-]+)?|nproc|id -[ug]|date \+%[sYmdHMSjNu]+"
    r"|seq(?:\s+-?\d+)+|grep -\w*c\w* [\w.^$-]+|git rev-list --count [\w./-]+"
    r"|stat -c\s?%[sYXZa] [\w./-]+)\s*(?:\)|`)"
)
"""Substitutions that can only print numbers."""
