"""What programs do with files and hosts besides what the table of their arguments says."""

from __future__ import annotations

from checkrein.facts.shell_words import names, words

FORMATTERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(names("black isort rustfmt stylua swiftformat ktlint"), ()),
    **dict.fromkeys(names("prettier gofmt goimports shfmt"), names("-w --write")),
    **dict.fromkeys(
        names("eslint biome stylelint rubocop ruff standard"), names("--fix --fix-only --write -a -A")
    ),
    **dict.fromkeys(names("clang-format autopep8 yapf sed perl"), names("-i --in-place --inplace")),
    "gawk": names("inplace -iinplace"),
}
"""Programs that change the files in their arguments: always, or with one of these words."""

FORMATTERS_ALWAYS: frozenset[str] = words(
    "ruff@format cargo@fmt biome@format docker@cp podman@cp kubectl@cp aws@cp"
)
"""`program@word`: with this word they change the files in their arguments."""

CREATORS: frozenset[str] = words(
    "git@clone git@init git@worktree git@submodule git@bundle cargo@new cargo@init gsutil@cp script logsave"
    " flock"
    " sqlite3 history"
)
"""Programs, or their subcommands, whose operands may be files that they write."""

OUTPUTS = (
    r"--?(?:o|d|O|r|w|[\w-]*(?:out|dir|file|path|report|xml|temp|cache|dest|target|log|save|record|baseline|junit"
    r"|prefix|directory|work-tree)[\w-]*)"
)
"""Options whose value may be a file that the program writes."""

LINKERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(names("ln link mv gln"), ()),
    "cp": names("l s link symbolic-link"),
    "rsync": names("link-dest"),
}
"""Programs that give a file another name: always, or with one of these options."""

PATCHERS: frozenset[str] = words("patch gpatch")
"""Without an operand they write the files that the patch names."""

UNPACKERS: dict[str, tuple[str, ...]] = {
    "unzip": names("l p t v Z"),
    "cpio": names("o t create list"),
    **dict.fromkeys(names("7z 7za unrar unar bsdcpio pax"), ()),
}
"""They write the files that an archive names, unless they have one of these options."""

SAFE_TYPES: frozenset[str] = words(
    "ts js py python rust go java c cpp h css html md markdown json ruby php swift kotlin scala sql yaml toml"
    " typescript vue svelte csharp cs lua perl elixir haskell zig dart"
)
"""Types of rg that name no hidden file."""

HIDDEN_GLOBS = r"(?:.*/)?[.{\[]|\*\*?$|\*[^.]*$"
"""Globs of rg that may choose a hidden file."""

CHECKERS: frozenset[str] = words(
    "pytest py.test unittest mypy flake8 pylint pyright pyflakes bandit jest vitest mocha ava eslint tsc"
    " stylelint shellcheck hadolint yamllint markdownlint rubocop rspec phpstan phpunit golangci-lint"
    " staticcheck cloc tokei scc"
)
"""Programs that read or run the files they name, and write them only with options in the other tables."""

FILELESS: frozenset[str] = words(
    "kill killall wait jobs bg fg disown umask ulimit times return exit break continue shift"
    " unset shopt getopts clear nproc uptime"
)
"""None of their words is a file that they open."""

FETCHERS: frozenset[str] = words("curl wget http https xh aria2c lynx w3m links elinks axel httpie")
"""Their operands and `--url` are addresses; WebFetch deny and ask rules judge them."""

CONNECTORS: frozenset[str] = words(
    "ssh scp sftp rsync nc ncat netcat telnet socat openssl git npm pnpm yarn pip pip3 uv cargo go"
    " docker podman"
    " kubectl ftp lftp tnftp whois dig host nslookup ping logger mosh websocat grpcurl mysql psql redis-cli"
    " mongosh mongo tftp ftpget ftpput hping3 nmap gh glab aws gcloud az rclone svn hg"
)
"""Programs that connect to a host that one of their words names."""

CHDIRS: dict[str, tuple[str, tuple[str, ...]]] = {
    "env": ("C", names("chdir")),
    "genv": ("C", names("chdir")),
    "sudo": ("D", names("chdir")),
    "run0": ("D", names("chdir")),
    **dict.fromkeys(names("unshare nsenter"), ("", names("wd wdns"))),
    "start-stop-daemon": ("d", names("chdir")),
    "systemd-run": ("", names("working-directory")),
    "bwrap": ("", names("chdir")),
    "proot": ("w", names("pwd cwd")),
    "daemonize": ("c", ()),
    "parallel": ("", names("workdir wd")),
    "make": ("C", names("directory")),
    "gmake": ("C", names("directory")),
    "cmake": ("", names("chdir")),
    **dict.fromkeys(names("npm pnpm"), ("C", names("prefix dir"))),
    "yarn": ("", names("cwd")),
    **dict.fromkeys(names("uv poetry"), ("C", names("directory project"))),
    **dict.fromkeys(names("cargo go meson ninja"), ("C", ())),
    "just": ("d", names("working-directory")),
    "tmux": ("c", ()),
    "setpriv": ("", ()),
}
"""Options (short, long) of programs that run a command in another directory."""

SENDERS: frozenset[str] = words(
    "cmake@copy_directory cmake@tar cmake@rename cmake@create_symlink python@tarfile python@zipfile"
    " python@zipapp busybox@tar busybox@cp busybox@grep chroot bwrap proot systemd-nspawn mount mkisofs"
    " genisoimage xorriso shar pax dar restic borg rdiff-backup unison"
)
"""Programs, or their words, that read everything below the directories they name."""
