"""Names of the package: always valid identifiers, never keywords, stable for the same text."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata

_WORDS = re.compile(r"[a-z0-9]+")
_DETERMINER = re.compile(r"^\W*(?:(?:optional(?:ly)?|the|an?|any|your)\b[\s,:]+)+", re.IGNORECASE)
_LEADING = """
    a about above across after against all along also although among an and any are around as at be because
    been before being below between but by can could did do does during each either every for from had has
    have how if in into is it its like may might must nor not of off on onto or our out over per shall should
    since so than that the their them then these they this those through to toward towards under unless until
    up upon via was were what when where whether which while who whose will with within without would you your
"""
_DANGLING = frozenset(_LEADING.split())
"""Words that lead to the next one: a shortened name does not end in them."""
_OPEN = frozenset(
    {
        "an",
        "and",
        "are",
        "as",
        "at",
        "but",
        "by",
        "for",
        "from",
        "if",
        "into",
        "is",
        "its",
        "nor",
        "of",
        "onto",
    }
    | {
        "against",
        "among",
        "because",
        "between",
        "during",
        "per",
        "toward",
        "towards",
        "unless",
        "until",
        "via",
    }
    | {"or", "our", "than", "that", "the", "their", "to", "was", "were", "which", "whose", "with", "your"}
)
"""Those of them that never end a phrase."""
_RESERVED = frozenset(keyword.kwlist) | frozenset(keyword.softkwlist) | frozenset(dir(builtins))
# Parameters that the library reserves, and names that the pipeline uses.
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
        "given",
        "step",
        "slots",
        "constrained_slots",
        "user_context",
        "user_answers",
        "about",
        "answer",
        "json",
        "stream",
    }
)


def words(text: str, limit: int = 6, length: int = 44) -> list[str]:
    """Plain lower-case words; letters lose their accents, other scripts are left out.

    At most `limit` words, and at most `length` characters with a separator between two. A shortened text ends
    in a word that can end a phrase, when there is one.
    """
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    found = _WORDS.findall(folded.replace("'", ""))
    kept = found[:limit]
    while len("_".join(kept)) > length and len(kept) > 1:
        kept.pop()
    if len(kept) < len(found):
        last = next((at for at in range(len(kept), 0, -1) if kept[at - 1] not in _DANGLING), len(kept))
        kept = kept[:last]
    return kept


def package_name(name: str) -> str:
    """`security-review` gives `security_review_mellea`; anything else becomes a plain identifier too."""
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"_+", "_", re.sub(r"[^a-z0-9]+", "_", folded)).strip("_")[:80].strip("_") or "skill"
    if not slug[0].isalpha():
        slug = f"skill_{slug}"
    return f"{slug}_mellea"


def distribution_name(package: str) -> str:
    return package.removesuffix("_mellea").replace("_", "-")


def identifier(text: str, fallback: str, limit: int = 6, length: int = 44) -> str:
    name = "_".join(words(text, limit, length))[:length].strip("_")
    if not name:
        return fallback
    if not name[0].isalpha():
        name = f"{fallback}_{name}"
    return f"{name}_" if name in _RESERVED else name


def phrase(text: str, fallback: str) -> str:
    """A name for what a line says. The line itself may be shortened, so it too ends where a phrase can."""
    kept = text.split()
    while len(kept) > 1 and kept[-1].lower() in _OPEN:
        kept.pop()
    return identifier(" ".join(kept), fallback)


def parameter(text: str, fallback: str) -> str:
    """A name for what a caller gives: `optionally a note` gives `note`."""
    name = identifier(_DETERMINER.sub("", text) or text, fallback, 4)
    return f"{name}_value" if name in _TAKEN else name


def class_name(text: str, fallback: str) -> str:
    name = "".join(word.capitalize() for word in words(text, 5, 50))[:50]
    if not name or keyword.iskeyword(name):
        return f"{fallback}{name}"
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
