"""System calls that write files or change what a path means, by machine."""

from __future__ import annotations

NUMBERS: dict[str, dict[str, int]] = {
    "x86_64": {
        "open": 2,
        "creat": 85,
        "openat": 257,
        "openat2": 437,
        "truncate": 76,
        "rename": 82,
        "renameat": 264,
        "renameat2": 316,
        "unlink": 87,
        "unlinkat": 263,
        "rmdir": 84,
        "link": 86,
        "linkat": 265,
        "symlink": 88,
        "symlinkat": 266,
        "mkdir": 83,
        "mkdirat": 258,
        "mknod": 133,
        "bind": 49,
        "mknodat": 259,
        "chmod": 90,
        "fchmod": 91,
        "fchmodat": 268,
        "fchmodat2": 452,
        "chown": 92,
        "fchown": 93,
        "lchown": 94,
        "fchownat": 260,
        "setxattr": 188,
        "lsetxattr": 189,
        "fsetxattr": 190,
        "removexattr": 197,
        "lremovexattr": 198,
        "fremovexattr": 199,
        "mount": 165,
        "umount2": 166,
        "pivot_root": 155,
        "chroot": 161,
        "setns": 308,
        "open_by_handle_at": 304,
        "open_tree": 428,
        "move_mount": 429,
        "fsopen": 430,
        "fsmount": 432,
        "fspick": 433,
        "mount_setattr": 442,
        "setxattrat": 463,
        "removexattrat": 466,
        "open_tree_attr": 467,
        "file_setattr": 469,
    },
    "aarch64": {
        "openat": 56,
        "openat2": 437,
        "truncate": 45,
        "renameat": 38,
        "renameat2": 276,
        "unlinkat": 35,
        "linkat": 37,
        "symlinkat": 36,
        "mkdirat": 34,
        "mknodat": 33,
        "bind": 200,
        "fchmod": 52,
        "fchmodat": 53,
        "fchmodat2": 452,
        "fchown": 55,
        "fchownat": 54,
        "setxattr": 5,
        "lsetxattr": 6,
        "fsetxattr": 7,
        "removexattr": 14,
        "lremovexattr": 15,
        "fremovexattr": 16,
        "mount": 40,
        "umount2": 39,
        "pivot_root": 41,
        "chroot": 51,
        "setns": 268,
        "open_by_handle_at": 265,
        "open_tree": 428,
        "move_mount": 429,
        "fsopen": 430,
        "fsmount": 432,
        "fspick": 433,
        "mount_setattr": 442,
        "setxattrat": 463,
        "removexattrat": 466,
        "open_tree_attr": 467,
        "file_setattr": 469,
    },
}

OPENS = {"open": 1, "openat": 2}
"""Calls that are notified only when their flags ask for more than reading, with the place of the flags."""
WRITE_FLAGS = 0x3 | 0o100 | 0o1000 | 0o20000000
"""For writing, to create, to cut, without a name."""
PATHS = (
    *("creat", "openat2", "truncate"),
    *("rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir"),
    *("link", "linkat", "symlink", "symlinkat", "mkdir", "mkdirat", "mknod", "mknodat", "bind"),
)
NAMES = ("rename", "renameat", "renameat2", "link", "linkat")
"""The part of them that gives a file another name."""
ATTRIBUTES = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat"),
    *("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"),
)
REMOUNTS = (
    *("mount", "umount2", "pivot_root", "chroot", "setns", "open_by_handle_at"),
    *("open_tree", "move_mount", "fsopen", "fsmount", "fspick", "mount_setattr", "open_tree_attr"),
)
"""With them a file gets another path. They are refused where paths are judged; `chroot` may stay where only
names are."""
NEW = ("setxattrat", "removexattrat", "file_setattr")
"""Calls that programs can do without: for them the kernel is older than it is."""
