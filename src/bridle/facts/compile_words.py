"""Words by which prose is tagged. A step is tagged by its first verb, a rule by its modal word."""

from __future__ import annotations

import re

from bridle.facts.compile import Archetype

ASK_USER = re.compile(
    r"(?:^|[.;:,—–] *|\b(?:and|or|then|must|should|to|will|please|always|first|need to) )"
    r"(?:ask|prompt|interview|consult|check with|confirm with|wait for|request|clarify with|raise|pause for"
    r"|await|stop for)\b[^.\n]{0,40}\b(?:user|human|partner|stakeholder|developer|customer|client|team"
    r"|them|approval"
    r"|confirmation|permission|clarification)\b"
    r"|(?<!when )(?<!if )(?<!when the )(?<!if the )\buser (?:provides|confirms|approves|chooses"
    r"|must (?:approve|confirm))\b|\bAskUserQuestion\b",
    re.IGNORECASE,
)
REPEAT = re.compile(
    r"\b(?:repeat until|until (?:all|the|it|no|every)\b[^.\n]{0,60}\b"
    r"(?:pass|green|clean|fixed|resolved|succeed)"
    r"|fix (?:it|them|any|all|issues|errors|failures)\b[^.\n]{0,40}\b(?:again|re-?run|re-?check|retry)"
    r"|re-?run until|iterate until|loop until|retry until)",
    re.IGNORECASE,
)
FINDS_OUT = re.compile(
    r"^analy[sz]e\b.{0,60}\bto (?:identify|extract|infer|determine|find|understand)\b", re.IGNORECASE
)
POINTER = re.compile(
    r"^(?:(?:files?|path|location)\b\W{0,4}:|see|read|learn more|refer to|consult|check|for (?:more"
    r"|details|the full)|full|detailed|these)\b",
    re.IGNORECASE,
)
LIVES_IN = re.compile(
    r"\b(?:lives? in|moved to|documented in|described in|found in|available in)\s+[`\[(]*[\w./-]*/[\w./-]+",
    re.IGNORECASE,
)
PATH_OR_LINK = re.compile(
    r"\]\([^)]{1,500}\)|`[\w./-]{1,200}\.\w{1,5}`|https?://|\b[\w-]{1,60}(?:\.[\w-]{1,60}){1,4}/\S"
    r"|`[\w:/-]+` (?:skill|agent|command|guide|reference)\b"
)
NEEDS = re.compile(
    r"^(?:prerequisites?|requires|requirements)\b[^.]{0,3}:|^requires?\s"
    r"|^install\b[^\n]{0,80}\b(?:before|first)\b|^[^.\n]{0,80}\bmust be (?:installed|available|running)\b",
    re.IGNORECASE,
)
ASKS = re.compile(
    r"^(?:ask|pause|stop|wait|await|request|check with|confirm with)\b[^.\n]{0,60}"
    r"\b(?:user|human|partner|approval|confirmation|permission|clarification|answer|sign-?off)\b",
    re.IGNORECASE,
)
FORBIDS = re.compile(r"^(?:do not|don['’]t|never|avoid)\b", re.IGNORECASE)
INPUT = re.compile(r"\$\{input:([A-Za-z_]\w*)|\$ARGUMENTS\b")
CONDITION = re.compile(r"^(?:if|when|unless|depending on|in case)\b", re.IGNORECASE)

CHOICE = re.compile(
    r"^(?:(?:or )?else )?(?:if|when|unless|otherwise)\b|^(?:use|choose|pick"
    r"|prefer)\b[^.\n]{1,60}\b(?:when|if|for)\b",
    re.IGNORECASE,
)
USE_WHEN = re.compile(
    r"^(?:use|apply|invoke|activate|load) (?:this|it)(?: \w+)? (?:only )?(?:when|if|for|whenever|any ?time)\b"
    r"|^(?:do not|don['’]t) use (?:this|it)\b|^use when\b|^use for\b",
    re.IGNORECASE,
)
LOOKUP = re.compile(
    r"^(?:[^\n→⇒=.]{1,70}\s(?:→|⇒|->|=>)\s(?:`[^`\n]{1,60}`|[\"“][^\n→⇒]{1,60}|\S+(?: \S+)?)"
    r"|[\u2190-\u2bff\U0001f000-\U0001faff]\ufe0f?\s+\S[^.\n]{0,40})$"
)
"""`this → that`, or a sign and what it stands for, and nothing more."""
FORMULA = re.compile(r"^`?[A-Z][\w ()%-]{0,40} [=≈] [^=\n]*[-+*/−×÷∑Σ(][^=\n]*")
PLACEHOLDER = re.compile(r"^[^\n]{1,60}:\**\s*[\[<{][^\n]*[\]>}]$")
BLANK = re.compile(r"\[[^\]\n]{1,200}\](?!\()|<[a-z][^>\n]{0,200}>|\{\{?[^}\n]{1,200}\}|\.\.\.|…|_{3,}")
"""Places in a template that are to be filled in."""
DIRECTIVE_COLUMNS = re.compile(
    r"^\|?\s*(?:triggers?|situation|if\b|when\b|condition|excuse|user (?:says|asks|wants)|request|issue"
    r"|problem"
    r"|symptom|error|signal|failure)[^|]*\|(?:[^|]*\|)*?\s*(?:action|do\b|then\b|response|reality|behaviou?r"
    r"|what to do|how to handle|handling|instead|solution|fix|resolution|remedy)\b",
    re.IGNORECASE,
)
"""The head of a table that says what to do when: an occasion first, an action in a later column."""

CONDITIONS_LEAD = re.compile(
    r"\b(?:if|when|unless|until|only|before|after|conditions?|cases|outcomes|never|always|avoid|do not"
    r"|don['’]t"
    r"|mandatory|required|instead|must|should)\b[^:\n]{0,300}:\W*$",
    re.IGNORECASE,
)
"""A line before a list of conditions or of things to do or leave."""
REPORTS = re.compile(
    r"(?:^|[,.] )(?:then )?(?:report|respond|reply|answer|output|present|deliver"
    r"|summari[sz]e)\b[^.\n]{0,300}(?<!when):\W*$",
    re.IGNORECASE,
)
"""A line before a list of what to write."""
SORTS = re.compile(
    r"^(?:identify|determine|detect|assign|map|choose|select|pick)\b[^.\n]{0,40}"
    r"\b(?:types?|category|categories|severity|priority|level|tier|class)(?=\s*(?:$|[(:,.–—]|of\b|from\b"
    r"|using\b))",
    re.IGNORECASE,
)
"""To find which one of a set something is."""
DIRECTIVE_LINE = re.compile(
    r"^\s*(?:IF|WHEN|BEFORE|AFTER|FOR|UNLESS|NEVER|ALWAYS|STOP|DO NOT|ELSE|OTHERWISE)\b", re.MULTILINE
)

RULE = re.compile(
    r"\b(?:must(?: not)?|never|always|do not|don['’]t|should(?: not|n['’]t)?|shall|avoid|ensure|prohibited"
    r"|forbidden|mandatory|no exceptions?|prefer|make sure)\b",
    re.IGNORECASE,
)
STRONG_RULE = re.compile(
    r"^no\s|\b(?:must(?: not)?|never|always|do not|don['’]t|shall|forbidden|mandatory|prohibited"
    r"|no exceptions?)\b",
    re.IGNORECASE,
)
OUTPUT = re.compile(
    r"\b(?:output|respon(?:se|d)|reply|answer|report|final (?:message|result|answer)|summary|deliverable"
    r"|markdown|code blocks?|emojis?|tone|wording|headings?|bullet points?|\d+ words|sentences?"
    r"|paragraphs?)\b",
    re.IGNORECASE,
)
WRITES = re.compile(
    r"\b(?:always|never|only|do not|don['’]t|must(?: not)?|should(?: not)?)\s+(?:cite|quote|mention"
    r"|display|show"
    r"|present|print|output|respond|reply|summari[sz]e|say|claim|include (?:sections?|headings?|emojis?))\b"
    r"|^(?:the )?(?:final )?(?:output|response|answer|reply)\b",
    re.IGNORECASE,
)
"""A rule whose verb is an act of writing, or whose subject is the output."""
PERSONA = re.compile(
    r"^(?:you(?:'re| are)\b|act as\b|your (?:role|mission|job|task|goal|purpose) is\b|as an? [\w -]{2,40},"
    r"|this (?:skill|agent|command|plugin|workflow|guide|tool)\b|i['’]m using\b|the goal of this\b)",
    re.IGNORECASE,
)
JUDGED = re.compile(r"\b(?:accurate|appropriate|reasonable|matches the spirit of)\b", re.IGNORECASE)

CREDENTIAL = re.compile(
    r"\b(?:[A-Z][A-Z0-9]*_)+(?:TOKEN|KEY|SECRET|PASSWORD|PAT|DSN|CREDENTIALS)\b|\bAPI key\b", re.ASCII
)

SHELL_LANGUAGES = frozenset(
    {"bash", "sh", "shell", "zsh", "console", "powershell", "ps1", "pwsh", "cmd", "bat", "fish", "terminal"}
)
SCHEMA_LANGUAGES = frozenset(
    {"json", "jsonc", "json5", "jsonschema", "yaml", "yml", "typescript", "ts", "python", "py"}
)
_HEADS = """
    git npm npx yarn pnpm pip pip3 uv uvx python python3 node docker kubectl helm terraform az aws
    gcloud gh curl wget make cargo go dotnet mvn gradle brew apt apt-get sudo bash sh ls cd mkdir cp
    mv rm cat grep rg find sed awk jq chmod export source poetry pytest ruff mypy psql mysql redis-
    cli ssh scp rsync tar unzip claude code bun deno php composer ruby bundle rails swift xcodebuild
    adb flutter dbt airflow prefect
"""
SHELL_HEADS = frozenset(_HEADS.split())

_ARCHETYPES: dict[Archetype, str] = {
    "C": r"hypothes[ie]s|root cause|investigat\w+|reproduc\w+|diagnos\w+|debug\w*",
    "D2": r"spawn\w*|sub-?agents?|dispatch\w*|ci/cd|orchestrat\w+|deploy\w*|parallel agents?",
    "A": r"analy[sz]\w+|audit\w*|review\w*|findings?|assess\w*|classif\w+|severity",
    "B": r"generat\w+|writ(?:e|ing)|creat\w+|draft\w*|template|produce\w*|document\w*",
    "E": r"guidelines?|best practices?|patterns?|checklists?|conventions?|principles?",
}
ARCHETYPE_WORDS = re.compile(
    rf"\b(?:{'|'.join(f'(?P<{archetype}>{words})' for archetype, words in _ARCHETYPES.items())})\b"
)
"""Words in small letters that speak for an archetype, each in the group of its name."""
