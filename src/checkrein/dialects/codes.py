"""Every code a reader can report, in one table: `checkrein check --explain CODE` prints it."""

from __future__ import annotations

from collections.abc import Iterable

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import BOUND_SCOPES, Origin, Scope
from checkrein.facts.codes import Code


class Log(list[Diagnostic]):
    """What readers find wrong. `within` are the real directories that links of a project may lead to."""

    def __init__(self, within: Iterable[str] = (), found: Iterable[Diagnostic] = ()) -> None:
        super().__init__(found)
        self.within = tuple(within)

    def bounds(self, scope: Scope) -> tuple[str, ...] | None:
        """Where files of this scope may lead; None for anywhere: the user's own links are followed."""
        return self.within if scope in BOUND_SCOPES else None


_TABLE = (
    Code(
        "ROOT001",
        "no-workspace-root",
        "warning",
        "No workspace root was found.",
        "No directory above holds `.claude/` or `.git/`, so the directory itself is the workspace. Checkrein "
        "does not see settings and instructions further up.",
        "Run `git init`, or name the project's directory.",
    ),
    Code(
        "FILE001",
        "file-unreadable",
        "error",
        "A file can't be read.",
        "The operating system refused to open it. Everything else loads, but this file has no effect.",
        "Check that it exists, and its permissions and owner.",
    ),
    Code(
        "FILE002",
        "not-a-file",
        "error",
        "Something other than a file has a file's name.",
        "A directory, a pipe or a device has the name of a file, for example a directory named SKILL.md. "
        "Checkrein reads nothing from it.",
        "Replace it with a file.",
    ),
    Code(
        "FILE003",
        "broken-link",
        "error",
        "A symbolic link leads nowhere.",
        "The link leads back to itself or to something that does not exist, so there is nothing to read.",
        "Point it at a real file, or remove it.",
    ),
    Code(
        "FILE004",
        "file-too-large",
        "error",
        "A file is too large.",
        "Checkrein skips files over the limit, because they would fill the context.",
        "Split the file.",
    ),
    Code(
        "FILE005",
        "not-utf8",
        "warning",
        "A file is not UTF-8.",
        "U+FFFD replaces bytes that are not UTF-8, so the model sees another text than the file.",
        "Save the file as UTF-8.",
    ),
    Code(
        "FILE006",
        "skill-file-name",
        "warning",
        "A skill's file has the wrong name.",
        "A skill is a directory with a file named exactly SKILL.md. Other spellings work only on some file "
        "systems and for some agents.",
        "Rename it to SKILL.md.",
    ),
    Code(
        "FILE007",
        "skill-too-deep",
        "warning",
        "A skill is one folder too deep.",
        "Skills are the direct children of `skills/`. A deeper one is not loaded.",
        "Move it up.",
    ),
    Code(
        "FILE008",
        "empty-file",
        "warning",
        "A file is empty.",
        "The file loads, but it says nothing: the model has no description to choose by and no text to use.",
        "Write it, or remove it.",
    ),
    Code(
        "FILE009",
        "link-leaves-project",
        "error",
        "A symbolic link leaves the project.",
        "Whoever wrote the project chose the link, and its target could be any file of yours, such as a key. "
        "Checkrein reads nothing through it, and puts nothing of it into a prompt or a deployed file.",
        "Copy the file into the project, or name its directory with `--add-dir`.",
    ),
    Code(
        "FM001",
        "frontmatter-quoted",
        "warning",
        "A frontmatter value is read as if it were in quotes.",
        "The value holds characters with another meaning in YAML, mostly a `: ` inside the text. Other "
        "agents may drop the whole file.",
        "Put the value in quotes.",
    ),
    Code(
        "FM002",
        "frontmatter-joined",
        "warning",
        "Frontmatter lines are joined.",
        "Lines that do not start a known field become part of the value before them. Other agents may drop "
        "the "
        "whole file.",
        "Indent the continued lines and start the value with `|` or `>`.",
    ),
    Code(
        "FM003",
        "frontmatter-unparsable",
        "error",
        "The frontmatter is not YAML.",
        "No repair gives a list of fields. The body still loads, but without its fields: no description, no "
        "limits, no tools.",
        "Correct the line in the message.",
    ),
    Code(
        "FM004",
        "frontmatter-unclosed",
        "error",
        "The frontmatter is never closed.",
        "The file starts with `---`, but there is no second `---` line. So all of it counts as text, and no "
        "field is set.",
        "Add a line `---` after the last field.",
    ),
    Code(
        "FM005",
        "frontmatter-not-fields",
        "error",
        "The frontmatter is not a list of fields.",
        "The lines between the two `---` lines are not `field: value` lines, so no field is set.",
        "Write one `field: value` per line.",
    ),
    Code(
        "FM006",
        "field-twice",
        "warning",
        "A field appears twice.",
        "The last one counts; the one before it has no effect.",
        "Remove one of them.",
    ),
    Code(
        "FM007",
        "field-wrong-kind",
        "warning",
        "A field has the wrong kind of value.",
        "The value does not fit the field, so the field has no effect. Checkrein keeps it as written.",
        "Give it the kind of value in the message.",
    ),
    Code(
        "AGENT001",
        "agent-without-name",
        "info",
        "A file among the agents is not an agent.",
        "An agent needs `name` in its frontmatter. A file without one counts as documentation and is not "
        "loaded.",
        "Add `name` and `description`, or move the file elsewhere.",
    ),
    Code(
        "AGENT002",
        "agent-name-refused",
        "warning",
        "An agent's name can't be used.",
        "Claude Code refuses names that start with `-` or hold a `:`, and does not load the agent.",
        "Use lowercase letters, digits and `-`.",
    ),
    Code(
        "AGENT003",
        "agent-without-description",
        "warning",
        "An agent has no description.",
        "Without a description no work ever goes to the agent, so it is not loaded.",
        "Say in `description` when to use it.",
    ),
    Code(
        "JSON001",
        "not-json",
        "error",
        "A file is not JSON.",
        "The file must be strict JSON: no comments, no comma after the last element. None of it has an "
        "effect.",
        "Correct the line in the message.",
    ),
    Code(
        "JSON002",
        "json-not-object",
        "error",
        "A file does not hold a JSON object.",
        "The whole file must be one `{ ... }`. None of it has an effect.",
        "Put the content into an object.",
    ),
    Code(
        "JSON003",
        "json-key-twice",
        "warning",
        "A key appears twice.",
        "The last one counts; the value of the first one is lost.",
        "Merge the two.",
    ),
    Code(
        "SET001",
        "local-settings-misplaced",
        "warning",
        "Local settings are in the wrong place.",
        "Inside a repository, Claude Code reads settings.local.json from the repository's root, not from the "
        "directory you start in.",
        "Move the file, or its content, to the repository's root.",
    ),
    Code(
        "SET002",
        "setting-wrong-kind",
        "warning",
        "A setting has the wrong kind of value.",
        "The value does not fit the key, so this entry is skipped. The rest of the file counts.",
        "Give it the kind of value in the message.",
    ),
    Code(
        "HANDLER001",
        "hook-malformed",
        "warning",
        "A hook entry is malformed.",
        "Hooks have the form `{event: [{matcher, hooks: [{type, ...}]}]}`. An entry in another form never "
        "runs.",
        "Write it in that form.",
    ),
    Code(
        "SERVER001",
        "server-malformed",
        "warning",
        "A server entry is malformed.",
        "A server is an object with `command`, or with `type` and `url`. An entry in another form is not "
        "used.",
        "Write it in that form.",
    ),
    Code(
        "PLUGIN001",
        "plugin-refused",
        "error",
        "A plugin can't be loaded.",
        "Its manifest lacks a name, or a known key has the wrong type. Claude Code does not load the plugin.",
        "Correct the manifest.",
    ),
    Code(
        "PLUGIN002",
        "plugin-not-installed",
        "warning",
        "An enabled plugin is not installed.",
        "`enabledPlugins` names it, but the plugin cache does not have it. None of its parts are in effect.",
        "Run `checkrein plugin install`, with --frozen where there is a lock; or remove the entry.",
    ),
    Code(
        "PLUGIN003",
        "plugin-path-outside",
        "error",
        "A path leaves the plugin.",
        "Paths in a manifest are relative and stay inside the plugin. This one does not, so it is skipped.",
        "Move the files into the plugin and start the path with `./`.",
    ),
    Code(
        "PLUGIN004",
        "plugin-path-missing",
        "warning",
        "A plugin names a file that does not exist.",
        "The manifest names a component that does not exist, so it is not loaded.",
        "Correct the path, or remove it.",
    ),
    Code(
        "PLUGIN005",
        "plugin-key-ignored",
        "warning",
        "A manifest key is ignored.",
        "The format does not know the key, or the key has the wrong type and may be left out. The plugin "
        "loads without it.",
        "Correct it, or remove it.",
    ),
    Code(
        "PLUGIN006",
        "plugin-program-skipped",
        "warning",
        "A language server or a monitor of a plugin is skipped.",
        "Its entry lacks a required key, has a value that no agent can use, or claims a file extension that "
        "another server has.",
        "Correct the entry.",
    ),
    Code(
        "PLUGIN007",
        "plugin-name-taken",
        "warning",
        "Two enabled plugins have one name.",
        "Skills, hooks and options go by the plugin's name, so only the first plugin of a name is on.",
        "Disable one of them.",
    ),
    Code(
        "MARKET001",
        "marketplace-refused",
        "error",
        "A marketplace lacks a required key.",
        "It needs `name`, `owner` and `plugins`. Without them its plugins can't be installed.",
        "Add the missing key.",
    ),
    Code(
        "MARKET002",
        "marketplace-entry-malformed",
        "warning",
        "A marketplace entry is malformed.",
        "An entry needs `name` and a `source` of a known kind with the fields of that kind. This one "
        "can't be installed.",
        "Correct the entry.",
    ),
    Code(
        "IMP001",
        "import-missing",
        "warning",
        "An import leads nowhere.",
        "`@path` names a file that does not exist, so it silently imports nothing.",
        "Correct the path, or put the text in backquotes if it is not meant as an import.",
    ),
    Code(
        "IMP002",
        "import-outside",
        "warning",
        "An import leaves the project.",
        "Claude Code imports a file outside the project only after the user approves it. Until then it "
        "silently leaves the file out.",
        "Copy the text into the project.",
    ),
    Code(
        "IMP003",
        "import-too-deep",
        "warning",
        "An import is too deep.",
        "Claude Code follows imports four files deep. It does not load deeper ones.",
        "Import it nearer to the top.",
    ),
    Code(
        "IMP004",
        "import-again",
        "info",
        "A file is imported again.",
        "Claude Code loads each file once, at its first place; this import adds nothing.",
        "Remove the import.",
    ),
)

CODES: dict[str, Code] = {entry.code: entry for entry in _TABLE}


def diagnose(
    code: str,
    message: str,
    origin: Origin,
    *,
    hint: str | None = None,
    related: tuple[Origin, ...] = (),
) -> Diagnostic:
    """A finding of a reader. Severity and reason come from the table, and so does a missing hint."""
    entry = CODES[code]
    return Diagnostic(
        code, entry.severity, message, origin, reason=entry.why, hint=hint or entry.hint, related=related
    )
