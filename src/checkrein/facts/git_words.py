"""Words of git: its subcommands, and settings that start nothing."""

from __future__ import annotations

from checkrein.facts.shell_words import names, words

SUBCOMMANDS: frozenset[str] = words(
    "add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap"
    " check-ref-format checkout checkout-index cherry cherry-pick clean clone commit commit-graph commit-tree"
    " config count-objects describe diff diff-files diff-index diff-tree difftool fast-export"
    " fast-import fetch"
    " filter-branch for-each-ref format-patch fsck gc get-tar-commit-id grep hash-object help index-pack init"
    " interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo mailsplit merge merge-base merge-file"
    " merge-tree mktag mktree multi-pack-index mv name-rev notes pack-objects pack-refs patch-id prune"
    " prune-packed pull push range-diff read-tree rebase reflog remote repack replace request-pull"
    " rerere reset"
    " restore rev-list rev-parse revert rm send-email shortlog show show-branch show-index show-ref"
    " sparse-checkout stage stash status stripspace submodule subtree switch symbolic-ref tag unpack-file"
    " unpack-objects update-index update-ref update-server-info var verify-commit verify-pack"
    " verify-tag version"
    " whatchanged worktree write-tree"
)
"""Subcommands of git itself. Any other word is an alias, or a program that starts with `git-`."""

HARMLESS_SETTINGS: tuple[str, ...] = names(
    "user. author. committer. color. core.quotepath core.autocrlf core.eol core.abbrev core.filemode"
    " core.ignorecase core.longpaths core.safecrlf core.whitespace core.precomposeunicode core.compression"
    " core.bigfilethreshold core.symlinks core.commentchar core.logallrefupdates core.bare"
    " core.repositoryformatversion core.untrackedcache core.preloadindex commit. advice."
    " init.defaultbranch push. pull. fetch. rebase. log. status. branch. tag. http. column. format. grep. gc."
    " index. i18n. safe. pack. transfer. receive. rerere. stash. versionsort. worktree. apply. am."
    " blame. clean."
    " clone. feature. lfs. checkout. extensions. help.autocorrect showbranch. notes."
)
"""Settings (or their prefixes) that start nothing."""

CONFIG_VALUES: frozenset[str] = words("-f --file --blob --type -t --default --value --comment --url")
"""Options of `git config` that take a value."""

CONFIG_READS: frozenset[str] = words(
    "get list --get --get-all --get-regexp --get-urlmatch --list -l --get-color --get-colorbool"
)
CONFIG_VERBS: frozenset[str] = words("set get list unset edit rename-section remove-section get-all add")
