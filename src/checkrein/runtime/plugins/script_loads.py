"""Which files of a plugin its scripts may run: those whose names stand in a script that runs other code."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"[\w.@+~-]+")
_INTERPRETERS = re.compile(
    r"\.|source|(?:ba|z|da|k|fi)?sh|python[\d.]*|node|deno|bun|perl|ruby|php|lua|awk|gawk|mawk|sed|jq|make"
    r"|osascript|pwsh|powershell|tclsh|Rscript|java|sqlite3|psql|uv|pipx?|npx|tsx|ts-node|env|exec|xargs|find"
)
_FED = re.compile(
    r"(?:\|\s*+|<\s*+|\$\(\s*+<)(?:[^\s|<]{0,300}/)?(?:env\s+)?(?:(?:ba|z|da|k)?sh|python[\d.]*|node|perl|ruby)\b"
)
_RUNS = re.compile(
    r"\b(?:subprocess|runpy|importlib|pickle|marshal|shelve|dill|ctypes|cffi|zipimport|child_process|execa)\b"
    r"|\b(?:system|popen|eval|exec\w*|posix_spawn\w*|spawn\w*|Function|createRequire|Worker|dlopen)\s*\("
    r"|[\"'](?:node:)?vm[\"']|\b(?:require|import)\s*\(\s*(?:[^\s\"']|[\"']\.)|\b(?:load|do|require_relative)\s+[\"']"
)
_IMPLIED = {
    **dict.fromkeys(("make", "gmake"), ("Makefile", "makefile", "GNUmakefile", ".mk")),
    **dict.fromkeys(("npm", "yarn", "pnpm", "bun", "npx"), ("package.json",)),
    **dict.fromkeys(("docker", "podman"), ("Dockerfile", ".yml", ".yaml")),
    "go": (".go", "go.mod"),
    "cargo": (".rs", "Cargo.toml"),
    "just": ("justfile", "Justfile"),
    "rake": ("Rakefile",),
    "uv": ("pyproject.toml",),
    "pip": ("pyproject.toml", "setup.cfg", "requirements.txt"),
}
"""Program to the ends of the names of files that it runs without being told."""


_TEXTS = frozenset(("skills", "commands", "agents", "output-styles"))
"""Folders with texts for the model: a script that only starts programs may name them."""


class Names:
    """The files of a directory by name, and by the names of the folders that hold them."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._by_name: dict[str, set[str]] = {}
        self._below: dict[str, set[str]] = {}
        for shown in files:
            *folders, name = shown.split(os.sep)
            self._by_name.setdefault(name, set()).add(shown)
            for folder in folders:
                self._below.setdefault(folder, set()).add(shown)

    def called(self, words: Iterable[str], *, opaque: bool) -> set[str]:
        """What a text with these words may run. An `opaque` one may run anything that it names."""
        listed = list(words)
        folders = listed if opaque else [word for word in listed if word not in _TEXTS]
        files = {shown for word in listed for shown in self._by_name.get(word, ())}
        return files | {shown for folder in folders for shown in self._below.get(folder, ())}

    def implied(self, programs: Iterable[str]) -> set[str]:
        """What these programs run without being told its name."""
        ends = tuple(end for program in programs for end in _IMPLIED.get(program, ()))
        return {
            shown for name, found in self._by_name.items() if ends and name.endswith(ends) for shown in found
        }


def words(text: str) -> frozenset[str]:
    """What may be the name of a file."""
    found = set(_WORD.findall(text))
    return frozenset(found | {word.rstrip(".") for word in found})


def is_loader(program: str) -> bool:
    """Whether a program runs the files that it is given."""
    return _INTERPRETERS.fullmatch(program) is not None


def feeds_a_loader(text: str) -> bool:
    """Whether a shell text gives what it reads to an interpreter."""
    return _FED.search(text) is not None


def runs_code(text: str) -> bool:
    """Whether a script of any language can run code that is not its own."""
    return _RUNS.search(text) is not None
