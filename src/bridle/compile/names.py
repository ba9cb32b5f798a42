"""Names of the package: always valid identifiers, never keywords, stable for the same text."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata

_WORDS = re.compile(r"[a-z0-9]+")
_RESERVED = frozenset(keyword.kwlist) | frozenset(keyword.softkwlist) | frozenset(dir(builtins))
# Parameters that the library keeps for itself, and names the pipeline uses.
_TAKEN = frozenset(
    {
        "f_args",
        "f_kwargs",
        "m",
        "context",
        "backend",
        "model_options",
        "strategy",
        "precondition_requirements",
        "requirements",
        "request",
        "self",
        "run",
        "session",
        "config",
        "user_context",
        "user_answers",
        "about",
        "json",
        "stream",
    }
)


def words(text: str, limit: int = 6) -> list[str]:
    """Plain lower-case words; letters with marks lose them, other scripts are left out."""
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return _WORDS.findall(folded.replace("'", ""))[:limit]


def package_name(name: str) -> str:
    """`security-review` gives `security_review_mellea`; anything else becomes a plain identifier too."""
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"_+", "_", re.sub(r"[^a-z0-9]+", "_", folded)).strip("_")[:80].strip("_") or "skill"
    if not slug[0].isalpha():
        slug = f"skill_{slug}"
    return f"{slug}_mellea"


def distribution_name(package: str) -> str:
    return package.removesuffix("_mellea").replace("_", "-")


def identifier(text: str, fallback: str, limit: int = 6) -> str:
    name = "_".join(words(text, limit))[:44].strip("_")
    if not name:
        return fallback
    if not name[0].isalpha():
        name = f"{fallback}_{name}"
    return f"{name}_" if name in _RESERVED else name


def parameter(text: str, fallback: str) -> str:
    name = identifier(text, fallback, 4)
    return f"{name}_value" if name in _TAKEN else name


def class_name(text: str, fallback: str) -> str:
    name = "".join(word.capitalize() for word in words(text, 5))[:50]
    if not name:
        return fallback
    return name if name[0].isalpha() else f"{fallback}{name}"


def snake(name: str) -> str:
    """`PreToolUse` gives `pre_tool_use`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return identifier(spaced.replace("_", " "), "event")


class Unique:
    """Hands out each name once; a second one gets a number."""

    def __init__(self, taken: frozenset[str] = frozenset()) -> None:
        self.taken = set(taken)
        self.numbers: dict[str, int] = {}

    def take(self, name: str) -> str:
        chosen, number = name, self.numbers.get(name, 2)
        while chosen in self.taken:
            chosen = f"{name}_{number}"
            number += 1
        self.numbers[name] = number
        self.taken.add(chosen)
        return chosen
