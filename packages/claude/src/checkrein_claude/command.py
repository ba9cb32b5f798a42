"""From the words of `claude` to those of `checkrein`."""

import sys

_SHARED = ("mcp", "doctor")
"""Commands that both have. Every other first word is a prompt."""


def main() -> int:
    from checkrein.__main__ import main as checkrein

    return checkrein(words(sys.argv[1:]))


def words(argv: list[str]) -> list[str]:
    """The command line of `checkrein` that means the same."""
    if argv == ["--version"]:
        return ["-v"]
    if argv and argv[0] not in _SHARED and (argv[0] in ("-h", "--help") or not argv[0].startswith("-")):
        return ["run", *argv]
    return argv
