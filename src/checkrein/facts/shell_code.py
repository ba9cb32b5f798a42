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
    flags: str = ""
    """The letters of options that load no code; any other letter makes the effect unknown. Empty: all do."""
    permutes: bool = False
    """Options may follow operands, and every operand from `operand` on may be code."""
    one_dash: bool = False
    """Long options have one dash."""
    loads: tuple[str, ...] = ()
    """Options that name a module or file of code: a path or a plain name is a program of the project."""


_NODE = names("r require import loader experimental-loader")

INTERPRETERS: dict[str, Interpreter] = {
    "python": Interpreter("python", "c", (), "WXm", flags="bBdEhiIOPqsSuvVx?tR"),
    "pypy": Interpreter("python", "c", (), "WXm", flags="bBdEhiIOPqsSuvVx?tR"),
    "ipython": Interpreter("python", "c"),
    "perl": Interpreter("perl", "eE", (), "IMmF", flags="0123456789acilnpstTuUvVwWXhCg.", loads=("M", "m")),
    "ruby": Interpreter("ruby", "e", (), "IrCF", flags="0123456789acilnpsvwWhE.", loads=("r",)),
    "node": Interpreter("javascript", "ep", names("eval print pe"), "rC", flags="vhcip", loads=_NODE),
    "nodejs": Interpreter("javascript", "ep", names("eval print pe"), "rC", flags="vhcip", loads=_NODE),
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
        Interpreter("vim", "c", names("cmd"), "uUTtiw", files="Su", permutes=True),
    ),
    **dict.fromkeys(
        names("vi ex"),
        Interpreter("vim", "c", names("cmd"), "uUTtiw", files="Su", always=True, permutes=True),
    ),
    **dict.fromkeys(
        names("gdb cgdb"),
        Interpreter(
            "gdb",
            "",
            names("ex eval-command iex init-eval-command eval-c init-eval"),
            "xpcd",
            files="x",
            always=True,
            permutes=True,
            one_dash=True,
        ),
    ),
    "lldb": Interpreter("gdb", "oO", names("one-line one-line-before-file"), "s", files="sS", always=True),
    **dict.fromkeys(
        names("awk gawk mawk nawk original-awk"),
        Interpreter("awk", "e", ("source",), "FvflEi", 0, files="fE", flags="F"),
    ),
    "sed": Interpreter("sed", "e", ("expression",), "fl", 0, files="f"),
    "gsed": Interpreter("sed", "e", ("expression",), "fl", 0, files="f"),
    **dict.fromkeys(
        names("sqlite3 duckdb"),
        Interpreter(
            "sqlite", "", names("cmd c"), "", 0, files="init", always=True, permutes=True, one_dash=True
        ),
    ),
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
    "m4": Interpreter("m4", "DU", names("define"), "IFR", files="RF", always=True),
    "rake": Interpreter("ruby", "eEp", names("execute execute-continue execute-print"), "fIrR", files="f"),
    "pwsh": Interpreter("powershell", "cC", names("Command c EncodedCommand")),
    "powershell": Interpreter("powershell", "cC", names("Command c EncodedCommand")),
    **dict.fromkeys(names("ed red sam"), Interpreter("ed", "", (), "p", always=True)),
}

CODE_MODULES: frozenset[str] = words(
    "pdb bdb timeit code IPython ptpython bpython asyncio idlelib runpy doctest ensurepip pip._internal"
)
"""Modules of Python that run code from their arguments or their input."""

INPUT_MODULES: frozenset[str] = words("json.tool base64 tokenize quopri uu gzip zipfile tarfile http.server")
"""Modules of Python whose input is data."""

PLAIN_PERL: frozenset[str] = words(
    "strict warnings utf8 integer bigint constant List::Util Data::Dumper JSON::PP MIME::Base64 Digest::MD5"
    " Digest::SHA Time::Local Time::HiRes Encode File::Basename Text::Wrap Scalar::Util feature"
    " json set csv yaml time date pp digest securerandom bigdecimal"
)
"""Modules of Perl and Ruby that start nothing."""

SPAWNS: dict[str, str] = {
    "ed": r"!",
    "ftp": r"!|\|",
    "dc": r"!",
    "psql": (
        r"\\(?!(?:d[a-zA-Z]*|l|x|timing|conninfo|q)\+?(?:\s+[\w.]+)?\s*$)"
        r"|(?i:\bprogram\b|\bload\b|\bcreate\b.*\blanguage\b)"
    ),
    "mysql": r"(?i:\\|\bsystem\b|\bpager\b|\btee\b|\bsource\b|\bedit\b)",
}
"""Words in code of a language that may start a process.

Code without any of them counts as a program. Code of a language that is neither here nor in `code_words`
counts as unknown code.
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
    "scp": ("S", ()),
    "sftp": ("SD", ()),
    "fzf": ("", names("preview bind")),
    "git": ("", names("upload-pack receive-pack")),
    "git difftool": ("x", names("extcmd")),
    **dict.fromkeys(("git clone", "git fetch", "git pull"), ("u", names("upload-pack"))),
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
    "nmap": ("", names("script")),
    "wget": ("", names("use-askpass")),
    "borg": ("", names("rsh")),
    "restic": ("", names("password-command")),
    "ansible": ("a", names("args")),
}
"""Options whose value is a shell command."""

BUNDLED: dict[str, str] = dict.fromkeys(names("tar gtar bsdtar"), "fbIFCTXgKNVL")
"""Programs whose first word may be letters of options without a dash; the letters that take a value."""

TMUX_PLAIN: frozenset[str] = words(
    "ls list-sessions lsw list-windows lsp list-panes lsc list-clients lsk list-keys lsb list-buffers"
    " kill-server kill-session kill-window killw kill-pane killp has-session has attach attach-session a"
    " detach detach-client capture-pane capturep start-server start select-window selectw select-pane selectp"
    " rename-session rename rename-window renamew info server-info show-options show showw show-buffer showb"
)
"""Commands of tmux that start nothing."""

TMUX_RUNS: dict[str, str] = {
    **dict.fromkeys(names("new-session new"), "censtxyF"),
    **dict.fromkeys(names("new-window neww"), "censtF"),
    **dict.fromkeys(names("split-window splitw"), "celtF"),
    **dict.fromkeys(names("respawn-window respawnw respawn-pane respawnp"), "cet"),
    **dict.fromkeys(names("run-shell run"), "dtc"),
    **dict.fromkeys(names("pipe-pane pipep"), "t"),
}
"""Commands of tmux that run their operands, and their options with a value."""

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

_NPM = r"package\.json|\.npmrc|\.yarnrc.*|\.pnpmfile\.cjs"
_GIT = (
    r".*\.git/(?:hooks/.*|config|info/attributes)|\.git/.*|\.gitconfig|.*git/config|\.gitattributes"
    r"|\.gitmodules"
)
_PYTHON = r".*\.(?:py|pth|pyc|so)"

IMPLICIT_FILES: dict[str, str] = {
    **dict.fromkeys(names("make gmake bmake"), r"(?:GNU)?[Mm]akefile.*|.*\.ma?k"),
    **dict.fromkeys(names("npm npx yarn pnpm bun bunx"), _NPM),
    **dict.fromkeys(names("node nodejs"), r"index\.[cm]?js|package\.json"),
    **dict.fromkeys(
        names("python pypy ipython pytest tox nox"), _PYTHON + r"|tox\.ini|setup\.cfg|pyproject\.toml"
    ),
    **dict.fromkeys(names("pip pip3 uv poetry"), r"setup\.py|pyproject\.toml|setup\.cfg"),
    "perl": r".*\.p[ml]",
    "ruby": r".*\.rb",
    **dict.fromkeys(names("rake bundle"), r"Rakefile|Gemfile|.*\.rb|.*\.rake"),
    **dict.fromkeys(names("cmake ctest"), r"CMakeLists\.txt|.*\.cmake|CMakePresets\.json|CTestTestfile.*"),
    "cargo": r".*\.rs|Cargo\.toml|.*\.cargo/config(?:\.toml)?",
    "go": r".*\.go|go\.mod",
    "just": r"\.?[jJ]ustfile.*",
    "task": r"[tT]askfile\.ya?ml",
    "ant": r"build\.xml",
    **dict.fromkeys(names("gradle gradlew"), r".*\.gradle(?:\.kts)?"),
    "mvn": r"pom\.xml",
    "git": _GIT,
    **dict.fromkeys(names("ssh scp sftp rsync"), r".*\.ssh/config"),
    **dict.fromkeys(
        names("bash sh zsh dash ksh"), r"\.(?:bash|z|k|mk)?(?:rc|_profile|profile|login|env)|\.zshenv"
    ),
    **dict.fromkeys(names("vim vi ex nvim view vimdiff"), r"\.?(?:g?vimrc|exrc|init\.vim|init\.lua)"),
    "gdb": r"\.gdbinit|.*-gdb\.(?:py|gdb)",
    "tmux": r".*\.?tmux\.conf",
    "screen": r"\.screenrc",
    "psql": r"\.psqlrc",
    "sqlite3": r"\.sqliterc",
    "direnv": r"\.envrc",
    "pre-commit": r"\.pre-commit-config\.yaml",
    "docker-compose": r"(?:docker-)?compose\.ya?ml",
}
"""Files that a program runs without being told: patterns of their names."""

MODULE_SUFFIXES: tuple[str, ...] = names(
    ".py .pm .pl .rb .js .mjs .cjs .lua .tcl .R .r .ts .vim .m4 .awk .sed .mk"
)
"""A file of code may be named without these."""

EXTRACTORS: frozenset[str] = words(
    "tar gtar bsdtar unzip cpio 7z 7za ar patch pax unrar bsdcpio split csplit gunzip gzip bunzip2 bzip2 unxz"
    " xz unzstd zstd uncompress lz4 unlzma uudecode shar unshar"
)
"""Programs that write files whose names are not on the command line."""

COPIERS: frozenset[str] = words("cp mv ln install rsync scp")
