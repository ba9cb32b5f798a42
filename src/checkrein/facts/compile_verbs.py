"""Verbs that start an instruction, by the kind of work they name; and the small words around them."""

from __future__ import annotations

import re

from checkrein.facts.compile import Tag
from checkrein.facts.shell_words import words

_VERBS: dict[Tag, str] = {
    "EXTRACT": """
        read gather collect extract identify find parse list scan locate detect capture discover note record
        understand study examine inspect observe explore investigate trace map inventory enumerate get fetch
        retrieve receive obtain load look recognize recognise count pull survey crawl grab learn search spot
        harvest query lookup research infer derive resolve analyze analyse interpret""",
    "CLASSIFY": """
        classify categorize categorise triage label rank prioritize prioritise score rate grade bucket
        sort""",
    "GENERATE": """
        write draft create generate produce compose document describe summarize summarise report explain
        design propose present outline output build add implement author prepare define plan formulate
        suggest recommend offer form tell inform
        provide state name annotate render craft return print display show
        emit develop model sketch compile deliver include comment mention cite address construct brainstorm
        illustrate devise reconstruct restate synthesize synthesise narrate scaffold code
        respond reply recite populate""",
    "VALIDATE_DOMAIN": """
        check verify validate review test audit confirm ensure assess evaluate measure compare lint
        diagnose profile benchmark cross-check double-check reproduce watch monitor
        prove reconcile critique recheck re-check estimate quantify assert screen""",
    "TRANSFORM": """
        convert refactor format rewrite translate transform reformat rename normalize normalise simplify
        migrate merge split move replace update modify edit change adapt restructure clean cleanup
        reduce minimize minimise optimize optimise tune apply group organize organise adjust trim strip
        remove delete standardize standardise consolidate flatten compress shorten expand swap rework
        polish deduplicate port upgrade downgrade insert append enrich extend customize customise
        substitute order put link""",
    "QUERY": "consult grep browse",
    "DECIDE": """
        decide choose select determine pick consider weigh conclude if when unless depending judge""",
    "REMEDIATE": """
        fix repair retry correct remediate recover debug revise refine""",
    "CONVERSE": "ask interrogate interview elicit clarify discuss prompt wait request agree",
    "DETERMINISTIC": "calculate compute",
    "ORCHESTRATE": """
        run execute install deploy start launch dispatch spawn set setup configure initialize initialise open
        commit push use call invoke follow proceed continue begin stop finish complete delegate
        schedule coordinate announce send upload download save store go make do enable disable connect log
        register publish release tag mark track handle keep stay skip work switch enter click navigate copy
        paste place put import export mount bind pin attach wrap isolate establish let
        exit close cancel restart stage checkout clone fork bump ship submit
        assign notify authenticate authorize authorise activate integrate trigger treat turn
        hand perform conduct share walk try take give leave wire replay drive archive
        invalidate default process combine aggregate batch rely surface prefer avoid preserve
        raise escalate remember limit focus maintain adhere acknowledge
        pass pair bring allow block prevent protect secure encrypt
        separate chain cache reuse reserve respect honor honour
        assume expect inject
        require restrict plug point
        refer link lead guide help support teach train balance encourage
        emphasize emphasise highlight cover sign seed sync rotate scale
        serve simulate subscribe tie
        defer drop reject accept approve flag pause adopt favor favour
        reference specify declare invest leverage strive aim cross-reference
        stick embrace cut roll ignore
        mock stub version sample tailor match automate manage omit fail fill act gate improve exclude
        increase decrease say host mix touch remind enforce restore view structure route frame kill
        iterate repeat loop propagate backfill email override be
        ingest celebrate clear fall supplement whitelist blocklist allowlist retain hide""",
}
VERBS: dict[str, Tag] = {}
for _tag, _listed in _VERBS.items():
    for _word in _listed.split():
        VERBS.setdefault(_word, _tag)

NOUNS = words(
    """
    name state form model test report plan document design output list note map record label score rate rank
    build work process log address set store track schedule release load comment trace profile change order
    point return update format review tag sample version code cache link guide block support limit focus
    sequence port group batch stage default surface request prompt count query search index research survey
    start stop finish open close commit
    place turn hand share help scale sign cut roll sync trigger import export
    fork clone tie mock stub fix repair check measure audit loop purpose goal result summary use copy
    """
)
"""Verbs that are often nouns: they count as verbs only when the next words fit."""

PARTS = re.compile(
    r"\b(?:sections?|head(?:er|ing)s?|titles?|tables?|templates?|front ?matter|fields?"
    r"|identifiers?|prefix(?:es)?"
    r"|placeholders?|descriptions?|phases?|tasks?|paragraphs?|sentences?|words?|bullets?|links?|quotes?|citations?"
    r"|tone|language|style|voice|formats?|content|text|documents?|entr(?:y|ies)|criteria|summary|plans?|reports?"
    r"|posts?|names?|naming|journals?|readers?|audience|specifications?|markdown)\b",
    re.IGNORECASE,
)
"""Parts and kinds of a text."""
MOSTLY_NOUNS = words("reference guide model state form rate order surface default version clear")
"""Verbs only before an article: `Model Architecture Analysis` is about analysis."""

AFTER_NOUNS = words(
    """
    is are was were has have had must should can could will would may might of vs per does do gets
    """
)
"""What follows a noun, never a verb that starts an instruction."""

AFTER_VERBS = words(
    """
    the a an all each every any your its their our these those this it them both
    """
)
"""After a word from no list, these show that it is a verb: `Scaffold the project`."""

NO_VERBS = words(
    """
    the a an all each every any your its their our my these those this that it them both no only some most
    many few one two three in on at by for from with without within to of as like than and or but nor so
    if when while where who what which why how because since though although unless until is are was were
    be been being has have had must should can could will would may might not never always also just even
    i you he she we they there here other another same such more less per via about over under between
    against during through across into onto upon toward towards not yes
    """
)

OPENERS = words(
    "you to now then please and always also will must should can may might first next finally "
    "immediately simply just only"
)
"""Words before the verb of an instruction."""

NOMINAL: dict[str, str] = {
    "analysis": "analyze",
    "synthesis": "synthesize",
    "diagnosis": "diagnose",
    "setup": "configure",
    "discovery": "discover",
    "delivery": "deliver",
    "recovery": "recover",
    "cleanup": "clean",
    "research": "research",
    "review": "review",
    "test": "test",
    "tests": "test",
    "check": "check",
    "checks": "check",
    "report": "report",
    "audit": "audit",
    "design": "design",
    "plan": "plan",
    "draft": "draft",
    "search": "search",
    "triage": "triage",
    "summary": "summarize",
    "handoff": "hand",
    "rollout": "deploy",
    "fix": "fix",
    "fixes": "fix",
    "comparison": "compare",
    "decision": "decide",
    "intake": "gather",
    "baseline": "measure",
    "inventory": "inventory",
    "scan": "scan",
    "survey": "survey",
    "inspection": "inspect",
    "strategy": "plan",
    "roadmap": "plan",
    "outline": "outline",
    "rollback": "restore",
    "approval": "request",
    "conversion": "convert",
    "proposal": "propose",
    "specification": "define",
    "implementation": "implement",
}
"""A title that names its work with a noun: `Data Collection`, `Root Cause Analysis`."""

ENDINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ification", ("ify",)),
    ("ization", ("ize",)),
    ("isation", ("ise",)),
    ("ation", ("ate", "e", "")),
    ("ition", ("e", "ite")),
    ("tion", ("t", "te")),
    ("sion", ("de", "d", "se")),
    ("ment", ("",)),
    ("ing", ("", "e")),
)
"""Endings of nouns made from verbs, and the verb's ending in their place."""

WRITING = words(
    """
    use follow keep avoid ensure structure adhere maintain prefer link reference highlight limit focus cover
    match omit begin start be lead promise claim say list note record give consider
    save name phrase prefix quote
    """
)
"""Verbs of other work that mean the text in rules on writing."""

PROVIDES = words("install set configure get export create enable add use open download clone have log start")
"""Verbs for work that only puts something in place."""

PHRASES: dict[tuple[str, str], Tag] = {
    ("make", "sure"): "VALIDATE_DOMAIN",
    ("clean", "up"): "ORCHESTRATE",
    ("form", "hypothesis"): "GENERATE",
    ("form", "hypotheses"): "GENERATE",
}
"""Two words that name other work than the first word alone."""
NO_PHRASES = frozenset({("read", "access"), ("write", "access")})
"""Two words that name a thing."""

_TESTS = r"\b(?:tests?|test suite|linters?|checks?|validations?)\b"
AIMS: tuple[tuple[frozenset[str], re.Pattern[str], Tag], ...] = (
    (
        words("run execute"),
        re.compile(rf"^(?:re-?)?(?:run|execute)\b[^;:]{{0,30}}{_TESTS}"),
        "VALIDATE_DOMAIN",
    ),
    (words("turn"), re.compile(r" into "), "TRANSFORM"),
)
"""Verbs that say little, and the words beside them that name the work."""

LIGHT = words(
    "use turn run execute call invoke work help go try perform conduct make do start begin take leverage"
)
"""Verbs that say little: the words after `to`, or the next noun, name the work."""
