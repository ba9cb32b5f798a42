"""Commands that read or write files from their arguments, and which arguments are files."""

from __future__ import annotations

from msgspec import structs

from checkrein.facts.shell_fetch import FETCHES
from checkrein.facts.shell_use import FileUse
from checkrein.facts.shell_words import names, words

_CAT = FileUse(reads="all")
_HEAD = FileUse(reads="all", values="nc", long=names("lines bytes"))
_SUM = FileUse(reads="all")
_GREP = FileUse(
    reads="rest",
    values="emABCdD",
    long=names(
        "regexp max-count context after-context before-context color include exclude exclude-dir label"
        " directories devices binary-files group-separator"
    ),
    read_options=names("f file exclude-from"),
    pattern_options=names("e f regexp file"),
    tree=names("r R recursive dereference-recursive"),
    tree_values=names("d directories"),
    follow_options=names("R dereference-recursive"),
    include_options=names("include"),
    exclude_options=names("exclude exclude-dir"),
)
_RGREP = structs.replace(_GREP, always_tree=True, here=True)
_RG = FileUse(
    reads="rest",
    values="egtTmABCMjrE",
    long=names(
        "regexp glob type type-not max-count context after-context before-context max-columns threads replace"
        " iglob encoding sort sortr color colors max-depth max-filesize type-add path-separator engine"
    ),
    read_options=names("f file ignore-file"),
    pattern_options=names("e f regexp file files type-list"),
    abbreviates=False,
    always_tree=True,
    hidden=False,
    here=True,
    follow_options=names("L follow"),
    glob_options=names("g glob iglob"),
    type_options=names("t type"),
)
_AG = FileUse(
    reads="rest",
    values="ABCGgmpW",
    long=names(
        "after before context file-search-regex ignore ignore-dir depth max-count path-to-ignore pager"
    ),
    read_options=names("p path-to-ignore"),
    always_tree=True,
    hidden=False,
    here=True,
    follow_options=names("f follow"),
    exclude_options=names("ignore ignore-dir"),
)
_CP = FileUse(
    reads="sources",
    writes="last",
    values="S",
    long=names("suffix"),
    tree=names("r R a recursive archive"),
    target_options=names("t target-directory"),
    follow_options=names("L dereference"),
    known_options=words(
        "r R a f i n p u v x L P H T d l s b recursive archive force interactive no-clobber preserve update"
        " verbose one-file-system dereference no-dereference no-target-directory link symbolic-link backup"
        " parents reflink strip-trailing-slashes remove-destination"
    ),
)
_LS = FileUse(reads="all", values="IwT", long=names("ignore hide width block-size"), content=False, here=True)
_EDITOR = FileUse(reads="all", writes="all", values="cSuTtw")
_ZIPPER = FileUse(reads="all", writes="all", values="S")
_COPY_NET = FileUse(
    reads="sources",
    writes="last",
    values="cFiJloPSe",
    long=names("rsh exclude include filter port timeout bwlimit"),
    tree=names("r a recursive archive"),
    follow_options=names("L copy-links"),
    exclude_options=names("exclude"),
    known_options=words(
        "a v r z n q u p t l h i P C 4 6 L archive verbose recursive compress dry-run quiet update"
        " perms times"
        " links human-readable progress stats delete exclude include filter partial inplace checksum"
        " itemize-changes rsh ignore-existing existing"
    ),
)

_TAR = FileUse(
    reads="all",
    values="bNKHVFCI",
    long=names("directory exclude owner group mode mtime strip-components format cd"),
    read_options=names("f file T files-from X exclude-from"),
    write_options=names("g listed-incremental index-file"),
    always_tree=True,
    follow_options=names("h dereference"),
    exclude_options=names("exclude"),
    known_options=words(
        "c x t v z j J Z a p r u O P k m S W h n w A d create extract get list verbose gzip bzip2 xz zstd"
        " auto-compress append update to-stdout dereference exclude strip-components format owner group mode"
        " mtime wildcards no-wildcards absolute-names keep-old-files overwrite sort numeric-owner"
        " no-same-owner same-permissions preserve-permissions exclude-vcs totals remove-files"
    ),
)

_MODES = words("R v f c h L P H recursive verbose quiet silent changes no-dereference") | words(
    "x X w r t s u g o a"
)

FILES: dict[str, FileUse] = {
    **dict.fromkeys(
        names("cat tac rev nl bat batcat more less most zcat gzcat bzcat xzcat zless strings"), _CAT
    ),
    **dict.fromkeys(names("head tail"), _HEAD),
    **dict.fromkeys(
        names("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum md5"), _SUM
    ),
    **dict.fromkeys(names("grep egrep fgrep zgrep zegrep zfgrep pcregrep ggrep"), _GREP),
    **dict.fromkeys(names("rgrep rgrep.bsd ugrep ug"), _RGREP),
    "rg": _RG,
    **dict.fromkeys(names("ag ack"), _AG),
    **dict.fromkeys(names("ls dir vdir exa eza lsd"), _LS),
    **dict.fromkeys(names("vi vim nvim view ex ed nano pico emacs micro joe code subl"), _EDITOR),
    **dict.fromkeys(names("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 compress uncompress"), _ZIPPER),
    **dict.fromkeys(names("scp rsync sftp rclone"), _COPY_NET),
    "wc": FileUse(reads="all", read_options=names("files0-from")),
    "sort": FileUse(
        reads="all",
        values="kStT",
        long=names("key buffer-size field-separator temporary-directory parallel batch-size sort"),
        write_options=names("o output"),
        read_options=names("files0-from random-source"),
    ),
    "uniq": FileUse(
        reads="first", writes="last", values="fsw", long=names("skip-fields skip-chars check-chars")
    ),
    "cut": FileUse(
        reads="all", values="bcdf", long=names("bytes characters delimiter fields output-delimiter")
    ),
    "paste": FileUse(reads="all", values="d", long=names("delimiters")),
    "join": FileUse(reads="all", values="aevjot12"),
    "comm": FileUse(reads="all", long=names("output-delimiter")),
    "cmp": FileUse(reads="all", values="in", long=names("ignore-initial bytes")),
    "diff": FileUse(
        reads="all",
        values="CUWIFxX",
        long=names("context unified width label exclude ignore-matching-lines"),
        read_options=names("from-file to-file exclude-from"),
        tree=names("r recursive"),
        follows=True,
        exclude_options=names("x exclude"),
    ),
    "sdiff": FileUse(reads="all", write_options=names("o output")),
    "colordiff": FileUse(reads="all"),
    "fold": FileUse(reads="all", values="w"),
    "fmt": FileUse(reads="all", values="wgp"),
    "pr": FileUse(reads="all", values="hlow"),
    "column": FileUse(reads="all", values="soclNnTREWHO"),
    "expand": FileUse(reads="all", values="t"),
    "unexpand": FileUse(reads="all", values="t"),
    "od": FileUse(reads="all", values="AjNtSw"),
    "xxd": FileUse(reads="first", writes="last", values="clgos"),
    "hexdump": FileUse(reads="all", values="nse", read_options=names("f")),
    "hd": FileUse(reads="all", values="ns"),
    "base64": FileUse(reads="all", values="w", long=names("wrap"), write_options=names("o output")),
    "base32": FileUse(reads="all", values="w", long=names("wrap")),
    "jq": FileUse(
        reads="rest",
        long=names("indent"),
        read_options=names("f from-file L"),
        pair_options=names("slurpfile rawfile argfile"),
    ),
    "yq": FileUse(reads="rest", in_place=names("i inplace")),
    "sed": FileUse(reads="rest", in_place=names("i in-place")),
    "awk": FileUse(reads="rest", values="Fv", read_options=names("f file"), pattern_options=names("f file")),
    "gawk": FileUse(
        reads="rest", values="Fvie", read_options=names("f file"), pattern_options=names("f file e")
    ),
    "mawk": FileUse(reads="rest", values="Fv", read_options=names("f"), pattern_options=names("f")),
    "perl": FileUse(reads="all", values="eEIMmx0l", in_place=names("i")),
    "ruby": FileUse(reads="all", values="eIrCFT", in_place=names("i")),
    "file": FileUse(reads="all", values="Pe", content=False, read_options=names("f m files-from magic-file")),
    "stat": FileUse(reads="all", values="cf", long=names("format printf"), content=False),
    "readlink": FileUse(reads="all", content=False),
    "realpath": FileUse(reads="all", long=names("relative-to relative-base"), content=False),
    "du": FileUse(
        reads="all",
        values="dBtX",
        long=names("max-depth block-size threshold exclude"),
        content=False,
        here=True,
        read_options=names("files0-from"),
    ),
    "tree": FileUse(
        reads="all",
        values="LPIH",
        long=names("filelimit charset sort"),
        content=False,
        here=True,
        write_options=names("o"),
    ),
    "find": FileUse(reads="all", content=False, here=True),
    "fd": FileUse(reads="rest", values="tedEScjm", content=False, here=True),
    "locate": FileUse(),
    **dict.fromkeys(names("tar gtar bsdtar"), _TAR),
    "zip": FileUse(
        reads="rest",
        writes="first",
        values="nPtbix",
        tree=names("r recurse-paths R"),
        follows=True,
        write_options=names("O output-file lf logfile-path"),
        known_options=words("r q j u f g v y X D 0 1 2 3 4 5 6 7 8 9 recurse-paths quiet"),
    ),
    "unzip": FileUse(
        reads="first",
        values="Px",
        target_options=names("d"),
        known_options=words("o n q j l t v p a u f C L V X Z"),
    ),
    "7z": FileUse(reads="rest", always_tree=True, write_options=names("o")),
    **dict.fromkeys(names("jar mksquashfs"), FileUse(reads="all", always_tree=True, follows=True)),
    "cpio": FileUse(
        write_options=names("O D"), read_options=names("I F"), here=True, always_tree=True, reads="all"
    ),
    "dd": FileUse(keyed=True),
    "tee": FileUse(writes="all", known_options=words("a i p append ignore-interrupts")),
    "sponge": FileUse(writes="all"),
    "touch": FileUse(
        writes="all",
        values="dt",
        long=names("date time"),
        read_options=names("r reference"),
        known_options=words("a c m h f no-create no-dereference"),
    ),
    "mkdir": FileUse(
        writes="all", values="m", long=names("mode"), known_options=words("p v Z parents verbose")
    ),
    "mkfifo": FileUse(writes="all", values="m"),
    "mknod": FileUse(writes="first", values="m"),
    "fallocate": FileUse(writes="all", values="lo"),
    "link": FileUse(reads="sources", writes="last"),
    **dict.fromkeys(names("mount umount losetup mkfs"), FileUse(reads="all", writes="all", values="to")),
    "mktemp": FileUse(
        writes="all", write_options=names("p tmpdir"), long=names("suffix"), known_options=words("d u q t")
    ),
    "rmdir": FileUse(writes="all", known_options=words("p v parents verbose ignore-fail-on-non-empty")),
    "rm": FileUse(
        writes="all",
        tree=names("r R recursive"),
        known_options=words("r R f i I v d recursive force interactive verbose dir one-file-system"),
    ),
    "unlink": FileUse(writes="all"),
    "shred": FileUse(writes="all", values="ns"),
    "truncate": FileUse(writes="all", values="s", long=names("size"), read_options=names("r reference")),
    "chmod": FileUse(
        writes="rest", read_options=names("reference"), tree=names("R recursive"), known_options=_MODES
    ),
    "chown": FileUse(
        writes="rest",
        long=names("from"),
        read_options=names("reference"),
        tree=names("R recursive"),
        known_options=_MODES,
    ),
    "chgrp": FileUse(
        writes="rest", read_options=names("reference"), tree=names("R recursive"), known_options=_MODES
    ),
    "chattr": FileUse(writes="rest", tree=names("R"), known_options=_MODES),
    "setfacl": FileUse(writes="all", values="mxMX"),
    "cp": _CP,
    "mv": FileUse(
        reads="sources",
        writes="all",
        values="S",
        long=names("suffix"),
        target_options=names("t target-directory"),
        always_tree=True,
        known_options=words("f i n u v T b force interactive no-clobber update verbose no-target-directory"),
    ),
    "ln": FileUse(
        reads="sources",
        writes="last",
        values="S",
        long=names("suffix"),
        target_options=names("t target-directory"),
        known_options=words(
            "s f n v r T L P i b symbolic force no-dereference verbose relative no-target-directory logical"
            " physical interactive"
        ),
    ),
    "install": FileUse(
        reads="sources",
        writes="last",
        values="gmoS",
        long=names("group mode owner"),
        in_place=names("d directory"),
        target_options=names("t target-directory"),
        known_options=words("D d v p c s C directory verbose preserve-timestamps"),
    ),
    "rename": FileUse(writes="rest"),
    "patch": FileUse(
        writes="first",
        values="pFg",
        long=names("strip fuzz"),
        read_options=names("i input"),
        write_options=names("o r d B Y z output reject-file directory prefix basename-prefix"),
        known_options=words(
            "s N R f t l b E u c n p quiet silent forward reverse force dry-run strip binary"
        ),
    ),
    "split": FileUse(
        reads="first",
        writes="last",
        values="abCln",
        here_options=names("l b C n"),
        known_options=words("d x e u numeric-suffixes hex-suffixes"),
    ),
    "csplit": FileUse(
        reads="first", values="bn", write_options=names("f prefix"), known_options=words("s k z q")
    ),
    **FETCHES,
    "sqlite3": FileUse(reads="first"),
    "gpg": FileUse(reads="all", values="ru", write_options=names("o output")),
    "source": FileUse(reads="first"),
    ".": FileUse(reads="first"),
    "cd": FileUse(reads="first", content=False),
    "pushd": FileUse(reads="first", content=False),
    "pandoc": FileUse(reads="all", values="fVMt", write_options=names("o output")),
    "iconv": FileUse(reads="all", values="ft", write_options=names("o output")),
    "open": FileUse(reads="all", values="a"),
    "xdg-open": FileUse(reads="all"),
    "pbcopy": FileUse(),
    "envsubst": FileUse(),
    "look": FileUse(reads="rest"),
    "tsort": FileUse(reads="all"),
    "ptx": FileUse(reads="all"),
    "shuf": FileUse(
        reads="all",
        values="nir",
        write_options=names("o output"),
        known_options=words("e z r n i echo repeat head-count input-range zero-terminated"),
    ),
    "dos2unix": FileUse(reads="all", writes="all"),
    "unix2dos": FileUse(reads="all", writes="all"),
    "readelf": FileUse(reads="all"),
    "objdump": FileUse(reads="all"),
    "nm": FileUse(reads="all"),
    "size": FileUse(reads="all"),
    "ssh-keygen": FileUse(read_options=names("f"), write_options=names("f")),
    "ssh-add": FileUse(reads="all"),
    "python": FileUse(reads="first", program=True, values="cmWX"),
    "python3": FileUse(reads="first", program=True, values="cmWX"),
    "node": FileUse(reads="first", program=True, values="eprC"),
    "bash": FileUse(reads="first", program=True, values="coO", read_options=names("rcfile init-file")),
    "sh": FileUse(reads="first", program=True, values="co"),
    "zsh": FileUse(reads="first", program=True, values="co"),
    "dash": FileUse(reads="first", program=True, values="co"),
}

EDIT_COMMANDS: frozenset[str] = words("mkdir touch rm rmdir mv cp sed")
"""Commands that acceptEdits allows on paths in the working directories."""

REMOVERS: frozenset[str] = words("rm rmdir unlink shred")
RECURSIVE: tuple[str, ...] = names("r R recursive")

AT_FILE_OPTIONS: tuple[str, ...] = names("d data data-binary data-ascii data-urlencode F form json H header")
"""Values of these name a file only after an `@`."""
