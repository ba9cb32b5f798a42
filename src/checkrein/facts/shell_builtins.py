"""Commands that bash runs itself: nothing starts, so no layer below the shell sees them."""

from __future__ import annotations

from checkrein.facts.shell_words import words

BUILTINS: frozenset[str] = words(
    ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs"
    " disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local"
    " logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test"
    " times trap true type typeset ulimit umask unalias unset wait"
)
