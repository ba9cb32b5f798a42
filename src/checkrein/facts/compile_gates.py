"""Words of a gate: a place where a person decides before the work goes on."""

from __future__ import annotations

import re

_PERSON = (
    r"(?:(?:the|your|a|an|our|with|from|by|human|end)[- ])*"
    r"(?:users?|human(?:s| partner)?|people|person|developer|operator|owner|author|stakeholders?"
    r"|customer|client|requester"
    r"|reviewer|partner|team|maintainer|them)\b"
)
_DECISION = (
    r"(?:approval|approve|confirmation|confirm|permission|consent|go[- ]ahead|sign[- ]?off"
    r"|authori[sz]ation|authori[sz]e"
    r"|feedback|acceptance|OK\b|\"?yes\"?|input|response|reply|answer|decision|choice|selection|review)"
)
_FIRM = (
    r"(?:approval|confirmation|permission|consent|go[- ]ahead|sign[- ]?off|authori[sz]ation|clarification"
    r"|confirmed|approved)"
)
_GO_ON = (
    r"(?:proceed(?:ing)?|continu(?:e|ing)|start(?:ing)?|begin(?:ning)?|mov(?:e|ing) (?"
    r":on|forward|to)|go(?:ing)? (?:on|ahead)|advanc(?:e|ing))"
)

GATE = re.compile(
    rf"\b(?:ask|prompt|consult|interview|check (?:in )?with|confirm (?:it |this |that |them )?with"
    rf"|clarify with|verify with"
    rf"|align with|validate (?:it |this )?with|get back to)\s+{_PERSON}"
    rf"|\b(?:ask|confirm|check)\b[^.;\n]{{0,60}}\b(?:with|from) {_PERSON}"
    rf"|\b(?:wait|pause|stop|halt|hold|await(?:ing)?)\b[^.;\n]{{0,40}}?\b(?:{_PERSON}|{_FIRM}|{_DECISION})"
    rf"|\b(?:get|obtain|request|seek|secure|receive|ask for|asking for|requires?|requiring|needs?)\b"
    rf"[^.;\n]{{0,30}}?\b{_FIRM}\b"
    rf"|\b(?:do not|don['’]t|never|must not|cannot|can['’]t|not)\s+{_GO_ON}\b[^.;\n]{{0,60}}"
    rf"\b(?:until|unless|without|before)\b"
    rf"|\bwithout (?:the |an? |any |first |explicit(?:ly)? |prior |user(?:['’]s)? |human |written |their )*"
    rf"(?:{_FIRM}|asking|confirming|approving)"
    rf"|\b(?:users?|human|person|operator|owner) (?:must |should |has to |have to |needs to |can "
    rf"|will |explicitly )*"
    rf"(?:approves?|confirms?|agrees?|accepts?|signs? off|chooses?|selects?|decides?)\b"
    rf"|\b(?:user|human|owner|explicit|manual|written)[- ](?:approval|confirmation|consent|permission"
    rf"|sign-?off|review)\b"
    rf"|\b(?:after|once|until|when|upon|on|only (?:after|with|on|once)) (?:\w+ ){{0,3}}{_FIRM}\b"
    rf"|\b(?:confirm|ask)\b[^.;\n]{{0,40}}\bbefore\b(?! each commit)"
    rf"|\bask (?:first|before|for (?:clarification|details|guidance|more)|clarifying|which|whether"
    rf"|what|how|if|one question"
    rf"|about|the following|these|questions?)\b"
    r"|\bAskUserQuestion\b|\bask_user\b|\bask_questions?\b|\bvscode/askQuestions\b",
    re.IGNORECASE,
)
"""A sentence that puts a decision to a person."""
MARKED = re.compile(
    r"\b(?:HARD[- ])?GATES?\b|\bAPPROVAL REQUIRED\b|\bSTOP AND (?:ASK|WAIT|CONFIRM)\b|\bCHECKPOINT\b"
)
"""The same, in capitals."""
NO_GATE = re.compile(
    r"\b(?:do not|don['’]t|never|without|no need to|not|rather than|instead of|avoid"
    r"|stop)\s+(?:first |needing to )?"
    r"(?:ask|asking|prompt|prompting|wait|waiting|interrupt|bother|confirm"
    r"|confirming)\b(?![^.;\n]{0,40}\buntil\b)"
    r"|\b(?:if|when|whenever|unless) (?:the )?(?:user|developer|human|caller|they|someone|anyone"
    r"|asked|prompted)\s?(?:\w+ )?"
    r"(?:asks?|asked|requests?|requested|wants?|says?|prompts?|mentions?"
    r"|provides?)\b(?![^.;\n]*\b(?:ask|confirm) )"
    r"|\bas (?:the user )?(?:asked|requested)\b|\bfeature gates?\b|\bquality gates?\b(?! fails)"
    r"|\b(?:logic|nand|xor) gates?\b"
    r"|\b(?:stop|stops?|exit|done|skip)\W*$",
    re.IGNORECASE,
)
"""A sentence with the words of a gate that is none: it forbids asking, or the person asks."""
NO_ACTION = re.compile(
    r"\bwithout (?:the |an? |any |first |explicit(?:ly)? |prior |user(?:['’]s)? |human )*(?:approval"
    r"|confirmation|permission"
    r"|consent|asking|confirming|authori[sz]ation)|\b(?:do not|don['’]t"
    r"|never)\b[^.;\n]{0,80}\b(?:until|unless|without|before)\b",
    re.IGNORECASE,
)
"""Forbids work until a person has decided: a gate, whatever else the sentence forbids."""
TOLD = re.compile(
    r"\b(?:must|should|shall|never|always|do not|don['’]t|only|until|unless|before|required?"
    r"|explicit\w*|first|AskUserQuestion"
    r"|ask_user\w*)\b|(?:^|[.:;,—–>→(-] ?|\b(?:then|and|or|to|also|instead|please) )(?:ask|confirm"
    r"|wait|pause|stop|prompt"
    r"|get|obtain|request|consult|check)\b|^(?:after|once|upon|on)\b",
    re.IGNORECASE,
)
"""Such a sentence tells what to do; another one may only tell what people do."""
WHEN = re.compile(
    r"^(?:[-*+]\s+|\d+[.)]\s+)?\W{0,3}(?P<when>(?:if|when|whenever|unless|in case|where|should"
    r"|for any|for) [^,:;—–\n]{3,160}?)"
    r"(?:[,:;—–]|\s->|\s→)\s",
    re.IGNORECASE,
)
LATER_WHEN = re.compile(
    r"\b(?P<when>(?:if|when|whenever|unless|in case|where) (?!the user (?:approves|confirms|agrees|accepts))"
    r"[^.;,\n]{3,160})\W*$",
    re.IGNORECASE,
)
"""The condition of a gate, before or after it."""
ONCE_DECIDED = re.compile(
    rf"^(?:if|when|once|after|unless) (?:the |you |they |\w+ )*?(?:user|human|owner|they"
    rf"|{_FIRM})\b[^,]{{0,40}}"
    r"\b(?:approv|confirm|agree|accept|yes|decline|reject|sign)",
    re.IGNORECASE,
)
"""A condition that is the decision itself."""
OPEN = re.compile(
    r"\b(?:which|what|where|how|who|whether to|clarif\w*|questions?|preferences?|details|requirements"
    r"|missing|one of"
    r"|AskUserQuestion|for the|about)\b",
    re.IGNORECASE,
)
"""The person answers in words."""
CLOSED = re.compile(
    rf"\b(?:{_FIRM}|approve|confirm|proceed|continue|go on|yes/no|\(y/n\)|sign off|accept)\b", re.IGNORECASE
)
"""The person says yes or no."""

IRREVERSIBLE: dict[str, re.Pattern[str]] = {
    name: re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)
    for name, words in {
        "delete": r"delet(?:e|es|ing|ion)|remov(?:e|es|ing|al)|drop(?:s|ping)?|prun(?:e|es|ing)"
        r"|purg(?:e|es|ing)"
        r"|wip(?:e|es|ing)|destroy(?:s|ing)?|rm -r\w*|git branch -[dD]|discard(?:s|ing)?|destructive"
        r"|clean(?:s|ing)? up",
        "push": r"push(?:es|ing)?|force-push\w*|merg(?:e|es|ing)|git push",
        "send": r"send(?:s|ing)?|publish(?:es|ing)?|post(?:s|ing)?|email(?:s|ing)?|submit(?:s|ting)?"
        r"|notif(?:y|ies|ying)",
        "deploy": r"deploy(?:s|ing|ment)?|releas(?:e|es|ing)|roll(?:s|ing)? (?:out|back)|migrat(?:e"
        r"|es|ing)|provision\w*"
        r"|terraform apply",
        "pay": r"pay(?:s|ing|ments?)?|charg(?:e|es|ing)|purchas(?:e|es|ing)|transfer(?:s"
        r"|ring)? (?:funds|money)|refund\w*|buy(?:s|ing)?",
        "commit": r"commit(?:s|ting)?|git commit|creat(?:e|es|ing) (?:the |a |an )?(?:pull request|pr"
        r"|issue|issues|tag)",
        "write": r"writ(?:e|es|ing)|creat(?:e|es|ing)|edit(?:s|ing)?|modif(?:y|ies|ying)|chang(?:e|es"
        r"|ing)|overwrit(?:e|es|ing)|sav(?:e|es|ing)"
        r"|implement(?:s|ing)?|appl(?:y|ies|ying)|mak(?:e|es|ing) (?:any |the )?changes|code|coding"
        r"|fix(?:es|ing)?|install(?:s|ing)?|run(?:s|ning)?|execut(?:e|es|ing)",
    }.items()
}
"""Work by what it does to the world. The first five can't be undone; the others only tie a gate to a step."""
UNDOABLE = ("commit", "write")
