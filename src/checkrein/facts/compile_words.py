"""Words that give prose its tags. A step's first verb and a rule's modal word choose the tag."""

from __future__ import annotations

import re

from checkrein.facts.compile import Archetype

NUMERALS = r"[ivx]+|one|two|three|four|five"
"""Numbers of steps and phases in words."""

ASK_USER = re.compile(
    r"(?:^|[.;:,—–] *|\b(?:and|or|then|must|should|to|will|please|always|first|need to) )"
    r"(?:ask|prompt|interview|consult|check with|confirm with|wait for|request|clarify with|raise|pause for"
    r"|await|stop for)\b[^.\n]{0,40}\b(?:user|human|partner|stakeholder|developer|customer|client|team"
    r"|them|approval|sign-?off|author|lead"
    r"|confirmation|permission|clarification)\b"
    r"|(?<!when )(?<!if )(?<!when the )(?<!if the )\buser (?:provides|confirms|approves|chooses"
    r"|must (?:approve|confirm))\b|\b(?:AskUserQuestion|ask_user)\b"
    r"|^get (?:the go|sign-?off|approval|confirmation)\b|\bwait for (?:a|the) go\b|^offer to\b"
    r"|^(?:review|agree|discuss|walk through)\b[^.\n]{0,30}"
    r"\bwith (?:the |your )?(?:user|lead|team|author|stakeholders?|owner|customer)\b"
    r"|^user (?:confirmation|approval)\b|\bask\b[^.\n]{0,40}\bclarifying questions?\b",
    re.IGNORECASE,
)
ASKED = (
    *("user", "human", "partner", "stakeholder", "developer", "customer", "client", "team", "them", "author"),
    *(
        "lead",
        "owner",
        "approval",
        "confirmation",
        "permission",
        "clarification",
        "sign",
        " go",
        "offer",
        "question",
    ),
)
"""Every match of ASK_USER holds one of these."""
ASKING = (
    *("ask", "request", "prompt", "wait", "pause", "stop", "check with", "confirm with", "agree", "discuss"),
    *("clarif", "interview", "interrogate", "elicit"),
)
"""Every match of ASKS, and every text that starts with a verb of asking, holds one of these."""
REPEAT = re.compile(
    r"\b(?:repeat until|until (?:all|the|it|no|every)\b[^.\n]{0,60}\b"
    r"(?:pass|green|clean|fixed|resolved|succeed)"
    r"|fix (?:it|them|any|all|issues|errors|failures)\b[^.\n]{0,40}\b(?:again|re-?run|re-?check|retry)"
    r"|re-?run until|iterate until|loop until|retry until)",
    re.IGNORECASE,
)
FINDS_OUT = re.compile(
    r"^(?:analy[sz]e|check|review|compare)\b.{0,60}"
    r"\bto (?:identify|extract|infer|determine|find|get|understand)\b"
    r"|^(?:check|review) (?:the )?(?:existing|current|available|latest)\b|^run\b.{0,40}\bto (?:review|see)\b",
    re.IGNORECASE,
)
POINTER = re.compile(
    r"^(?:(?:files?|path|location)\b\W{0,4}:|(?:see|read|learn more|refer to|consult|check|for (?:more"
    r"|details|the full)|full|detailed|more on|these|related \w+|for [^.\n]{1,150}[,:] (?:see|read"
    r"|refer to|consult"
    r"|check))\b|the [\w./-]+/? (?:directory|folder) (?:contains|holds|has)\b)",
    re.IGNORECASE,
)
LOOKS = re.compile(r"^(?:check|read|consult)\b", re.IGNORECASE)
DOCUMENT = re.compile(
    r"\]\(|https?://|\b(?:references?|resources|docs?|guides?|templates|assets)/|\.(?:md|txt|pdf|html)\b"
)
"""A look at a document is a pointer; a look at a file of the project is work."""
LIVES_IN = re.compile(
    r"\b(?:lives? in|moved to|documented in|described in|explained in|covered in|listed in|found in"
    r"|available in|(?:is|are) in)"
    r"\s+(?:[`\[(]*[\w./-]*/[\w./-]+|the [\w-]+ skill\b)"
    r"|^[^.:\n]{0,60}: (?:see|refer to)\b[^.\n]{0,60}\b[\w-]+/[\w./-]+\.md\b"
    r"|^for\b[^.\n]{1,100}\bsee the [\w-]+ skill\b",
    re.IGNORECASE,
)
PROJECT_FILE = re.compile(r"^[-*\s]*`(?:\.github/|(?:README|AGENTS|CLAUDE|CONTRIBUTING|CHANGELOG)\.md`)")
"""A file of the user's project, not of the skill."""
PATH_OR_LINK = re.compile(
    r"\]\([^)]{1,500}\)|`[\w./-]{1,200}(?:\.\w{1,5}|/)`|https?://|\b[\w-]{1,60}(?:\.[\w-]{1,60}){1,4}/\S"
    r"|\b(?:references?|resources|docs|assets|guides?|templates)/[\w./-]{2,}"
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
FORBIDDING = re.compile(
    r"\b(?:never|not|don['’]?ts?|avoid(?:ed|ing)?|without|exclude[ds]?|omit|forbidden|banned|prohibited|no"
    r"|anti-?patterns?|red flags?|mistakes|pitfalls|bad|wrong)\b",
    re.IGNORECASE,
)
"""A heading, or the line before a list, that reverses the meaning of what is below it."""
BLANK_BELOW = re.compile(r"^[^\n]{2,160}:[ \t]*\n\s*(?:[-*]\s+)?`?\[[^\]\n]{3,200}\]`?\s*(?:\n|$)")
"""An item that names something, with a blank to fill in below it."""
INPUT_KEYS = re.compile(r"^(?:inputs?|given|arguments?)$", re.IGNORECASE)
"""Keys of a line that says what the caller gives, such as `Input: ...`."""
PLACEHOLDER_KEY = re.compile(r"^<[\w -]{1,40}>$")
COMMAND_LINE = re.compile(r"^\$?\s*([\w.-]+)\s(?=[^\n]*(?:--?\w|/))[^\n]*[^.\n:]$")
"""A paragraph that is only a command: its program, and an option or a path."""
INPUT = re.compile(r"\$\{(?:input:([A-Za-z_]\w*)|([A-Z][A-Z_]*)=)|\$ARGUMENTS\b")
CONDITION = re.compile(r"^(?:if|when|unless|depending on|in case)\b", re.IGNORECASE)

LIMIT = re.compile(
    r"\b(?:under|below|at most|(?:no|not) more than|max(?:imum)?(?: of)?|fewer than|less than|up to|within"
    r"|exactly|not exceed)\s+[\w-]+\s+(?:words?|characters?|chars?|lines?|sentences?|paragraphs?|pages?"
    r"|findings|bullets|points)\b"
    r"|\b\d+\s+(?:words?|characters?|chars?|sentences?)\s+(?:at most|or less|or fewer|max)",
    re.IGNORECASE,
)
"""The permitted length of a text."""
IN_ORDER = re.compile(
    r"^(?!.*\b(?:sections?|parts|headings|fields|columns)\b).*\b(?:in (?:this )?order|these steps"
    r"|following steps|step by step|like this|as follows)\b[^\n]*:\W*$|^I['’]ll\b[^\n]*:$",
    re.IGNORECASE,
)
CHOICE = re.compile(
    r"^(?:(?:or )?else )?(?:if|when|unless|otherwise)\b|^(?:use|choose|pick"
    r"|prefer)\b(?:[^.\n]|\.(?=\S)){1,60}\b(?:when|if|for)\b",
    re.IGNORECASE,
)
TAG_ONLY = re.compile(r"^</?[a-z][\w-]*>$", re.IGNORECASE)
USE_TO = re.compile(r"^use (?:this|it)(?: \w+)? to\b", re.IGNORECASE)
USE_WHEN = re.compile(
    r"^(?:use|apply|invoke|activate|load) (?:this|it)(?: \w+)? (?:only )?(?:when|if|for|whenever|any ?time)\b"
    r"|^(?:do not|don['’]t) use (?:this|it)\b|^use when\b|^use for\b",
    re.IGNORECASE,
)
LOOKUP = re.compile(
    r"^(?:`[^`\n]{1,60}`\s*[:=–—-]\s*`[^`\n]{1,60}`|[\w-]{1,30} →\s[^.\n→]{1,100}"
    r"|[^\n→⇒=.]{1,70}\s(?:→|⇒|->|=>)\s(?:`[^`\n]{1,60}`|[\"“][^\n→⇒]{1,200}|\S+(?: \S+)?)"
    r"|[\u2190-\u2bff\U0001f000-\U0001faff]\ufe0f?\s+\S[^.\n]{0,40})$"
)
"""Only `this → that`, or a sign and its meaning."""
FORMULA = re.compile(
    r"^(?:The )?[\w ]{3,40} is (?:computed as )?`[^`\n]{0,200}[-+*/×÷][^`\n]{0,200}`"
    r"|^`?[A-Z][\w ()%-]{0,40} [=≈] [^=\n]*[-+*/−×÷∑Σ(][^=\n]*"
)
LINK_END = re.compile(r"^[^→\n]{1,60}\s→\s<?https?://\S+$")
TICKS = "✅❌✓✔✗✘☑⚠"
"""Signs for good and bad examples; only a legend explains them."""
AMOUNT = re.compile(r"^\W{0,2}\d[\d.,]*\W{0,2}\w{0,2}(?:\s?[-–—]\s?\W?\d[\d.,]*\W{0,2}\w{0,2})?(?: \w+)?$")
"""A number or a range of numbers with its unit."""
PLACEHOLDER = re.compile(
    r"^(?:[^\n]{1,60}:\**\s*(?!<https?:)[\[<{][^\n]*[\]>}]|\[[^\]\n]{3,60}\]|\{\{\s*\w+\s*\}\})$"
)
BLANK = re.compile(r"\[[^\]\n]{1,200}\](?!\()|<[a-z][^>\n]{0,200}>|\{\{?[^}\n]{1,200}\}|\.\.\.|…|_{3,}")
"""Blanks to fill in, in a template."""
DIRECTIVE_COLUMNS = re.compile(
    r"^\|?\s*(?:(?:#|no\.?|id)\s*\|\s*)?(?:triggers?|situation|scenario|anti-?pattern|you (?:want"
    r"|need)|if\b|when\b|condition|excuse"
    r"|user (?:says|asks|wants)|request|issue"
    r"|problem"
    r"|symptom|hypothesis|error|signal|failure)[^|]*\|(?:[^|]*\|)*?\s*(?:action|do\b|then\b|response"
    r"|reality|behaviou?r"
    r"|what to do|how to handle|handling|instead|solution|fix|resolution|remedy|(?:quick )?check"
    r"|what to \w+|run|better|\w+ to use)\b",
    re.IGNORECASE,
)
"""The head of a table of actions: the occasion first, the action in a later column."""

CONDITIONS_LEAD = re.compile(
    r"^(?!(?:before|after)\W*$).*?\b(?:if|when|unless|until|only|before|after|conditions?|cases"
    r"|outcomes|never|always|avoid|do not"
    r"|don['’]t"
    r"|mandatory|required|instead|must|should)\b[^:\n]{0,300}:\W*$",
    re.IGNORECASE,
)
"""A line before a list of conditions or of dos and don'ts."""
OPTIONS_LEAD = re.compile(
    r"^(?:(?:key|main|common|typical|available|supported|core|popular|different)\s+)?(?:approaches"
    r"|options|strategies|techniques"
    r"|types|methods|models|variants|kinds|choices|benefits|advantages|characteristics|components"
    r"|features|capabilities"
    r"|tools|formats|fields|properties|parameters|patterns|terms|metrics)\b[^.:\n]{0,40}:?$",
    re.IGNORECASE,
)
"""A line before a list of what exists."""
RULES_LEAD = re.compile(
    r"^(?:[\w-]+ )?(?:practices|rules|guidelines|tips|dos|don['’]ts|principles|pitfalls|mistakes)\W*$"
    r"|^what (?:not )?to \w+\b[^.]{0,40}$",
    re.IGNORECASE,
)
"""A few words before a list of dos and don'ts."""
REPORTS = re.compile(
    r"(?:^|[,.] )(?:then )?(?:report|respond|reply|answer|output|present|deliver|provide"
    r"|summari[sz]e)\b[^.\n]{0,300}(?<!when):\W*$",
    re.IGNORECASE,
)
"""A line before a list of what to write."""
SORTS = re.compile(
    r"^(?:decide which|(?:identify|determine) whether|mark [^.\n]{1,30} as)\b"
    r"|^(?:identify|determine|detect|assign|set|map|choose|select|pick)\b[^.\n]{0,40}"
    r"\b(?:types?|category|categories|severity|priority|level|tier|class)(?=\s*(?:$|[(:,.–—]|of\b|from\b"
    r"|using\b))",
    re.IGNORECASE,
)
"""Work that finds which one of a set something is."""
SEVERAL = re.compile(
    r"\b(?:each|every|all)\b|\b(?:issues|findings|results|changes|items|tasks|files|rows|entries|records"
    r"|tickets|incidents|requests|messages|comments|errors|failures|tests|packages|dependencies|columns|lines"
    r"|projects|candidates|options|proposals|savings|solutions|completions|threads|meetings|gaps|risks|claims"
    r"|criteria|priorities|hires)\b",
    re.IGNORECASE,
)
"""Things that a step sorts many of."""
WHEN_COLUMNS = re.compile(
    r"\|\s*(?:use (?:when|for|if)|when(?: to \w+)?|what to do|recommend\w*(?: \w+)?)\s*(?:\||$)"
    r"|^[^|]*\|[^|]+\|\s*action\s*\|?\s*$|^\|?\s*(?:rule|principle|practice|scenario|use case)s?\s*\|"
    r"|^\|?\s*(?:the )?user (?:wants|says|asks)|^\|?\s*(?:task|need|goal)\s*\|\s*(?:load|read|use)\b",
    re.IGNORECASE,
)
"""The head of a table of choices: when to use what."""
SAYS_LEAD = re.compile(
    r"\b(?:respond|reply|answer|say|tell (?:the user|them)|greet|announce)\b[^.\n]{0,40}:\W*$", re.IGNORECASE
)
"""A line before the words to say."""
QUESTIONS_LEAD = re.compile(
    r"\bask (?:the user|them|targeted|these|the following|about|clarifying)\b[^\n]{0,80}:\W*$"
    r"|(?:^|, |\bthen )ask:\W*$|^questions? to (?:ask|the user)\b",
    re.IGNORECASE,
)
"""A line before a list of what to ask a person."""
GIVES = re.compile(
    r"^(?:the (?:user|caller) (?:gives|provides)|you (?:get|are given|receive)|invoke as|arguments"
    r"|expects?)\b[^.\n]{0,80}[:.]$"
    r"|^(?:usage instructions:\s*)?to use this \w+[^.\n]{0,40}, provide\b[^.\n]*:$",
    re.IGNORECASE,
)
"""A line before a list of what the caller gives."""
REQUESTS = re.compile(
    r"\b(?:say|respond|reply)\b[^\"“\n]{0,20}[\"“][^\"”\n]*(?:\bplease\b|\?)", re.IGNORECASE
)
DIRECTIVE_LINE = re.compile(
    r"^[ \t]*(?:IF|WHEN|BEFORE|AFTER|FOR|UNLESS|NEVER|ALWAYS|STOP|DO NOT|ELSE|OTHERWISE)\b", re.MULTILINE
)

DEMANDS = re.compile(r"\b(?:must|should|shall|only|nothing else|always|never|do not)\b", re.IGNORECASE)
"""A line before a template that asks for more than its use."""

_NEVER = r"(?:^|[.;:!?,—–(-] ?|\b(?:you|agents?|and|or|but|then|should) )(?:never|always|do not|don['’]t)\b"
"""An order to the agent: at the start of a clause or after `you`, not about a thing that never does it."""
RULE = re.compile(
    rf"{_NEVER}|\b(?:must(?: not)?|should(?: not|n['’]t)?|shall|avoid|ensure|prohibited"
    r"|forbidden|mandatory|no exceptions?|prefer|make sure)\b",
    re.IGNORECASE,
)
STRONG_RULE = re.compile(
    r"^no\s|\b(?:must(?: not)?|may not|shall|forbidden|mandatory|prohibited|no exceptions?)\b"
    rf"|{_NEVER}",
    re.IGNORECASE,
)
MODAL = (
    *("must", "should", "shall", "may not", "never", "always", "do not", "don't", "don’t", "avoid", "ensure"),
    *("prohibited", "forbidden", "mandatory", "no exception", "prefer", "make sure"),
)
"""Every match of RULE and STRONG_RULE holds one of these, or starts with `no`."""
OUTPUT = re.compile(
    r"\b(?:output|respon(?:se|d)|reply|answer|report|generated \w+"
    r"|final (?:message|result|answer)|summary|deliverable"
    r"|markdown|code blocks?|emojis?|tone|wording|headings?|bullet points?|\d+ words|sentences?"
    r"|paragraphs?)\b",
    re.IGNORECASE,
)
WRITES = re.compile(
    r"\b(?:always|never|only|do not|don['’]t|must(?: not)?|should(?: not)?)\s+(?:cite|quote|mention"
    r"|display|show"
    r"|present|print|output|respond|reply|summari[sz]e|say|claim|include (?:sections?|headings?|emojis?))\b"
    r"|^(?:the )?(?:final )?(?:output|response|answer|reply)\b(?! from)|^(?:always |only )?(?:respond"
    r"|reply)\b",
    re.IGNORECASE,
)
"""A rule whose verb is an act of writing, or whose subject is the output."""
THERE = re.compile(
    r"\b(?:requires?|needs?|must be|available|running|install\w*|configured|set)\b", re.IGNORECASE
)
SOFTWARE = re.compile(
    r"\d\+|\d\.\d|`[^`]+`|\b(?:version|installed|access|server|CLI|account|newer|package|SDK)\b"
)
FILES = re.compile(
    r"\b(?:folders?|director(?:y|ies)|branch(?:es)?|files?|commands?|scripts?|tools?)\b", re.IGNORECASE
)
"""Containers and tools of a text; a line about these is work, not writing."""
FOLLOWS = re.compile(
    r"\bfollow (?:this|these|the)\b[^.\n]{0,20}\b(?:process|steps|workflow|procedure)\b", re.IGNORECASE
)
EDITS = re.compile(
    r"\b(?:edit|modif(?:y|ies)|change|touch|delete)s?\b[^.\n]{0,30}\b(?:files?|data|code)\b", re.IGNORECASE
)
"""Work on existing things, even in a spec for writing."""
QUESTION = re.compile(
    r"^ask\b(?:[.!]?$|[.!] |\s+(?:which|whether|for|if|what|who|how|when|where|about)\b"
    r"|[^.\n]{0,30}\bwhether\b"
    r"|[^.\n]{0,40}(?:\bquestions?\b|[:?]))",
    re.IGNORECASE,
)
SOURCE_KEYS = re.compile(
    r"^(?:references?|details|more(?: \w+)?|docs|documentation|source|guide)$", re.IGNORECASE
)
DELIVERS = re.compile(
    r"\b(?:creat|generat|transform|tell|writ|draft|produc|compos|author|updat|document|rewrit|summari[sz]"
    r"|format|prepar|maintain|mak|turn|translat)(?:e|es|s|ing|ings)?\b(?:(?!\bwith\b)(?:[^.;\n]|\.(?=\S))){0,60}?\b(?:[\w-]{1,60}\.(?:md|txt)|documents?"
    r"|documentation|plans?"
    r"|decision records?|reports?|posts?|readme|specs?|specifications?|prds?|adrs?|summar(?:y|ies)|articles?"
    r"|guides?|messages?|comments?|changelogs?|release notes|e-?mails?|newsletters?|proposals?|briefs?"
    r"|essays?|copy|stor(?:y|ies)|post-?mortems?|runbooks?|tutorials?|tickets?|issues?|epics?|prompts?"
    r"|blogs?|text|prose|letters?|resumes?|minutes|slides|presentations?|diagrams?|journals?|content|writing"
    r"|notes?|repl(?:y|ies)|agendas?|handovers?|texts?|findings|(?:journal|log|diary|daily) entr(?:y"
    r"|ies)|translations?|captions?|threads?|narratives?|markdown)\b"
    r"|\b(?:response|reply|answer|output|communication|writing) (?:style|mode|compression)\b",
    re.IGNORECASE,
)
"""A description of a skill that writes a text, or that is about the wording of answers."""
ITSELF = re.compile(r"\b(?:skill|agent|command|guide|workflow|you)\b", re.IGNORECASE)
PERSONA = re.compile(
    r"^(?:you(?:'re| are)\b|act as\b|your (?:role|mission|job|task|goal|purpose) is\b|as an? [\w -]{2,40},"
    r"|this (?:skill|agent|command|plugin|workflow|guide|tool)\b(?! (?:includes|contains|ships|bundles))"
    r"|i['’]m using\b|the goal of this\b)",
    re.IGNORECASE,
)
JUDGED = re.compile(r"\b(?:accurate|appropriate|reasonable|matches the spirit of)\b", re.IGNORECASE)

FACT_KEYS = re.compile(
    r"^(?:symptoms?|(?:root |likely )?causes?|problem|why\b.*|reasons?|rationale|impact|effect|bad"
    r"|good|wrong|right|before|after"
    r"|context|background"
    r"|meaning|purpose|pros|cons|trade-?offs?|benefits?|drawbacks?|best for|examples?|e\.g\.)$",
    re.IGNORECASE,
)
"""Keys of a line that explains: `Cause: ...`."""
ACT_KEYS = re.compile(
    r"^(?:fix(?:es)?|solutions?|checks?|actions?|workarounds?|prevention|mitigation|remed(?:y|ies)"
    r"|resolution|instead"
    r"|do|don['’]t|how to .*|what to do)$",
    re.IGNORECASE,
)
"""Keys of a line that says what to do: `Fix: ...`."""
CREDENTIAL = re.compile(
    r"\b(?:[A-Z][A-Z0-9]*_)+(?:TOKEN|KEY|SECRET|PASSWORD|PAT|DSN|CREDENTIALS)\b|\bAPI key\b", re.ASCII
)

DRAWING = ("├", "└", "│", "┌", "┐", "▼", "+--")
"""Signs of a drawing or a tree of files."""
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
_INITIALS = "".join(sorted({word[0] for words in _ARCHETYPES.values() for word in words.split("|")}))
_NAMED = "|".join(f"(?P<{archetype}>{words})" for archetype, words in _ARCHETYPES.items())
ARCHETYPE_WORDS = re.compile(rf"(?=[{_INITIALS}])\b(?:{_NAMED})\b")
"""Lower-case words that indicate an archetype, each in the group of its name."""
