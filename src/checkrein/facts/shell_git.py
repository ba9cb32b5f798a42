"""Facts about git: options before the subcommand, read-only forms, settings that hold commands."""

from __future__ import annotations

from msgspec import Struct

from checkrein.facts.shell_words import names, words

GLOBAL_VALUES: frozenset[str] = words(
    "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --exec-path --attr-source"
)
"""Options before the subcommand that take a value."""

GLOBAL_HARMLESS: frozenset[str] = words(
    "--no-pager -P --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs"
    " --icase-pathspecs --no-replace-objects --no-lazy-fetch --no-advice"
)
"""Options before the subcommand that do not change what git runs."""

CODE_SETTINGS: tuple[str, ...] = names(
    "core.hookspath init.templatedir include.path includeif. protocol.ext."
)
"""Settings that name a place with code, or with other settings."""

CODE_OPTIONS: tuple[str, ...] = names("--exec-path= --template=")
"""Options that name a place with code."""

COMMAND_SETTINGS: tuple[str, ...] = names(
    "alias. core.pager core.editor core.sshcommand core.fsmonitor core.askpass core.gitproxy"
    " core.alternaterefscommand tar. imap.tunnel guitool. instaweb."
    " sequence.editor diff.external diff. difftool. mergetool. merge. filter. pager. interactive.difffilter"
    " credential. gpg. browser. web.browser man. help.browser uploadpack. remote. submodule."
    " trailer. sendemail. ssh.variant protocol. url."
)
"""Settings (or their prefixes) whose value is, or leads to, a command."""


class Form(Struct, frozen=True):
    """A read-only subcommand. `unsafe` options write or run something; `only` options are the safe ones.

    `operands`: `any`, `none`, or `listing` (only with one of `listers`). `subs` are the safe second words.
    """

    unsafe: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    operands: str = "any"
    listers: frozenset[str] = frozenset()
    subs: frozenset[str] = frozenset()


_DIFF = words(
    "--output --output-directory --ext-diff --textconv --no-index -O --submodule --show-signature"
    " --remerge-diff"
)

UNSAFE_WORDS = r"%G|%\(signature|--ignore-s[\w-]*=(?!all$)|--diff-m[\w-]*=\W*r"
"""Parts of words in a read-only form that check signatures, look into submodules or merge again. All start
programs that the configuration of the repository, or of a submodule, names."""

_LIST = words(
    "-a --all -r --remotes -v -vv --verbose -l --list --show-current --contains --no-contains"
    " --merged --no-merged"
    " --points-at --sort --format --column --no-column --color --no-color --abbrev --no-abbrev -i"
    " --ignore-case"
    " --omit-empty -n -q --quiet"
)

READ_ONLY: dict[str, Form] = {
    "status": Form(),
    "log": Form(_DIFF),
    "diff": Form(_DIFF),
    "show": Form(_DIFF),
    "whatchanged": Form(_DIFF),
    "shortlog": Form(words("--output")),
    "blame": Form(words("--contents --textconv")),
    "annotate": Form(words("--contents --textconv")),
    "grep": Form(words("-O --open-files-in-pager --no-index --ext-grep --textconv -f --recurse-submodules")),
    "rev-parse": Form(words("--parseopt --sq-quote")),
    "rev-list": Form(words("--output --show-signature")),
    "ls-files": Form(words("--recurse-submodules")),
    "ls-tree": Form(),
    "cat-file": Form(words("--textconv --filters --batch-command")),
    "merge-base": Form(),
    "describe": Form(words("--dirty --broken")),
    "name-rev": Form(),
    "for-each-ref": Form(words("--shell --perl --python --tcl")),
    "show-ref": Form(words("--exclude-existing")),
    "show-branch": Form(),
    "diff-tree": Form(_DIFF),
    "diff-index": Form(_DIFF),
    "diff-files": Form(_DIFF),
    "count-objects": Form(),
    "check-ignore": Form(),
    "check-attr": Form(),
    "cherry": Form(),
    "range-diff": Form(_DIFF),
    "version": Form(),
    "branch": Form(
        only=_LIST, operands="listing", listers=words("-l --list --contains --merged --no-merged")
    ),
    "tag": Form(
        only=_LIST,
        operands="listing",
        listers=words("-l --list --contains --no-contains --merged --no-merged --points-at"),
    ),
    "remote": Form(only=words("-v --verbose"), subs=words("get-url"), operands="subs"),
    "stash": Form(subs=words("list show"), operands="subs", unsafe=_DIFF),
    "reflog": Form(subs=words("show exists"), operands="subs"),
    "worktree": Form(subs=words("list"), operands="subs"),
    "notes": Form(subs=words("list show"), operands="subs"),
    "bisect": Form(subs=words("log"), operands="subs"),
    "config": Form(
        only=words(
            "--get --get-all --get-regexp --list -l --show-origin --show-scope --name-only --local"
            " --global --system"
            " --worktree --null -z --type --bool --int --path --default --get-color --get-colorbool"
            " --get-urlmatch"
        ),
        operands="listing",
        listers=words("--get --get-all --get-regexp --list -l --get-color --get-colorbool --get-urlmatch"),
    ),
}

BARE_READ_ONLY: frozenset[str] = words("branch tag remote reflog")
"""Subcommands that only list when nothing follows."""

WRITERS: frozenset[str] = words("rm mv checkout restore clean apply")
"""Subcommands that change files of the working tree; their operands may name the files."""
