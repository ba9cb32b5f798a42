"""Mood and parts of one line: is it an instruction, a term with its meaning, a condition, a mapping?"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from checkrein.compile.blocks import plain
from checkrein.facts import compile_verbs as verbs
from checkrein.facts import compile_words as words
from checkrein.facts.compile import Tag

_TOKEN = re.compile(r"[A-Za-z][A-Za-z'’-]*|`|[\"“]|\d+|[:;,.!?()]")
_KEYED = re.compile(
    r"^(?P<mark>\*\*|__|`)(?P<key>(?:(?!(?P=mark)).){1,80}?)(?P<colon>[:.]?)(?P=mark)"
    r"(?:\s*\([^)\n]{0,60}\))?\s*(?::|[-–—]|(?<=[:.]\*\*)|(?<=[:.]__))\s*(?P<rest>\S.*)?$",
    re.DOTALL,
)
_PLAIN_KEY = re.compile(
    r"^(?P<key>[\w][\w/&+,' -]{0,40}?)(?::\s+|\s[–—]\s+|\s-\s+)(?P<rest>\S.*)$", re.DOTALL
)
_LEAD = re.compile(r"^\s*(?:(?:[-*+•]|\d+[.)])\s+)?(?:\[[ xX]\]\s*)?[^\w<(`\"'$/{\[*]*")
_CONDITION = re.compile(
    r"^(?:(?:or )?else )?(?:if|when|whenever|unless|depending on|in case)\b.*?"
    r"(?:[,:—–]\s+|\bthen\s+)(?P<then>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_OCCASION = re.compile(
    r"^(?:for|on|in|at|with|to|once|after|before|while|during|from|by)\b[^,.:]{1,80}[,:]\s+(?P<then>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_TAIL = re.compile(
    r"\s(?:for|of|in|with|to|from|by|on|across|using|and|&|-|–|—|\()(?:\s|\b).*$", re.IGNORECASE
)
_PHASE = re.compile(r"\s+(?:phase|step|stage)\s*$")
_TOOL = re.compile(r"\b([a-z]+)(?:_[a-z_]+\b|(?:_[a-z_]+)?\.(?:py|sh|m?js|ts)\b)")
_NO_VERB_END = re.compile(r"(?:ing|ed|tion|ment|ness|ity|ance|ence|ism|ous|ful|ive|able|less|[^s]s)$")


class Line(Struct, frozen=True, gc=False):
    """`key` is the text before a colon or dash when it names the rest; `coded` keys are code."""

    key: str
    rest: str
    coded: bool


@lru_cache(maxsize=2048)
def parts(text: str) -> Line:
    bare = _LEAD.sub("", text, count=1)
    found = _KEYED.match(bare)
    if found is not None and (found["rest"] or found["colon"] == ":"):
        coded = found["mark"] == "`"
        return Line(found["key"] if coded else plain(found["key"]), plain(found["rest"] or ""), coded)
    found = _PLAIN_KEY.match(bare)
    if found is not None and len(found["key"].split()) <= 5:
        return Line(found["key"].strip(), plain(found["rest"]), False)
    return Line("", plain(text), False)


@lru_cache(maxsize=4096)
def leading_verb(text: str) -> tuple[str, Tag] | None:
    """The verb that an instruction starts with, and the work it names. ORCHESTRATE for an unknown verb."""
    found = [one.lower().replace("’", "'") for one in _TOKEN.findall(plain(text)[:160]) if one != ","]
    for index, written in enumerate(found[:3]):
        following = found[index + 1] if index + 1 < len(found) else ""
        word = _base(written, following)
        tag = verbs.VERBS.get(word)
        if following == "means" or (word, following) in verbs.NO_PHRASES:
            return None
        if (word, following) in verbs.PHRASES:
            return word, verbs.PHRASES[word, following]
        if tag is not None:
            is_noun = word in verbs.NOUNS and (following in verbs.AFTER_NOUNS or following == ":")
            is_noun |= word in verbs.MOSTLY_NOUNS and following not in verbs.AFTER_VERBS
            return None if is_noun and index == 0 else (word, tag)
        if following in verbs.AFTER_VERBS and _may_be_verb(word):
            return word, "ORCHESTRATE"
        if not word.endswith("ly") and word not in verbs.OPENERS:
            return None
    return None


def _may_be_verb(word: str) -> bool:
    return (
        word.replace("-", "").isalpha()
        and not word.endswith("ly")
        and word not in verbs.NO_VERBS
        and not _NO_VERB_END.search(word)
    )


@lru_cache(maxsize=2048)
def is_imperative(text: str) -> bool:
    """Whether it is an instruction: its words, or those after its key, start with a verb."""
    line = parts(text)
    if line.coded:
        return False
    if not line.key:
        return not text.lstrip("-*+ ").startswith("`") and leading_verb(line.rest) is not None
    if len(line.key.split()) > 1 and leading_verb(line.key) is not None:
        return True
    return leading_verb(line.rest) is not None


def is_account(text: str) -> bool:
    """Whether it tells what something does by itself: `Copies the file`."""
    found = _TOKEN.search(parts(text).rest[:60])
    first = found[0].lower() if found is not None else ""
    return first.endswith("s") and first not in verbs.VERBS and _base(first, "the") in verbs.VERBS


def is_on_writing(text: str) -> bool:
    """In a spec for writing, a rule is about the text unless its verb is other work, like reading."""
    if words.FOLLOWS.search(text):
        return False
    line = parts(text)
    said = words.FORBIDS.sub("", consequence(text) or line.rest, count=1).lstrip()
    found = leading_verb(line.key) or leading_verb(said)
    if found is None:
        if text.lower().startswith("you "):
            return False
        return bool(line.key) or len(text.split()) <= 8 or verbs.PARTS.search(text) is not None
    return found[0] in verbs.WRITING or found[1] in ("GENERATE", "TRANSFORM")


def makes(text: str) -> bool:
    """Whether it is an instruction to write or add something."""
    found = leading_verb(parts(text).rest)
    return found is not None and found[1] == "GENERATE"


def is_other_work(text: str) -> bool:
    """Whether it is an instruction, and not about installing or setting something."""
    found = leading_verb(text)
    return found is not None and found[0] not in verbs.PROVIDES


def is_modal(text: str) -> bool:
    """Whether it has one of the words that every rule needs."""
    small = text.casefold()
    return small.startswith("no ") or any(one in small for one in words.MODAL)


def may_ask(text: str) -> bool:
    """Whether it has a word for asking."""
    small = text.casefold()
    return any(one in small for one in words.ASKING)


def asks_someone(text: str) -> bool:
    small = text.casefold()
    return any(one in small for one in words.ASKED) and words.ASK_USER.search(text) is not None


def is_told(text: str) -> bool:
    """Whether a sentence tells the agent how to act, not what the whole is for."""
    then = consequence(text)
    found = leading_verb(then or text)
    return found is not None and (then is not None or found[0] in verbs.WRITING)


def names_work(text: str) -> bool:
    """Whether a line reads as a step: its key, or without a key its words, start with a verb."""
    line = parts(text)
    return not line.coded and leading_verb(line.key or line.rest) is not None


def input_name(text: str) -> str | None:
    """The name of an input: its key, or the words before a bracket, a dash or a colon."""
    line = parts(text)
    name = line.key or re.split(r"\s*[(\[:–—]|\s-\s|[.;,]\s", plain(text), maxsplit=1)[0]
    return name.strip("`*{}<>[] ") if name and len(name.split()) <= 6 else None


@lru_cache(maxsize=2048)
def consequence(text: str) -> str | None:
    """What to do on the condition or occasion at the start of a sentence; None when there is none.

    After an occasion (`for each file, ...`) only an instruction counts."""
    clean = plain(text)
    found = _CONDITION.match(clean)
    if found is not None:
        return found["then"]
    found = _OCCASION.match(clean)
    return found["then"] if found is not None and leading_verb(found["then"]) is not None else None


def named_work(title: str) -> tuple[str, Tag] | None:
    """The work a title without a verb names: `Data Collection Phase`, `Gathering requirements`."""
    listed: list[str] = re.findall(r"[a-z-]+", _PHASE.sub("", _TAIL.sub("", plain(title)).lower()))
    for word in (*listed[-1:], *(one for one in listed[:1] if one.endswith("ing"))):
        verb = _verb_in(word)
        if verb is not None:
            return verb, verbs.VERBS[verb]
    return None


def is_noun_phrase(title: str) -> bool:
    """`Commit History Analysis`: three capitalized words, of which the first is a verb and as often a
    noun."""
    listed = _TOKEN.findall(plain(title))
    return len(listed) == 3 and listed[0].lower() in verbs.NOUNS and all(one[0].isupper() for one in listed)


def heavier(found: tuple[str, Tag], text: str) -> tuple[str, Tag]:
    """`Use the tool to get versions` is about getting, `Perform an audit` about auditing."""
    if found[0] not in verbs.LIGHT:
        return found
    first = plain(text).split(". ")[0].lower()
    for light, pattern, tag in verbs.AIMS:
        if found[0] in light and pattern.search(first):
            return found[0], tag
    tool = _TOOL.search(first)
    if tool is not None and tool[1] in verbs.VERBS:
        return tool[1], verbs.VERBS[tool[1]]
    aim = re.search(r"\bto ([a-z-]+)\b", first)
    if aim is not None and verbs.VERBS.get(aim[1], "ORCHESTRATE") != "ORCHESTRATE":
        return aim[1], verbs.VERBS[aim[1]]
    if found[0] in ("perform", "conduct", "do", "make"):
        for word in re.findall(r"[a-z-]+", first)[1:6]:
            verb = _verb_in(word)
            if verb is not None:
                return verb, verbs.VERBS[verb]
    return found


@lru_cache(maxsize=2048)
def _verb_in(noun: str) -> str | None:
    """`verification` -> `verify`, `planning` -> `plan`; None for a noun without a verb."""
    if noun in verbs.NOMINAL:
        return verbs.NOMINAL[noun]
    for ending, instead in verbs.ENDINGS:
        if not noun.endswith(ending):
            continue
        stem = noun[: -len(ending)]
        doubled = stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else stem
        for verb in (*(stem + tail for tail in instead), doubled):
            if verb in verbs.VERBS:
                return verb
    return None


def _base(word: str, following: str) -> str:
    """`checks` -> `check`, unless it is a noun; `re-run` -> `run`."""
    if word.startswith("re-") and word[3:] in verbs.VERBS:
        return word[3:]
    for ending, instead in (("ies", "y"), ("es", ""), ("s", "")):
        base = word[: -len(ending)] + instead
        if not word.endswith(ending) or base not in verbs.VERBS:
            continue
        if base not in verbs.NOUNS or following in verbs.AFTER_VERBS:
            return base
    return word
