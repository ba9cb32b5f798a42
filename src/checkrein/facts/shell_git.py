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


class Form(Struct, frozen=True, kw_only=True):
    """A read-only subcommand: the options with which it only reads. An abbreviated option is not one of them.

    `values` are those of the options that take a value; `after` only those whose value follows as a word.
    `operands`: `any`, `none`, or `listing` (only with one of `listers`). `subs` are the safe second words.
    """

    options: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    operands: str = "any"
    listers: frozenset[str] = frozenset()
    subs: frozenset[str] = frozenset()


UNSAFE_WORDS = r"%G|%\(signature|--ignore-s[\w-]*=(?!all$)|--diff-m[\w-]*=\W*r"
"""Parts of words in a read-only form that check signatures, look into submodules or merge again. All start
programs that the configuration of the repository, or of a submodule, names."""

_DIFF = words(
    "-p -u --patch -s --no-patch --raw --patch-with-raw --minimal --patience --histogram --stat"
    " --compact-summary --numstat --shortstat --dirstat --cumulative --summary --patch-with-stat -z"
    " --name-only"
    " --name-status --color --no-color --color-moved --no-color-moved --word-diff --color-words --no-renames"
    " --rename-empty --no-rename-empty --check --full-index --binary --abbrev --no-abbrev -B --break-rewrites"
    " -M --find-renames -C --find-copies --find-copies-harder -D --irreversible-delete --pickaxe-all"
    " --pickaxe-regex -R --relative --no-relative -a --text --ignore-cr-at-eol --ignore-space-at-eol -b"
    " --ignore-space-change -w --ignore-all-space --ignore-blank-lines -W --function-context --exit-code"
    " --quiet -q --no-ext-diff --no-textconv --ignore-submodules --no-prefix --default-prefix"
    " --ita-invisible-in-index -1 -2 -3 -0 --base --ours --theirs --cached --staged --merge-base -c --cc"
    " --combined-all-paths -t -m -r --root --indent-heuristic --no-indent-heuristic --first-parent"
    " --no-commit-id --always --no-diff-merges"
)
_DIFF_VALUES = words(
    "--color-moved-ws --word-diff-regex --ws-error-highlight -l --diff-filter -S -G --find-object"
    " -I --ignore-matching-lines --inter-hunk-context --src-prefix --dst-prefix --line-prefix --unified -U"
    " --diff-algorithm --anchored --diff-merges"
)
_LOG = _DIFF | words(
    "--oneline --graph --no-graph --decorate --no-decorate --source --use-mailmap --mailmap --no-mailmap"
    " --full-diff --log-size --all-match --invert-grep -i --regexp-ignore-case --basic-regexp -E"
    " --extended-regexp -F --fixed-strings -P --perl-regexp --merges --no-merges --no-min-parents"
    " --no-max-parents --exclude-first-parent-only --not --all --branches --tags --remotes --reflog"
    " --single-worktree --ignore-missing --bisect --cherry-mark --cherry-pick --left-only --right-only"
    " --cherry -g --walk-reflogs --merge --boundary --simplify-by-decoration --show-pulls --full-history"
    " --dense --sparse --simplify-merges --ancestry-path --date-order --author-date-order --topo-order"
    " --reverse --no-walk --do-walk --pretty --abbrev-commit --no-abbrev-commit --expand-tabs"
    " --no-expand-tabs --notes --no-notes --show-notes --relative-date --parents --children --left-right"
    " --follow --count --objects --timestamp --header -v --clear-decorations"
)
_LOG_VALUES = _DIFF_VALUES | words(
    "--decorate-refs --decorate-refs-exclude -L -n --max-count --skip --since --after --until --before"
    " --author --committer --grep --grep-reflog --min-parents --max-parents --glob --exclude --encoding"
    " --date --format"
)
_LOG_FORM = Form(options=_LOG, values=_LOG_VALUES)
_DIFF_FORM = Form(options=_DIFF, values=_DIFF_VALUES)

_LIST = words(
    "-a --all -r --remotes -v -vv --verbose -l --list --show-current --column --no-column --color --no-color"
    " --no-abbrev -i --ignore-case --omit-empty -q --quiet --merged --no-merged --contains --no-contains"
    " --points-at --sort --format --abbrev -n"
)
_LISTED = words("--contains --no-contains --points-at --sort --format --abbrev")
_BLAME = Form(
    options=words(
        "-b --root --show-stats -l -t -p --porcelain --line-porcelain --incremental -M -C -f -n -s -e -w"
        " --show-number --show-name --show-email --progress --no-progress --color-lines --color-by-age"
        " --minimal --first-parent --reverse"
    ),
    values=words("-L --encoding --date --abbrev --since"),
)

READ_ONLY: dict[str, Form] = {
    "status": Form(
        options=words(
            "-s --short -b --branch --show-stash --porcelain --long -v --verbose -u --untracked-files"
            " --ignored -z --column --no-column --ahead-behind --no-ahead-behind --renames --no-renames"
            " --find-renames --ignore-submodules -uno -uall -unormal -sb -bs -vv"
        )
    ),
    **dict.fromkeys(names("log show whatchanged rev-list"), _LOG_FORM),
    **dict.fromkeys(names("diff diff-tree diff-index diff-files"), _DIFF_FORM),
    "range-diff": Form(
        options=_DIFF | words("--left-only --right-only --no-dual-color"),
        values=_DIFF_VALUES | words("--creation-factor"),
    ),
    "shortlog": Form(
        options=_LOG | words("-n -s -e -w -c --numbered --summary --email --committer"),
        values=(_LOG_VALUES - words("-n --committer")) | words("--group"),
    ),
    "blame": _BLAME,
    "annotate": _BLAME,
    "grep": Form(
        options=words(
            "-i -n -l -L -c -w -v -h -H -E -F -P -G -o -q -p -W -z -I -a -r --all-match --and --or"
            " --not --count"
            " --name-only --files-with-matches --files-without-match --line-number --column --break --heading"
            " --show-function --function-context --color --no-color --cached --exclude-standard"
            " --no-exclude-standard --text --ignore-case --word-regexp --invert-match --full-name"
            " --extended-regexp --basic-regexp --fixed-strings --perl-regexp --untracked --quiet"
            " --only-matching --null --recursive --no-recursive"
        ),
        values=words(
            "-e -A -B -C -m --max-depth --threads --max-count --context --after-context --before-context"
        ),
    ),
    "rev-parse": Form(
        options=words(
            "--verify -q --quiet --short --abbrev-ref --symbolic --symbolic-full-name --show-toplevel"
            " --show-prefix --show-cdup --git-dir --git-common-dir --absolute-git-dir --is-inside-work-tree"
            " --is-inside-git-dir --is-bare-repository --is-shallow-repository"
            " --show-superproject-working-tree --all --branches --tags --remotes --revs-only"
            " --no-revs --flags"
            " --no-flags --git-path --show-object-format --shared-index-path --local-env-vars --not"
        ),
        values=words("--default --since --until --path-format"),
    ),
    "ls-files": Form(
        options=words(
            "-c -d -m -o -i -s -u -k -t -v -f -z --cached --deleted --modified --others --ignored --stage"
            " --unmerged --killed --directory --no-empty-directory --eol --exclude-standard --error-unmatch"
            " --full-name --abbrev --debug --deduplicate --sparse"
        ),
        values=words("-x --exclude --format --with-tree"),
    ),
    "ls-tree": Form(
        options=words(
            "-d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree --abbrev"
        ),
        values=words("--format"),
    ),
    "cat-file": Form(
        options=words("-t -s -e -p --batch --batch-check --batch-all-objects --unordered --buffer")
    ),
    "merge-base": Form(options=words("-a --all --octopus --independent --is-ancestor --fork-point")),
    "describe": Form(
        options=words("--all --tags --contains --exact-match --debug --long --always --first-parent"),
        values=words("--abbrev --candidates --match --exclude"),
    ),
    "name-rev": Form(
        options=words("--tags --all --name-only --no-undefined --always"), values=words("--refs --exclude")
    ),
    "for-each-ref": Form(
        options=words("--color --merged --no-merged --contains --no-contains --ignore-case --omit-empty"),
        values=words("--count --sort --format --points-at"),
    ),
    "show-ref": Form(
        options=words(
            "--head --heads --tags --branches -d --dereference -s --hash --verify --abbrev -q --quiet"
        )
    ),
    "show-branch": Form(
        options=words(
            "-r -a --remotes --all --current --topo-order --date-order --sparse --list --merge-base"
            " --independent --no-name --sha1-name --topics --reflog -g --color --no-color"
        ),
        values=words("--more"),
    ),
    "count-objects": Form(options=words("-v -H --verbose --human-readable")),
    "check-ignore": Form(options=words("-q -v -n -z --quiet --verbose --non-matching --no-index")),
    "check-attr": Form(options=words("-a --all --cached -z")),
    "cherry": Form(options=words("-v --verbose --abbrev")),
    "version": Form(options=words("--build-options"), operands="none"),
    "branch": Form(
        options=_LIST,
        values=_LISTED,
        operands="listing",
        listers=words("-l --list --contains --merged --no-merged"),
    ),
    "tag": Form(
        options=_LIST,
        values=_LISTED,
        operands="listing",
        listers=words("-l --list --contains --no-contains --merged --no-merged --points-at"),
    ),
    "remote": Form(options=words("-v --verbose"), subs=words("get-url"), operands="subs"),
    "stash": Form(options=_LOG, values=_LOG_VALUES, subs=words("list show"), operands="subs"),
    "reflog": Form(options=_LOG, values=_LOG_VALUES, subs=words("show exists"), operands="subs"),
    "worktree": Form(options=words("--porcelain -v -z"), subs=words("list"), operands="subs"),
    "notes": Form(subs=words("list show"), operands="subs"),
    "bisect": Form(subs=words("log"), operands="subs"),
    "config": Form(
        options=words(
            "--get --get-all --get-regexp --list -l --show-origin --show-scope --name-only --local"
            " --global --system --worktree --null -z --bool --int --path --get-color --get-colorbool"
            " --get-urlmatch --includes --no-includes"
        ),
        values=words("--type --default"),
        operands="listing",
        listers=words("--get --get-all --get-regexp --list -l --get-color --get-colorbool --get-urlmatch"),
    ),
}

BARE_READ_ONLY: frozenset[str] = words("branch tag remote reflog")
"""Subcommands that only list when nothing follows."""

OWN_WORK: frozenset[str] = words(
    "add am apply cherry-pick clean commit diff log merge mv reset restore revert rm show status"
    " update-index write-tree read-tree checkout-index hash-object"
)
"""Subcommands that change only the checkout and the branch that they run in, whatever their words."""

TREE_WRITERS: frozenset[str] = words(
    "checkout restore reset am apply clean rm mv read-tree checkout-index worktree sparse-checkout"
    " filter-branch"
    " filter-repo"
)
"""Subcommands that change files of the working tree as their words, a patch or an index say.

To go to another revision (`switch`, `merge`, `pull`) changes files too; that is not a way to edit one.
"""

PATH_WRITERS: frozenset[str] = words("rm mv restore")
"""Subcommands whose operands are the files they change."""

INDEX_ONLY: dict[str, frozenset[str]] = {
    "worktree": words("list lock unlock prune remove move repair"),
    "sparse-checkout": words("list"),
}
"""Second words with which these leave the files of the working tree alone."""

MESSAGES: frozenset[str] = words(
    "-m --message -am -qm -qam --author --date --trailer --cleanup -S --gpg-sign"
)
"""Options whose value is a text, not a file."""

MESSAGE_USERS: frozenset[str] = words("commit tag merge notes stash revert cherry-pick rebase am pull")

CONTENT: frozenset[str] = words(
    "grep show log diff whatchanged archive cat-file fast-export bundle format-patch stash diff-tree"
    " diff-index"
    " diff-files range-diff annotate blame send-email request-pull difftool add commit hash-object"
    " update-index fast-import clone worktree checkout-index reflog merge-tree"
)
"""Subcommands that show, or store, the content of files of the whole repository."""

SUMMARIES: frozenset[str] = words(
    "--stat --shortstat --numstat --name-only --name-status -s --no-patch --summary --dirstat"
    " --compact-summary --raw --quiet"
)
"""With these a difference shows names only."""

PATCHES: frozenset[str] = words("-p -u --patch --patch-with-stat --patch-with-raw -c --cc -m -L -G -S -W -U")
"""With these a log shows content."""

OTHER_PLACES: frozenset[str] = words(
    "--git-dir --work-tree --exec-path --config-env --namespace --attr-source"
)

REDIRECTIONS: frozenset[str] = words(
    "GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_NAMESPACE"
    " GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_CEILING_DIRECTORIES GIT_DISCOVERY_ACROSS_FILESYSTEM"
)
"""Variables that give git another repository, checkout, index or store."""

NAMES_ONLY: frozenset[str] = (
    frozenset(READ_ONLY)
    | TREE_WRITERS
    | words(
        "add commit push fetch gc fsck prune repack pack-refs ls-remote merge-tree patch-id update-ref"
        " symbolic-ref update-index write-tree commit-tree hash-object rerere maintenance replace"
        " verify-commit"
        " verify-tag cat-file difftool"
    )
)
"""Subcommands whose operands are revisions, names, or files that they do not write."""
