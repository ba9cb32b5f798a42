"""Words by which prose is tagged. A step is tagged by its first verb, a rule by its modal word."""

from __future__ import annotations

import re

from bridle.facts.compile import Archetype, Tag

_VERBS: dict[Tag, str] = {
    "EXTRACT": """
        read gather collect extract identify find parse list scan locate detect capture discover note record
        understand study examine inspect observe explore investigate trace map inventory enumerate get fetch
        retrieve receive obtain load look recognize count pull survey crawl grab""",
    "CLASSIFY": """
        classify categorize categorise triage label rank prioritize prioritise score rate grade bucket
        sort""",
    "GENERATE": """
        write draft create generate produce compose document describe summarize summarise report explain
        design propose present outline output build add implement author prepare define plan formulate
        suggest recommend offer form provide state name annotate render craft return print display show
        emit develop model sketch compile deliver include comment mention cite address""",
    "VALIDATE_DOMAIN": """
        check verify validate review test audit confirm ensure assess evaluate measure compare lint inspect
        analyze analyse diagnose profile benchmark cross-check double-check examine reproduce watch monitor
        prove""",
    "TRANSFORM": """
        convert refactor format rewrite translate transform reformat rename normalize normalise simplify
        migrate merge split move replace update modify edit change adapt restructure extract-and-move clean
        reduce minimize minimise optimize optimise tune apply group organize organise adjust trim strip
        remove delete""",
    "QUERY": "search query ask-the-index lookup consult grep browse research",
    "DECIDE": "decide choose select determine pick consider weigh conclude if when unless depending judge",
    "REMEDIATE": """
        fix repair retry resolve correct iterate repeat remediate recover debug loop revise refine""",
    "CONVERSE": "ask interview elicit clarify discuss prompt wait request",
    "ORCHESTRATE": """
        run execute install deploy start launch dispatch spawn set setup configure initialize initialise open
        commit push use call invoke follow proceed continue begin stop finish complete delegate
        schedule coordinate announce send upload download save store go make do enable disable connect log
        register publish release tag mark track handle keep stay skip work switch enter click navigate copy
        paste place put import export mount bind pin attach wrap isolate establish let then first next
        finally once after before exit close cancel restart stage checkout clone fork bump ship submit
        assign respond reply notify authenticate authorize activate integrate trigger load-up treat turn
        hand perform conduct check-in share walk try take give leave wire replay drive scaffold archive
        invalidate default process combine aggregate batch construct rely surface prefer avoid preserve""",
}
VERBS: dict[str, Tag] = {}
for _tag, _words in _VERBS.items():
    for _word in _words.split():
        VERBS.setdefault(_word, _tag)

ASK_USER = re.compile(
    r"\b(?:ask|prompt|interview|consult|check with|confirm with|wait for|request|clarify with)\b[^.\n]{0,40}"
    r"\b(?:user|human|partner|stakeholder|developer|customer|client|them|approval|confirmation)\b"
    r"|\buser (?:provides|confirms|approves|chooses|must (?:approve|confirm))\b|\bAskUserQuestion\b",
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
    r"^(?:see|read|learn more|refer to|consult|check|for (?:more|details|the full)|full|detailed|these)\b",
    re.IGNORECASE,
)
PATH_OR_LINK = re.compile(r"\]\([^)]+\)|`[\w./-]+\.\w{1,5}`|https?://")
NEEDS = re.compile(r"^(?:prerequisites?|requires|requirements)\b[^.]{0,3}:", re.IGNORECASE)
PREREQUISITE_HEADING = re.compile(r"\b(?:prerequisites?|system requirements|compatibility)\b", re.IGNORECASE)
FORBIDS = re.compile(r"^(?:do not|don['’]t|never|avoid)\b", re.IGNORECASE)
INPUT_HEADING = re.compile(r"^(?:inputs?|arguments?|parameters?|user input)\b", re.IGNORECASE)
INPUT = re.compile(r"\$\{input:([A-Za-z_]\w*)|\$ARGUMENTS\b")
CONCEPT_HEADING = re.compile(
    r"\b(?:concepts?|patterns?|strateg(?:y|ies)|fundamentals|types|categories|levels)\b", re.IGNORECASE
)
CONDITION = re.compile(r"^(?:if|when|unless|depending on|in case)\b", re.IGNORECASE)

RULE = re.compile(
    r"\b(?:must(?: not)?|never|always|do not|don['’]t|should(?: not|n['’]t)?|shall|avoid|ensure|prohibited"
    r"|forbidden|mandatory|no exceptions?|prefer|make sure)\b",
    re.IGNORECASE,
)
STRONG_RULE = re.compile(
    r"\b(?:must(?: not)?|never|always|do not|don['’]t|shall|forbidden|mandatory|prohibited|no exceptions?)\b",
    re.IGNORECASE,
)
OUTPUT = re.compile(
    r"\b(?:output|respon(?:se|d)|reply|answer|report|final (?:message|result|answer)|summary|deliverable"
    r"|markdown|code block|emoji|tone|wording|headings?|bullet points?|words?|sentences?|paragraphs?)\b",
    re.IGNORECASE,
)
PERSONA = re.compile(
    r"^(?:you(?:'re| are)\b|act as\b|your (?:role|mission|job|task|goal|purpose) is\b|as an? [\w -]{2,40},"
    r"|this (?:skill|agent|command|plugin|workflow|guide|tool)\b|i['’]m using\b|the goal of this\b)",
    re.IGNORECASE,
)
JUDGED = re.compile(r"\b(?:accurate|appropriate|reasonable|matches the spirit of)\b", re.IGNORECASE)

# Headings, by what stands under them.
PROCEDURE_HEADING = re.compile(
    r"\b(?:workflow|process|procedure|steps?|instructions?|how to (?:use|run|apply|do|proceed)|phases?"
    r"|directives?|execution|quick ?start|getting started|usage|checklist|protocol|implementation"
    r"|methodology|approach"
    r"|algorithm|sequence|runbook|playbook|pipeline|method|the cycle|loop|installation|set-?up|task)\b",
    re.IGNORECASE,
)
EXAMPLE_HEADING = re.compile(
    r"\b(?:examples?|sample|anti-?patterns?|bad|good|before|after|demo|illustration|scenario)\b",
    re.IGNORECASE,
)
NOT_STEPS_HEADING = re.compile(
    r"\b(?:anti-?patterns?|benefits?|red flags?|mistakes?|pitfalls?|faqs?|when (?:not )?to use|principles?"
    r"|why|rationali[sz]ations?|resources?|references?|see also|learn more|features?|capabilities|concepts?"
    r"|best practices|guidelines|rules|types? of|key (?:ideas|points|takeaways)|limitations?|overview|tips"
    r"|troubleshooting|success criteria|guardrails?|constraints?|requirements|prerequisites?|modes?|options"
    r"|criteria|priority order|hierarchy|questions?)\b",
    re.IGNORECASE,
)
RULE_HEADING = re.compile(
    r"\b(?:rules?|constraints?|guidelines?|guardrails?|principles?|best practices|do['’]?s\b"
    r"|don['’]ts|must|never|always|red flags?|mistakes?|anti-?patterns?|pitfalls?|requirements"
    r"|policy|policies|critical|contract|required"
    r"|important|conventions?|standards?|safety|security considerations|boundaries|iron law|tips|common"
    r"|considerations|avoid|warnings?|notes?|gotchas?)\b",
    re.IGNORECASE,
)
WHEN_HEADING = re.compile(
    r"(?:^when\b|\bwhen (?:not )?to (?:use|apply|activate|invoke)\b)|\b(?:use (?:this|when)|triggers?"
    r"|applicability|activation|scope|use cases?|when this)\b",
    re.IGNORECASE,
)
IDENTITY_HEADING = re.compile(
    r"\b(?:role|persona|identity|mission|purpose|overview|introduction|about|who you are|objective|goals?"
    r"|context|core principle|philosophy|expertise|summary|background)\b",
    re.IGNORECASE,
)
ENVIRONMENT_HEADING = re.compile(
    r"\b(?:prerequisites?|dependenc(?:y|ies)|environment|installation|install|set-?up|system requirements"
    r"|compatibility|platforms?|versions?)\b",
    re.IGNORECASE,
)
OUTPUT_HEADING = re.compile(
    r"\b(?:outputs?|response|report|deliverables?|result|format|template|schema)\b", re.IGNORECASE
)
LINKS_HEADING = re.compile(
    r"\b(?:references?|resources?|see also|related|further reading|links|credits|acknowledg\w+|license"
    r"|changelog|documentation|bundled|supporting files|additional|next steps|learn more|integration with)\b",
    re.IGNORECASE,
)
MEMORY_HEADING = re.compile(r"\b(?:memory|state|session notes|scratchpad)\b", re.IGNORECASE)
CREDENTIAL = re.compile(
    r"\b(?:[A-Z][A-Z0-9]*_)+(?:TOKEN|KEY|SECRET|PASSWORD|PAT|DSN|CREDENTIALS)\b|\bAPI key\b", re.ASCII
)

SHELL_LANGUAGES = frozenset(
    {"bash", "sh", "shell", "zsh", "console", "powershell", "ps1", "pwsh", "cmd", "bat", "fish", "terminal"}
)
SCHEMA_LANGUAGES = frozenset({"json", "jsonc", "json5", "jsonschema"})
_HEADS = """
    git npm npx yarn pnpm pip pip3 uv uvx python python3 node docker kubectl helm terraform az aws
    gcloud gh curl wget make cargo go dotnet mvn gradle brew apt apt-get sudo bash sh ls cd mkdir cp
    mv rm cat grep rg find sed awk jq chmod export source poetry pytest ruff mypy psql mysql redis-
    cli ssh scp rsync tar unzip claude code bun deno php composer ruby bundle rails swift xcodebuild
    adb flutter dbt airflow prefect
"""
SHELL_HEADS = frozenset(_HEADS.split())

ARCHETYPE_WORDS: tuple[tuple[Archetype, re.Pattern[str]], ...] = (
    (
        "C",
        re.compile(r"\b(?:hypothes[ie]s|root cause|investigat\w+|reproduc\w+|diagnos\w+|debug\w*)\b", re.I),
    ),
    (
        "D2",
        re.compile(
            r"\b(?:spawn\w*|sub-?agents?|dispatch\w*|ci/cd|orchestrat\w+|deploy\w*|parallel agents?)\b",
            re.I,
        ),
    ),
    (
        "A",
        re.compile(r"\b(?:analy[sz]\w+|audit\w*|review\w*|findings?|assess\w*|classif\w+|severity)\b", re.I),
    ),
    (
        "B",
        re.compile(
            r"\b(?:generat\w+|writ(?:e|ing)|creat\w+|draft\w*|template|produce\w*|document\w*)\b", re.I
        ),
    ),
    (
        "E",
        re.compile(
            r"\b(?:guidelines?|best practices?|patterns?|checklists?|conventions?|principles?)\b", re.I
        ),
    ),
)
