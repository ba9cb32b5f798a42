"""Codes of findings that neither a check nor a reader makes: of configuration, sessions, the protocol.

`checkrein check --explain CODE` prints them; checks, readers and writers keep tables of their own. Codes of
session files are words, since they are older than the numbers.
"""

from __future__ import annotations

from msgspec import Struct

from checkrein.base.diagnostic import Severity


class Code(Struct, frozen=True):
    """What is the case (`summary`), why it matters, and what to do (`hint`)."""

    code: str
    name: str
    severity: Severity
    summary: str
    why: str
    hint: str


FAMILIES: dict[str, str] = {
    "CFG": "Checkrein's own configuration",
    "COMPILE": "found while compiling a spec",
    "DEP": "found while deploying to other agents",
    "EXT": "Python code that installed packages add",
    "LIST": "found when a session lists its skills",
    "PROTO": "warnings of the machine protocol",
    "RUNHOOK": "hooks that can never run, found when a session starts",
    "SANDBOX": "found when a session starts its sandbox",
    "SESSION": "found in the file of a session",
    "SPK": "spec-kit extensions",
    "TRUST": "what an untrusted project may not do",
}
"""What the codes with this beginning have in common. Families that are not here are found while loading."""

_TABLE = (
    Code(
        "CFG001",
        "config-unreadable",
        "error",
        "A configuration file is not valid TOML.",
        "None of its keys is in effect; the other layers are.",
        "Correct the line that is named.",
    ),
    Code(
        "CFG002",
        "config-unknown-key",
        "warning",
        "A configuration key does not exist.",
        "It has no effect. A misspelt key looks as if it had one.",
        "`checkrein config` lists the keys.",
    ),
    Code(
        "CFG003",
        "config-layer",
        "error",
        "A key is set in a layer that may not set it.",
        "A project must not choose credentials, endpoints or trust for whoever opens it, so it is not used.",
        "Move it to a layer that may.",
    ),
    Code(
        "CFG004",
        "config-type",
        "error",
        "A configuration value has the wrong type.",
        "The value is not used; the layer below it holds.",
        "Give it the type that is named.",
    ),
    Code(
        "CFG005",
        "config-secrets-mode",
        "error",
        "Others can read the secrets file.",
        "Every user of the machine can read the credentials in it, so it is not used.",
        "Run `chmod 600` on it.",
    ),
    Code(
        "CFG006",
        "config-rule",
        "error",
        "An entry of `permissions.rules` is no rule.",
        "It allows, asks and denies nothing.",
        'Write deny = "Bash(rm *)", match = [...], not_match = [...].',
    ),
    Code(
        "EXT001",
        "extension-not-loaded",
        "warning",
        "An installed package adds something that can't be used.",
        "It raises when it is loaded or used, is not of the type that its group asks for, or takes a name in "
        "use. The rest works without it.",
        "Update or uninstall the package, or name it in `extensions.disabled`.",
    ),
    Code(
        "EXT002",
        "extension-check-failed",
        "warning",
        "A check of an installed package raised an exception.",
        "What it would have found is not reported. All other checks ran.",
        "Tell the package's author, or leave its code out with --ignore.",
    ),
    Code(
        "COMPILE001",
        "compile-model-silent",
        "warning",
        "The model named with --model did not answer.",
        "The package is made as it would be without it.",
        "Look at the message; compile again when the model can be reached.",
    ),
    Code(
        "COMPILE002",
        "compile-model-ignored",
        "warning",
        "An answer of the model does not fit: it can't be read, or it names what is not there.",
        "What the rules said of that element stands, and nothing is drafted for it.",
        "Nothing needs to be done; another model may do better.",
    ),
    Code(
        "LIST001",
        "listing-cut",
        "warning",
        "The description of a skill does not fit into the listing.",
        "The model sees the name alone and can hardly know when to use the skill.",
        "Shorten descriptions, hide skills from the model, or raise skillListingBudgetFraction.",
    ),
    Code(
        "PROTO001",
        "schema-deprecated",
        "warning",
        "The environment asks for schema 1.0 of the machine protocol.",
        "1.0 is deprecated and will not be answered for ever.",
        "Unset CHECKREIN_SCHEMA_VERSION, or set it to 2.0.",
    ),
    Code(
        "PROTO002",
        "session-unreadable",
        "warning",
        "No line of a session's file can be read.",
        "The session is not listed, because it can't be loaded.",
        "Delete it, or restore it from a copy.",
    ),
    Code(
        "PROTO003",
        "session-suspect",
        "warning",
        "A session was resumed that is marked suspect.",
        "An earlier turn in it did not acknowledge its end, so a tool may have gone on after the last line.",
        "Start a new session, or look at the transcript.",
    ),
    Code(
        "RUNHOOK001",
        "hook-event-unknown",
        "error",
        "A hook names an event that does not exist.",
        "The hook never runs, and what it was to prevent is not prevented.",
        "Use a documented event.",
    ),
    Code(
        "RUNHOOK002",
        "hook-type-wrong",
        "error",
        "A hook has a type that its event does not run.",
        "The hook never runs.",
        "Use one of the types that are named.",
    ),
    Code(
        "RUNHOOK003",
        "hook-incomplete",
        "error",
        "A hook lacks what its type needs.",
        "There is nothing to run, to send or to ask.",
        "Add the key that is named.",
    ),
    Code(
        "RUNHOOK004",
        "hook-matcher-broken",
        "error",
        "The matcher of a hook is no regular expression.",
        "It matches nothing, so the hook never runs.",
        "Correct the pattern.",
    ),
    Code(
        "RUNHOOK005",
        "hook-condition-lost",
        "error",
        "A hook has `if` on an event that is not about a tool.",
        "There is no call that the condition could be compared with, so the hook never runs.",
        "Remove `if`.",
    ),
    Code(
        "SANDBOX001",
        "no-sandbox",
        "warning",
        "Commands run without the sandbox that was asked for.",
        "This machine has neither bubblewrap nor Landlock, so a command can do what the user can do.",
        "Run `checkrein doctor`; it says how to get one.",
    ),
    Code(
        "TRUST001",
        "untrusted-left-out",
        "warning",
        "Something of a project is not used, because the project is not trusted.",
        "It would run something, or widen what may run, on the word of the project alone.",
        "Look at it, then run `checkrein trust`.",
    ),
    Code(
        "TRUST003",
        "environment-refused",
        "warning",
        "A project may not set this variable of the environment.",
        "It chooses programs, endpoints or credentials; that needs an approval of its own, trusted or not.",
        "Set it yourself, outside the project.",
    ),
    Code(
        "session-damaged-line",
        "session-damaged-line",
        "warning",
        "A line of a session's file can't be used.",
        "It is torn, no JSON, or lacks what links it to the conversation. The rest is loaded.",
        "Nothing has to be done; restore the file from a copy if the line matters.",
    ),
    Code(
        "session-duplicate",
        "session-duplicate",
        "warning",
        "An entry, a call or a result is in a session's file twice.",
        "One is kept, so that the conversation is valid.",
        "Nothing has to be done.",
    ),
    Code(
        "session-missing-parent",
        "session-missing-parent",
        "warning",
        "An entry of a session continues one that is not in the file.",
        "What came before it is lost, or it was joined to the entry before it.",
        "Restore the file from a copy if the beginning matters.",
    ),
    Code(
        "session-lost-beginning",
        "session-lost-beginning",
        "warning",
        "The first prompt of a conversation is not in the file.",
        "A conversation must begin with the user, so an empty prompt stands in its place.",
        "Nothing has to be done.",
    ),
    Code(
        "session-orphan-result",
        "session-orphan-result",
        "warning",
        "A session's file holds a result of a call that is not in it.",
        "A model would refuse the conversation, so the result is left out.",
        "Nothing has to be done.",
    ),
    Code(
        "session-interrupted-call",
        "session-interrupted-call",
        "warning",
        "A call of a tool was cut off.",
        "It may have taken effect. The model is told so, and it is never run again by itself.",
        "Look whether the call did its work.",
    ),
    Code(
        "session-branch",
        "session-branch",
        "info",
        "A session's file holds another branch of the conversation.",
        "The newest branch is loaded; the others stay in the file.",
        "Load or fork the session at that entry to go on there.",
    ),
)

CODES: dict[str, Code] = {entry.code: entry for entry in _TABLE}


def family(code: str) -> str:
    """The beginning that codes of one sort share: `PERM` of PERM004, `SESSION` of session-branch."""
    return code.partition("-")[0].rstrip("0123456789").upper()
