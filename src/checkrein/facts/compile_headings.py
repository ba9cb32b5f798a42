"""What is under a heading, by the words of the heading."""

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


OVERRIDING: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        "example",
        re.compile(
            r"\b(?:examples?|samples?|demos?|illustrations?|walkthroughs?|before ?/ ?after|explanation)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "when",
        re.compile(
            r"^(?:when|use (?:this|when|for|cases?))\b|\bwhen (?:not )?to\b|\bwhen this\b"
            r"|\b(?:triggers?|applicability|activation|scope|use cases?|invocation)\b",
            re.IGNORECASE,
        ),
    ),
)
"""Roles that win at any position of their word: an example of rules is an example."""

_NOUNS: dict[Role, str] = {
    "input": """
        input(s), arg(s), argument(s), parameter(s), context template, information needed, information
        required, required information, what you get, what you are given, what you receive, user gives,
        user provides, caller gives, caller provides
    """,
    "memory": "memory, state, session notes, scratchpad",
    "prerequisite": """
        prerequisite(s), system requirements, compatibility, you need, you'll need, you will need,
        before you start, before you begin, tool(s) required, package(s) required, software required,
        tool(s) needed, package(s) needed, software needed, required tool(s), required package(s),
        required software
    """,
    "environment": """
        dependency, dependencies, environment, installation, install, setup, set up, platform(s),
        version(s), tooling
    """,
    "credits": """
        credit(s), ^ acknowledgements, ^ acknowledgments, credits acknowledgements, license, licence,
        attribution, changelog, version history, author(s)
    """,
    "links": """
        reference(s), resource(s), see also, related, related *, further reading, links, reference
        files, documentation, bundled, bundled *, supporting files, additional *, next steps, learn
        more, integration with
    """,
    "output": """
        this skill produces, it produces, format validation, content validation, format compliance, pass
        criteria, quality gates, notes format, tone, writing style, tone vocabulary, pull request, pull
        request text, pull request description, pr description, commit message(s), output(s),
        response(s), report(s), deliverable(s), result(s), template, output templates, schema, output
        schema(s), ^ format(s), output format(s), response format(s), report format(s), answer
        format(s), result format(s), summary format(s), review format(s), handoff format(s), final
        format(s), citation format(s), comment format(s), message format(s), this format(s), completion
        criteria, success criteria, acceptance criteria, exit criteria, definition of done, content(s)
        of, issue content(s), pr content(s), ticket content(s), document content(s), page content(s),
        email content(s), message content(s), body content(s), output content(s), report content(s)
    """,
    "rule": """
        rule(s), constraint(s), guideline(s), guardrail(s), principle(s), practices, dos, do's, don't,
        don'ts, not to do, what to *, what not to *, must, never, always, red flag(s), mistake(s),
        antipattern(s), anti pattern(s), pitfall(s), requirements, policy, policies, critical, contract,
        required, important, convention(s), standard(s), safety, security, boundaries, iron law, tips,
        considerations, avoid, warning(s), note(s), gotcha(s), remember, preferences, behavior,
        behaviour, rationalization(s), rationalisation(s), checklist, common, troubleshooting, limit(s),
        limitation(s), quality, ethics
    """,
    "identity": """
        role, persona, identity, overview, introduction, about, who you are, context, core principle,
        core idea, philosophy, expertise, summary, description
    """,
    "purpose": """
        mission, purpose, objective(s), goal(s), this skill provides, this skill does, this skill
        covers, this skill is for, this skill helps, what this provides, what this does, what this
        covers, what it provides, what it does, what it covers
    """,
    "concept": """
        concept(s), background, fundamentals, category, categories, level(s), glossary, terminology,
        anatomy, feature(s), capabilities, quick reference, cheat sheet, cheatsheet, matrix, taxonomy,
        definition(s), icon(s), legend
    """,
    "procedure": """
        workflow, process, procedure, step(s), instruction(s), how to, phase(s), directive(s),
        execution, quick start, quickstart, getting started, usage, protocol, implementation,
        methodology, approach, algorithm, sequence, runbook, playbook, pipeline, method, cycle, loop,
        task
    """,
}


def _spelled(entry: str) -> tuple[str, ...]:
    return (entry.replace("(s)", ""), entry.replace("(s)", "s")) if "(s)" in entry else (entry,)


NOUNS: dict[str, Role] = {
    spelled: role
    for role, entries in reversed(_NOUNS.items())
    for entry in entries.split(",")
    for spelled in _spelled(" ".join(entry.split()))
}
"""The last words of a heading's noun, which is the part before a preposition: `Response Types` is about
types. `*` is any word, `^` the start of the heading. A word in two roles has the first one."""
LONGEST_NOUN = max(len(noun.split()) for noun in NOUNS)

Mark = Literal["scale", "folder", "file", "questions", "only_questions", "related", "trouble"]
MARKS: dict[Mark, re.Pattern[str]] = {
    "scale": re.compile(
        r"\b(?:grades?|colou?rs?|ratings?|scores?|traffic lights?|exit codes?|codes)$|\b(?:icons?|legend)\b",
        re.IGNORECASE,
    ),
    "folder": re.compile(r"/\W*$|\b(?:directory|folder)$", re.IGNORECASE),
    "file": re.compile(r"^(?:\d+[.)] )?[\w./-]*\.\w{1,12}(?: [Tt]emplate)?$", re.ASCII),
    "questions": re.compile(
        r"(?<!assessment )(?<!review )(?<!diagnostic )\bquestions?\b|\bask\b|\binterview\b", re.IGNORECASE
    ),
    "only_questions": re.compile(
        r"\b(?:required|opening|clarifying|interview|key) questions$", re.IGNORECASE
    ),
    "related": re.compile(r"^(?:related|see also|further reading)\b", re.IGNORECASE),
    "trouble": re.compile(
        r"^(?:problem|issue|error|symptom|q)\b\s*\d*\s*[:.]|\btroubleshoot"
        r"|\bcommon (?:issues|problems|errors)\b|\bFAQ\b"
        r"|\bedge cases\b|\berror handling\b|\bif (?:something|things|it) (?:fails?|goes? wrong)\b",
        re.IGNORECASE,
    ),
}
"""What a heading says beside its role.

Below a scale is a list of what each value means; below a folder, its files; below a file, its content. Below
questions is what to ask a person (an assessment asks oneself), below `only_questions` nothing else. Below
related are names of other skills; below trouble are ways out of it, which are not a procedure.
"""

STRESSED = re.compile(
    r"^(?:critical|important|required|mandatory|forbidden|never|always|must|avoid|safety|security)\b",
    re.I,
)
"""A heading with this start holds rules, unless its noun says otherwise."""
QUALIFIES = re.compile(r"^(?:required|optional|mandatory)\W*$", re.IGNORECASE)
"""A heading that only adds to the one above it."""
STEPS_ANYWAY = re.compile(r"\brule$|^when (?!to\b|not to\b|should\b|this\b|you should\b)", re.IGNORECASE)
"""One rule in numbered parts, or what to do when something happens. These are procedures; other rules and
occasions are not."""
FIRST = re.compile(
    r"^(?:(?:required|expected|user|final)\s+)?(input|output)s?\b"
    r"|^(?:form|format|shape|structure|layout|quality|style|tone|wording|length|contents?) of\b"
    r"|^(?:the|your) (?:summary|report|reply|note|answer|message|draft)$|^(?:tone|voice|wording"
    r"|layout|length)\b"
    r"|\b(?:report|note|reply|summary|message|description|answer|response|draft|issue|pr|ticket|document|page"
    r"|email)s?"
    r" (?:rules|requirements|contents?|guidelines|best practices|standards|conventions)$"
    r"|^writing (?:\w+ )?(?:descriptions?|messages?|titles?|summar(?:y|ies)|reports?|comments?)$"
    r"|^rules (?:for|of) the (?:report|note|reply|summary|message"
    r"|draft|text)\b"
    r"|^how (?:a|the) \w+ is (?:built|structured|laid out|made)\b"
    r"|^validation$|^when you (?:answer|report|write|respond|reply)\b"
    r"|^before you (?:send|post|publish|deliver|hand (?:it )?over)\b"
    r"|\b(input|output)s?\s+(?:requirements?|contract|rules?|specifications?|standards?|expectations?)\b",
    re.IGNORECASE,
)
"""Such a heading is about input or output, with any noun: `Input Requirements`."""
LISTS = re.compile(r"^(?:supported|available|known|built-?in|common terms)\b", re.IGNORECASE)
"""A heading with this start lists what exists: a concept, with any noun."""

CLOSING = re.compile(r"\s+(?:summary|overview|description)$", re.IGNORECASE)
"""A heading that ends in a summary is about the thing it sums up: `Best Practices Summary`."""
TAIL = re.compile(
    r"\s(?:(?:for|of|in|with|to|from|by|on|before|after|across|using|where|when|if|and|that|per|-|–"
    r"|—)\s|\().*$",
    re.IGNORECASE,
)
"""What qualifies the noun of a heading."""
