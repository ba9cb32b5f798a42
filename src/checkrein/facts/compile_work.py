"""Words of loops, routes, repeats and choices between and inside steps."""

from __future__ import annotations

import re

EACH = re.compile(
    r"\b(?:for|on|in|per|of|to|with) (?:each|every)(?: one)?(?: of)?(?: the| these"
    r"| those)? ?(?P<noun>[a-z][\w-]*(?: [a-z][\w-]*){0,2})?"
    r"|\b(?:iterate|loop) over (?:the |all |each )?(?P<over>[a-z][\w-]*(?: [a-z][\w-]*){0,1})",
    re.IGNORECASE,
)
"""Work that is done once for each of several things."""
EACH_OBJECT = re.compile(
    r"^\W*[A-Za-z-]+ (?:and \w+ )?(?:each|every) (?P<noun>[a-z][\w-]*(?: [a-z][\w-]*){0,1})", re.IGNORECASE
)
"""`Review each file`: the object of the first verb."""
LISTING = re.compile(
    r"^\W*(?:list|find|identify|gather|collect|search|detect|enumerate|scan|discover|extract|get"
    r"|fetch|read|locate|inventory"
    r"|catalog|look for|retrieve|determine|analy[sz]e|inspect|check|review|map|trace|examine)\b",
    re.IGNORECASE,
)
PLURAL = re.compile(
    r"\b(?!this\b|is\b|has\b|was\b|its\b|us\b|as\b|does\b|across\b|process\b|status\b|access\b|css\b"
    r"|js\b)[a-z]{2,}[^s\W]s\b",
    re.IGNORECASE,
)
CHOOSES = re.compile(
    r"\b(?:choose|select|pick|decide|determine|depending|based on|one of|which|according to|route"
    r"|branch|match|either|classify"
    r"|identify the (?:type|kind|mode|case|scope))\b",
    re.IGNORECASE,
)
"""A line that leads to ways, of which one is taken."""
CASE = re.compile(
    r"^(?:(?:or )?else )?(?:if|when|for|on|in case of|where"
    r"|unless)\s+(?P<case>[^,:→—–\n]{2,80}?)\s*(?:,|:|→|->|—|–)\s+\S|^(?P<other>otherwise|else"
    r"|default)\b",
    re.IGNORECASE,
)
ARROW = re.compile(r"^(?P<case>[^→\n]{2,80}?)\s*(?:→|->|=>)\s*\S")
AGAIN = re.compile(
    r"\b(?:go back|return|loop back|back|repeat|revisit|restart)(?: to| from| at| with)? (?:step"
    r"|phase|stage)s? ?#?(?P<number>\d{1,2})"
    r"|\b(?:if|when) (?:any|it|this|these|a|an|the|one|some|tests?|checks?|validation"
    r"|something)\b[^.\n]{0,80}"
    r"\b(?:fail\w*|issues?|errors?|problems?|wrong|missing|not pass|broken|incorrect|invalid)\b[^.\n]{0,60}"
    r"\b(?:fix|correct|revise|repair|adjust|iterate|repeat|redo|retry|re-?run|go back|return|update)\b"
    r"|\b(?:fix|correct|revise|repair)\b[^.\n]{0,60}\b(?:and|then|before) (?:re-?\w+|try again"
    r"|check again|repeat|continu\w+)\b"
    r"|\buntil (?:it|all|every|they|the \w+|no \w+)\b[^.\n]{0,40}\b(?:pass|passes|succeed|succeeds"
    r"|clean|green|correct|remain)\b",
    re.IGNORECASE,
)
"""What to do when a check fails: mend it and check again, from a step when it names one."""
BOX = re.compile(r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?(?:\[[ xX]\]|☐|□)\s+(?P<text>\S.*)$")
SET_NOUN = re.compile(
    r"\b(?P<noun>severit(?:y|ies)|priorit(?:y|ies)|status(?:es)?|risk(?: levels?)?|impact|levels?"
    r"|confidence|verdicts?|ratings?|grades?"
    r"|categor(?:y|ies)|types?|kinds?|modes?|tiers?|labels?|states?|class(?:es)?|outcomes?|decisions?"
    r"|complexity|effort|likelihood"
    r"|recommendations?|scopes?|phases?|stages?|roles?|verdict|result)\b",
    re.IGNORECASE,
)
"""Nouns of which a text lists the possible values."""
NUMBER_OF = re.compile(
    r"\b(?:number|count|amount|limit|max(?:imum)?|min(?:imum)?|size|port|days?|hours?|minutes?"
    r"|seconds?|lines|depth|top|score|percent(?:age)?|total|age|year|n)\b",
    re.IGNORECASE,
)
