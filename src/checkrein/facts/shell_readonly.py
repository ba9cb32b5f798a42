"""Commands that only read or print, and the options with which they do more.

Any other command needs a rule. `shell_files` says which files a command reads.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.facts.shell_words import names, words


class ReadOnly(Struct, frozen=True, kw_only=True):
    """`unsafe` options write, run or reveal something. `globs`: an unquoted glob can't turn into one.

    `only` are the safe options of a command with others; `values` and `long_values` those with a value.
    An `inert` command only prints or compares its operands. `operands`: how many
    operands are safe, `plus` if only ones that start with `+`, `words` if only plain words.
    """

    only: frozenset[str] | None = None
    values: str = ""
    long_values: tuple[str, ...] = ()

    unsafe: str = ""
    unsafe_long: tuple[str, ...] = ()
    globs: bool = True
    inert: bool = False
    operands: Literal["any", "none", "one", "plus", "words"] = "any"
    options: bool = True
    """Whether options are safe."""
    needs_option: bool = False
    """Without any option it needs a rule, as in the product."""


_PLAIN = ReadOnly()
_INERT = ReadOnly(inert=True)
_NO_WORDS = ReadOnly(operands="none")

READ_ONLY: dict[str, ReadOnly] = {
    **dict.fromkeys(
        names(
            "ls cat head tail grep egrep fgrep diff cmp comm stat df cut tr od nl tac rev fold"
            " paste join expand"
            " unexpand strings hexdump readlink realpath cd pwd id groups nproc uname uptime"
            " free cal tty logname"
            " whoami which type"
        ),
        _PLAIN,
    ),
    **dict.fromkeys(names("echo printf true false : seq sleep test [ basename dirname expr"), _INERT),
    **dict.fromkeys(
        names("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum"),
        ReadOnly(unsafe="c", unsafe_long=names("check")),
    ),
    **dict.fromkeys(names("wc du"), ReadOnly(unsafe_long=names("files0-from"))),
    "arch": ReadOnly(options=False, operands="none"),
    "date": ReadOnly(unsafe="sfr", unsafe_long=names("set file reference"), operands="plus"),
    "sort": ReadOnly(
        unsafe="oT", unsafe_long=names("output compress-program files0-from temporary-directory"), globs=False
    ),
    "find": ReadOnly(globs=False),
    "file": ReadOnly(
        unsafe="mfCzZ", unsafe_long=names("magic-file files-from compile uncompress uncompress-noreport")
    ),
    "base64": ReadOnly(unsafe="o", unsafe_long=names("output")),
    "tree": ReadOnly(unsafe="oR", unsafe_long=names("output")),
    "rg": ReadOnly(unsafe="fz", unsafe_long=names("pre pre-glob hostname-bin file search-zip ignore-file")),
    "jq": ReadOnly(unsafe="fL", unsafe_long=names("from-file rawfile slurpfile argfile library-path")),
    "sed": ReadOnly(globs=False),
    "ps": _PLAIN,
    "man": ReadOnly(options=False, operands="words"),
    "help": ReadOnly(options=False),
    "history": ReadOnly(options=False, operands="none"),
    "hostname": ReadOnly(operands="none", only=words("f s i I d A a y fqdn long short ip-address domain")),
    "uniq": ReadOnly(
        operands="one",
        needs_option=True,
        globs=False,
        values="fsw",
        long_values=names("skip-fields skip-chars check-chars"),
        only=words(
            "c d D i u z f s w count repeated all-repeated ignore-case unique zero-terminated skip-fields"
            " skip-chars check-chars group"
        ),
    ),
    "column": ReadOnly(
        values="soclNnTREWHOCdr",
        long_values=names(
            "separator output-separator output-width table-columns table-name table-right table-truncate"
            " table-wrap table-hide table-order"
        ),
        only=words(
            "t s o c x J L N n T R E W H O e separator table output-separator output-width fillrows json"
            " table-columns table-name table-right table-truncate table-wrap table-hide table-order"
            " table-noheadings table-empty-lines"
        ),
    ),
    "pgrep": ReadOnly(
        values="dFgGPsuUtrO",
        only=words(
            "a c d f g G i l n o P s u U t r v w x list-name list-full full newest oldest exact count"
        ),
    ),
    "lsof": ReadOnly(
        values="icpuagdsT",
        only=words("i n P t l a b c p u g d R s U w T"),
    ),
    "ss": ReadOnly(
        only=words(
            "t u l n p a x w s 4 6 e m o i r H O tcp udp listening numeric processes all unix raw summary"
            " extended memory options info no-header oneline"
        ),
    ),
    "netstat": ReadOnly(
        operands="none",
        only=words("t u l n p a x w s r e o i W 4 6 tcp udp listening numeric programs all route"),
    ),
    **dict.fromkeys(
        names("fd fdfind"),
        ReadOnly(
            values="tedESjc",
            long_values=names("type extension max-depth min-depth exact-depth exclude size color threads"),
            only=words(
                "H I u s i g F a l L p t e d E S j c 0 hidden no-ignore unrestricted case-sensitive"
                " ignore-case"
                " glob fixed-strings absolute-path list-details follow full-path type extension max-depth"
                " min-depth exact-depth exclude size color threads print0 strip-cwd-prefix no-ignore-vcs"
            ),
        ),
    ),
    **dict.fromkeys(
        names("bat batcat"),
        ReadOnly(
            values="lrH",
            long_values=names(
                "language line-range highlight-line style color theme tabs wrap paging decorations"
            ),
            only=words(
                "p pp n A l r H u plain number show-all language line-range highlight-line style"
                " color theme tabs"
                " wrap decorations unbuffered"
            ),
        ),
    ),
    "locale": _NO_WORDS,
}

VERSIONS: frozenset[tuple[str, ...]] = frozenset(
    {
        ("node", "-v"),
        ("node", "--version"),
        ("python", "--version"),
        ("python", "-V"),
        ("python3", "--version"),
        ("python3", "-V"),
        ("git", "--version"),
        ("docker", "--version"),
        ("go", "version"),
        ("rustc", "--version"),
        ("cargo", "--version"),
        ("ruby", "--version"),
        ("java", "-version"),
    }
)
"""Whole commands that only print a version."""

DOCKER: frozenset[str] = words("ps images logs inspect version")
DOCKER_UNSAFE: tuple[str, ...] = names("-H --host --context -c --url --connection --config --tls")

JQ_UNSAFE = r"\benv\b|\$ENV|\binput_filename\b|\bimport\b|\binclude\b|\bgetpath_env\b"
"""In a filter: reads the environment or other files."""

FIND_SAFE: frozenset[str] = words(
    "-name -iname -path -ipath -wholename -type -maxdepth -mindepth -size -mtime -atime -ctime -mmin"
    " -amin -cmin"
    " -newer -anewer -cnewer -empty -regex -iregex -regextype -not -and -or -a -o ! ( ) , -print"
    " -print0 -printf -ls"
    " -prune -quit -perm -user -group -uid -gid -links -inum -samefile -xdev -mount -depth -follow"
    " -H -L -P -true"
    " -false -readable -writable -executable -daystart -noleaf -xtype -fstype -warn -nowarn -nouser -nogroup"
)
"""Words of an expression of find that only look."""

FIND_VALUES: frozenset[str] = words(
    "-name -iname -path -ipath -wholename -type -maxdepth -mindepth -size -mtime -atime -ctime -mmin"
    " -amin -cmin -newer"
    " -anewer -cnewer -regex -iregex -regextype -printf -perm -user -group -uid -gid -links -inum"
    " -samefile -xtype"
    " -fstype -fprint -fprint0 -fprintf -fls"
)
"""Words of an expression of find that a value follows."""

SEARCH_UNHIDDEN: tuple[str, ...] = names("hidden no-ignore unrestricted")
"""Long options of rg that make it search hidden files (`-u`, `-.` are the short ones)."""

HELD_READERS: frozenset[str] = words(
    "awk gawk mawk nawk xxd read mapfile readarray local declare typeset readonly export unset set shopt"
    " shift break continue return exit wait getopts let printf test ["
)
"""More commands that only read where nothing else is left to them: no file to write, no network, no other
program."""

HELD_VERSIONS: frozenset[tuple[str, ...]] = frozenset({("npm", "-v"), ("npm", "--version")})

FIND_STARTS: frozenset[str] = words("-exec -execdir -ok -okdir")

GIT_READERS: frozenset[str] = words(
    "diff log show status blame annotate describe rev-parse rev-list ls-files ls-tree cat-file grep shortlog"
    " merge-base name-rev for-each-ref show-ref diff-tree diff-files diff-index whatchanged count-objects"
)

COMPARERS: frozenset[str] = words("diff cmp comm join paste")
"""Programs that put the lines of files beside each other."""

SELECTORS: frozenset[str] = words("awk gawk mawk")
"""Programs that only read when their code only selects."""
