"""Codes of findings that neither a check nor a reader makes: of configuration, sessions, the protocol.

`checkrein check --explain CODE` prints them. Checks, readers and writers have their own tables. Codes of
session files are words, because they are older than the numbers.
"""

from __future__ import annotations

from msgspec import Struct

from checkrein.base.diagnostic import Severity


class Code(Struct, frozen=True):
    """What is wrong (`summary`), why it matters (`why`), and what to do (`hint`)."""

    code: str
    name: str
    severity: Severity
    summary: str
    why: str
    hint: str


FAMILIES: dict[str, str] = {
    "AUDIT": "found while reading what an audit or a comparison of rules needs",
    "CFG": "Checkrein's own configuration",
    "COMPILE": "found while compiling a spec",
    "DEP": "found while deploying to other agents",
    "EXT": "Python code that installed packages add",
    "LIST": "found when a session lists its skills",
    "PROTO": "warnings of the machine protocol",
    "RECIPE": "found in a recipe's file, or when a run of it starts",
    "RUNHOOK": "hooks that can never run, found when a session starts",
    "RUNMCP": "found when a session connects its MCP servers",
    "SANDBOX": "found when a session starts its sandbox",
    "SESSION": "found in the file of a session",
    "SPK": "spec-kit extensions",
    "SUP": "comments that hide findings",
    "TRUST": "what an untrusted project may not do",
    "VIS": "which skills a session sees",
}
"""What the codes with this prefix have in common. Findings of other families come from loading."""

_TABLE = (
    Code(
        "AUDIT001",
        "file-left-out",
        "warning",
        "A file that an audit or a comparison of rules reads is a link, too large, or of another form.",
        "Its calls, or its rules, are not in the report.",
        "Name transcripts of Checkrein or Claude Code; commit settings as regular files.",
    ),
    Code(
        "CFG001",
        "config-unreadable",
        "error",
        "A configuration file is not valid TOML.",
        "None of its keys has an effect; the other layers do.",
        "Correct the named line.",
    ),
    Code(
        "CFG002",
        "config-unknown-key",
        "warning",
        "A configuration key does not exist.",
        "It has no effect, but a misspelt key looks as if it had one.",
        "`checkrein config` lists the keys.",
    ),
    Code(
        "CFG003",
        "config-layer",
        "error",
        "A layer sets a key that it may not set.",
        "A project must not choose credentials, endpoints or trust for its users, so the value is not used.",
        "Move it to a layer that may.",
    ),
    Code(
        "CFG004",
        "config-type",
        "error",
        "A configuration value has the wrong type.",
        "The value is not used; the layer below it counts.",
        "Give it the named type.",
    ),
    Code(
        "CFG005",
        "config-secrets-mode",
        "error",
        "Others can read the secrets file.",
        "Every user of the machine can read the credentials in it, so Checkrein ignores it.",
        "Run `chmod 600` on it.",
    ),
    Code(
        "CFG006",
        "config-rule",
        "error",
        "An entry of `permissions.rules` is not a rule.",
        "It has no effect on any call.",
        'Write deny = "Bash(rm *)", match = [...], not_match = [...].',
    ),
    Code(
        "CFG007",
        "config-effect",
        "error",
        "An entry of `mcp.effects` is not an effect.",
        "Nobody knows what the tool does, so each of its calls needs approval.",
        'Write run_cmd = "exec:command"; the kinds are exec, read, search, write and net.',
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
        "The package is the same as without a model.",
        "Look at the message; compile again when the model answers.",
    ),
    Code(
        "COMPILE002",
        "compile-model-ignored",
        "warning",
        "An answer of the model is not usable: it can't be read, or it names something unknown.",
        "The result of the rules counts for that element, and it gets no draft.",
        "You need not do anything; another model may do better.",
    ),
    Code(
        "LIST001",
        "listing-cut",
        "warning",
        "The description of a skill does not fit in the listing.",
        "The model sees only the name and can hardly know when to use the skill.",
        "Shorten descriptions, hide skills from the model, or raise skillListingBudgetFraction.",
    ),
    Code(
        "PROTO001",
        "schema-deprecated",
        "warning",
        "The environment asks for schema 1.0 of the machine protocol.",
        "1.0 is deprecated; a later version will stop answering it.",
        "Unset CHECKREIN_SCHEMA_VERSION, or set it to 2.0.",
    ),
    Code(
        "PROTO002",
        "session-unreadable",
        "warning",
        "A session's file has no readable line.",
        "Lists leave the session out, because it can't be loaded.",
        "Delete it, or restore it from a copy.",
    ),
    Code(
        "PROTO003",
        "session-suspect",
        "warning",
        "The resumed session is marked suspect.",
        "An earlier turn in it did not acknowledge its end, so a tool may have run on after the last line.",
        "Start a new session, or look at the transcript.",
    ),
    Code(
        "RUNHOOK001",
        "hook-event-unknown",
        "error",
        "A hook names an event that does not exist.",
        "The hook never runs, so it prevents nothing.",
        "Use a documented event.",
    ),
    Code(
        "RUNHOOK002",
        "hook-type-wrong",
        "error",
        "A hook has a type that its event does not run.",
        "The hook never runs.",
        "Use one of the named types.",
    ),
    Code(
        "RUNHOOK003",
        "hook-incomplete",
        "error",
        "A hook lacks what its type needs.",
        "It has nothing to run or to send.",
        "Add the named key.",
    ),
    Code(
        "RUNHOOK004",
        "hook-matcher-broken",
        "error",
        "The matcher of a hook is not a regular expression.",
        "It matches nothing, so the hook never runs.",
        "Correct the pattern.",
    ),
    Code(
        "RUNHOOK005",
        "hook-condition-lost",
        "error",
        "A hook has `if` on an event that is not about a tool.",
        "The event has no call for the condition to match, so the hook never runs.",
        "Remove `if`.",
    ),
    Code(
        "RUNMCP001",
        "server-variable-unset",
        "warning",
        "An entry of a server uses a variable without a value.",
        "The text `${NAME}` stays in the command, the address or the header, and the server rarely works.",
        "Set the variable, or write a default.",
    ),
    Code(
        "RUNMCP002",
        "headers-helper-failed",
        "warning",
        "The `headersHelper` of a server gave no headers.",
        "Only the headers of the entry are sent, so the server may refuse the connection.",
        "Run the command yourself, and look at what it prints.",
    ),
    Code(
        "RUNMCP003",
        "server-definition-broken",
        "warning",
        "A server declares a tool, a prompt or a resource that can't be used.",
        "That one is left out. Everything else of the server works.",
        "Tell the author of the server.",
    ),
    Code(
        "RUNMCP004",
        "server-tool-name",
        "error",
        "A tool of an MCP server has no name of its own.",
        "After normalisation its name belongs to another tool or server. Rules could not tell the two apart, "
        "so the later one is not used.",
        "Rename one of the tools or servers.",
    ),
    Code(
        "RUNMCP005",
        "server-hidden-space",
        "warning",
        "A value in the entry of a server has space that nobody sees.",
        "It often comes with a copied key. The value is used as it is, and the server may refuse it.",
        "Write the value again.",
    ),
    Code(
        "READ001",
        "denied-file-left-out",
        "warning",
        "A file is kept out of the context, because a rule denies reading it.",
        "A rule that denies reading holds for imports, nested instructions, skills and memory too.",
        "Remove the line that brings the file in, or change the rule.",
    ),
    Code(
        "SANDBOX001",
        "no-sandbox",
        "warning",
        "Commands run without the requested sandbox.",
        "This machine has neither bubblewrap nor Landlock, so a command can do what the user can do.",
        "Run `checkrein doctor`; it says how to get a sandbox.",
    ),
    Code(
        "SECRET001",
        "secret-masked",
        "warning",
        "A result held what looks like a secret; a mask stands in its place.",
        "Models, transcripts and telemetry leave this machine; a secret in them is no longer one.",
        "Keep the secret outside the project, or show it with `secrets.reveal` in your config.toml.",
    ),
    Code(
        "SUP001",
        "suppression-without-code",
        "warning",
        "A comment `checkrein: ignore` names no code that exists.",
        "It hides nothing, and a reader believes that it does.",
        "Write `checkrein: ignore CODE`, with a code or the start of codes.",
    ),
    Code(
        "TRUST001",
        "untrusted-left-out",
        "warning",
        "A part of the project is not used, because the project is not trusted.",
        "It would run something, or allow more, only because the project says so.",
        "Look at it, then run `checkrein trust`.",
    ),
    Code(
        "TRUST003",
        "environment-refused",
        "warning",
        "A project may not set this variable of the environment.",
        "It chooses programs, endpoints or credentials; that needs a separate approval, even with trust.",
        "Set it yourself, outside the project.",
    ),
    Code(
        "session-damaged-line",
        "session-damaged-line",
        "warning",
        "A line of a session's file can't be used.",
        "It is torn, is not JSON, or lacks its link to the conversation. The rest is loaded.",
        "You need not do anything; restore the file from a copy if the line matters.",
    ),
    Code(
        "session-duplicate",
        "session-duplicate",
        "warning",
        "A session's file holds an entry, a call or a result twice.",
        "One of them counts, so that the conversation is valid.",
        "Nothing has to be done.",
    ),
    Code(
        "session-missing-parent",
        "session-missing-parent",
        "warning",
        "An entry of a session continues one that is not in the file.",
        "The earlier part is lost, or the entry now follows the one before it in the file.",
        "Restore the file from a copy if the earlier part matters.",
    ),
    Code(
        "session-lost-beginning",
        "session-lost-beginning",
        "warning",
        "A session's file lacks the first prompt of the conversation.",
        "A conversation must begin with the user, so a note replaces the prompt.",
        "Nothing has to be done.",
    ),
    Code(
        "session-orphan-result",
        "session-orphan-result",
        "warning",
        "A session's file holds a result for a call that it does not hold.",
        "A model would refuse the conversation, so the result is left out.",
        "Nothing has to be done.",
    ),
    Code(
        "session-interrupted-call",
        "session-interrupted-call",
        "warning",
        "A tool call was cut off.",
        "It may have taken effect. The model learns that, and Checkrein never runs the call again.",
        "Check whether the call did its work.",
    ),
    Code(
        "VIS001",
        "skill-in-two-tiers",
        "error",
        "The configuration puts a skill into more than one tier.",
        "Nobody can say which sessions see it, so no session starts.",
        "Leave its name in one of `skills.tier1`, `skills.tier2` and `skills.tier3`.",
    ),
    Code(
        "VIS002",
        "governed-skill-unknown",
        "warning",
        "The configuration names a skill that the project does not have.",
        "The name has no effect; a misspelt one leaves the meant skill where it was.",
        "`checkrein show --view cook` lists the names.",
    ),
    Code(
        "VIS003",
        "subset-unknown",
        "warning",
        "The configuration switches a category on or off that nothing carries.",
        "It has no effect on any skill or tool.",
        "Name a category of docs/subset-categories.md, or a tag of `subsets.custom_tags`.",
    ),
    Code(
        "VIS004",
        "skill-dependency-unknown",
        "warning",
        "A skill's `activate_deps` names something that is neither a skill nor a category.",
        "A worker that runs the skill does not get what it needs.",
        "Correct the name, or add the skill.",
    ),
    Code(
        "session-branch",
        "session-branch",
        "info",
        "A session's file holds another branch of the conversation.",
        "The newest branch is loaded; the others stay in the file.",
        "Load or fork the session at that entry to continue there.",
    ),
)

CODES: dict[str, Code] = {entry.code: entry for entry in _TABLE}


def family(code: str) -> str:
    """The prefix that codes of one family share: `PERM` of PERM004, `SESSION` of session-branch."""
    return code.partition("-")[0].rstrip("0123456789").upper()
