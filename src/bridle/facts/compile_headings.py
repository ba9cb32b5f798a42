"""What stands under a heading, by the words of the heading."""

from __future__ import annotations

import re
from typing import Literal

Role = Literal[
    "example",
    "when",
    "input",
    "memory",
    "prerequisite",
    "environment",
    "credits",
    "links",
    "output",
    "rule",
    "identity",
    "purpose",
    "concept",
    "procedure",
]


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)


ROLES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        "example",
        _words(r"examples?|samples?|demos?|illustrations?|walkthroughs?|before ?/ ?after|explanation"),
    ),
    (
        "when",
        re.compile(
            r"^(?:when|use (?:this|when|for|cases?))\b|\bwhen (?:not )?to\b|\bwhen this\b"
            r"|\b(?:triggers?|applicability|activation|scope|use cases?|invocation)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "input",
        _words(
            r"inputs?|args?|arguments?|parameters?|user input|context template|information needed"
            r"|what you (?:get|are given|receive)|what (?:the )?(?:user|caller) (?:gives|provides)"
        ),
    ),
    ("memory", _words(r"memory|state|session notes|scratchpad")),
    (
        "prerequisite",
        _words(
            r"prerequisites?|system requirements|compatibility|(?:what )?you(?:['’]ll| will)? need"
            r"|before you (?:start|begin)"
            r"|(?:tools?|packages?|software) (?:required|needed)|required (?:tools?|packages?|software)"
        ),
    ),
    (
        "environment",
        _words(r"dependenc(?:y|ies)|environment|installation|install|set-?up|platforms?|versions?|tooling"),
    ),
    (
        "credits",
        _words(
            r"credits?|(?<!\w )acknowledge?ments(?! \w)|licen[cs]e|attribution|changelog"
            r"|version history|authors?"
        ),
    ),
    (
        "links",
        _words(
            r"references?|resources?|see also|related(?: \w+)?|further reading|links|reference files"
            r"|documentation|bundled(?: \w+)?|supporting files|additional \w+|next steps|learn more"
            r"|integration with"
        ),
    ),
    (
        "output",
        _words(
            r"outputs?|responses?|reports?|deliverables?|results?|template"
            r"|output (?:templates|schemas?)|schema"
            r"|(?:(?<=^)|(?<=output )|(?<=response )|(?<=report )|(?<=answer )|(?<=result )|(?<=summary )"
            r"|(?<=review )|(?<=handoff )|(?<=final )|(?<=citation )|(?<=comment )|(?<=message )"
            r"|(?<=this ))formats?"
            r"|(?:completion|success|acceptance|exit) criteria|definition of done|contents? of|(?:issue|pr"
            r"|ticket|document|page|email|message|body|output|report) contents?"
        ),
    ),
    (
        "rule",
        _words(
            r"rules?|constraints?|guidelines?|guardrails?|principles?|best practices|practices"
            r"|do['’]?s|don['’]ts?|not to do|what (?:not )?to \w+"
            r"|must|never|always|red flags?|mistakes?|anti-?patterns?|pitfalls?|requirements|policy|policies"
            r"|critical|contract|required|important|conventions?|standards?|safety|security|boundaries"
            r"|iron law|tips|considerations|avoid|warnings?|notes?|gotchas?|remember|preferences|behaviou?r"
            r"|rationali[sz]ations?|checklist|common|troubleshooting|limits?|limitations?|quality|ethics"
        ),
    ),
    (
        "identity",
        _words(
            r"role|persona|identity|overview|introduction|about|who you are"
            r"|context|core (?:principle|idea)|philosophy|expertise|summary|description"
        ),
    ),
    (
        "purpose",
        _words(
            r"mission|purpose|objectives?|goals?|this skill (?:provides|does|covers|is for|helps)"
            r"|what (?:this|it) (?:provides|does|covers)"
        ),
    ),
    (
        "concept",
        _words(
            r"concepts?|background|fundamentals|categor(?:y|ies)|levels?|glossary|terminology|anatomy"
            r"|features?|capabilities|quick reference|cheat ?sheet|matrix|taxonomy"
            r"|definitions?|icons?|legend"
        ),
    ),
    (
        "procedure",
        _words(
            r"workflow|process|procedure|steps?|instructions?|how to|phases?|directives?|execution"
            r"|quick ?start|getting started|usage|protocol|implementation|methodology|approach|algorithm"
            r"|sequence|runbook"
            r"|playbook|pipeline|method|cycle|loop|task"
        ),
    ),
)
"""The noun of a heading counts, its last word before a preposition: `Response Types` is about types."""

OVERRIDING: tuple[Role, ...] = ("example", "when")
"""Roles that decide wherever the word stands: an example of rules is an example."""
STRESSED = re.compile(
    r"^(?:critical|important|required|mandatory|common|forbidden|never|always|must|avoid|safety|security)\b",
    re.I,
)
"""A heading that starts so holds rules, when its noun says nothing else."""
STEPS_ANYWAY = re.compile(r"\brule$|^when (?!to\b|not to\b|should\b|this\b|you should\b)", re.IGNORECASE)
"""One rule in numbered parts, or what to do when something happens: a procedure, though rules and
occasions are none."""
FIRST = re.compile(
    r"^(?:(?:required|expected|user|final)\s+)?(input|output)s?\b"
    r"|^(?:form|format|shape|structure|layout|quality|style|tone|wording|length|contents?) of\b"
    r"|^(?:the|your) (?:summary|report|reply|note|answer|message|draft)$|^(?:tone|voice|wording"
    r"|layout|length)\b"
    r"|\b(?:report|note|reply|summary|message|description|answer|draft|issue|pr|ticket|document|page|email)"
    r" (?:rules|requirements|contents?)$|^rules (?:for|of) the (?:report|note|reply|summary|message"
    r"|draft|text)\b"
    r"|^how (?:a|the) \w+ is (?:built|structured|laid out|made)\b"
    r"|^validation$|^when you (?:answer|report|write|respond|reply)\b"
    r"|^before you (?:send|post|publish|deliver|hand (?:it )?over)\b"
    r"|\b(input|output)s?\s+(?:requirements?|contract|rules?|specifications?|standards?|expectations?)\b",
    re.IGNORECASE,
)
"""Such a heading is about the one or the other, whatever its noun: `Input Requirements`."""
LISTS = re.compile(r"^(?:supported|available|known|built-?in|common terms)\b", re.IGNORECASE)
"""A heading that starts so lists what there is: a concept, whatever its noun."""

CLOSING = re.compile(r"\s+(?:summary|overview)$", re.IGNORECASE)
"""What is closed by a summary is about the thing that is summed up: `Best Practices Summary`."""
TAIL = re.compile(
    r"\s(?:(?:for|of|in|with|to|from|by|on|before|after|across|using|where|when|if|and|that|per|-|–"
    r"|—)\s|\().*$",
    re.IGNORECASE,
)
"""What qualifies the noun of a heading."""
