"""Every code a reader can report, in one table: `checkrein check --explain CODE` prints it."""

from __future__ import annotations

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin
from checkrein.facts.codes import Code

Log = list[Diagnostic]


_TABLE = (
    Code(
        "ROOT001",
        "no-workspace-root",
        "warning",
        "No workspace root was found.",
        "No directory above holds `.claude/` or `.git/`, so the directory itself is taken as the "
        "workspace; settings and instructions further up are not seen.",
        "Run `git init`, or name the project's directory.",
    ),
    Code(
        "FILE001",
        "file-unreadable",
        "error",
        "A file can't be read.",
        "The operating system refused to open it. Everything else is loaded; what this file says is not "
        "in effect.",
        "Check that it exists, and its permissions and owner.",
    ),
    Code(
        "FILE002",
        "not-a-file",
        "error",
        "Something else stands where a file is expected.",
        "A directory, a pipe or a device has the name of a file, for example a directory named SKILL.md. "
        "Nothing is read from it.",
        "Replace it by a file.",
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
        "Files over the limit are skipped whole, because they would fill the context.",
        "Split the file.",
    ),
    Code(
        "FILE005",
        "not-utf8",
        "warning",
        "A file is not UTF-8.",
        "Bytes that are not UTF-8 were replaced by U+FFFD, so the text the model sees differs from the file.",
        "Save the file as UTF-8.",
    ),
    Code(
        "FILE006",
        "skill-file-name",
        "warning",
        "A skill's file has the wrong name.",
        "A skill is a directory with a file named exactly SKILL.md. Other spellings are found on some "
        "file systems and by some agents only.",
        "Rename it to SKILL.md.",
    ),
    Code(
        "FILE007",
        "skill-too-deep",
        "warning",
        "A skill lies a folder too deep.",
        "Skills are the direct children of `skills/`. One that lies deeper is not loaded.",
        "Move it up.",
    ),
    Code(
        "FILE008",
        "empty-file",
        "warning",
        "A file is empty.",
        "The file is loaded, but it says nothing: no description for the model to choose by and no text "
        "to use.",
        "Write it, or remove it.",
    ),
    Code(
        "FM001",
        "frontmatter-quoted",
        "warning",
        "A frontmatter value was read as if it stood in quotes.",
        "The value holds characters that YAML reads otherwise, mostly a `: ` inside the text. Other "
        "agents may drop the whole file.",
        "Put the value in quotes.",
    ),
    Code(
        "FM002",
        "frontmatter-joined",
        "warning",
        "Frontmatter lines were joined.",
        "Lines that start no known field were joined to the value before them. Other agents may drop the "
        "whole file.",
        "Indent the continued lines and start the value with `|` or `>`.",
    ),
    Code(
        "FM003",
        "frontmatter-unparsable",
        "error",
        "The frontmatter is not YAML.",
        "No repair gave a list of fields. The body is still loaded, without any of its fields: no "
        "description, no limits, no tools.",
        "Correct the line that is named.",
    ),
    Code(
        "FM004",
        "frontmatter-unclosed",
        "error",
        "The frontmatter is never closed.",
        "The file starts with `---` but no second `---` line follows, so all of it counts as text and no "
        "field is set.",
        "Add a line `---` after the last field.",
    ),
    Code(
        "FM005",
        "frontmatter-not-fields",
        "error",
        "The frontmatter is not a list of fields.",
        "Between the two `---` lines stands something else than `field: value` lines, so no field is set.",
        "Write one `field: value` per line.",
    ),
    Code(
        "FM006",
        "field-twice",
        "warning",
        "A field is given twice.",
        "The last one counts; the one before it has no effect.",
        "Remove one of them.",
    ),
    Code(
        "FM007",
        "field-wrong-kind",
        "warning",
        "A field has the wrong kind of value.",
        "The value can't be read as what the field means, so the field is not in effect. It is kept as "
        "written.",
        "Give it the kind of value that is named.",
    ),
    Code(
        "AGENT001",
        "agent-without-name",
        "info",
        "A file among the agents is no agent.",
        "An agent is known by `name` in its frontmatter. A file without one counts as documentation and "
        "is not loaded.",
        "Add `name` and `description`, or move the file elsewhere.",
    ),
    Code(
        "AGENT002",
        "agent-name-refused",
        "warning",
        "An agent's name can't be used.",
        "Names that start with `-` or hold a `:` are refused, and the agent is not loaded.",
        "Use lowercase letters, digits and `-`.",
    ),
    Code(
        "AGENT003",
        "agent-without-description",
        "warning",
        "An agent has no description.",
        "Without a description nothing is ever handed to it, and it is not loaded.",
        "Say in `description` when to use it.",
    ),
    Code(
        "JSON001",
        "not-json",
        "error",
        "A file is not JSON.",
        "The file must be strict JSON: no comments, no comma after the last element. None of it is in "
        "effect.",
        "Correct the line that is named.",
    ),
    Code(
        "JSON002",
        "json-not-object",
        "error",
        "A file holds no JSON object.",
        "The whole file must be one `{ ... }`. None of it is in effect.",
        "Put the content into an object.",
    ),
    Code(
        "JSON003",
        "json-key-twice",
        "warning",
        "A key is given twice.",
        "The last one counts; what the first one says is lost.",
        "Join the two.",
    ),
    Code(
        "SET001",
        "local-settings-misplaced",
        "warning",
        "Local settings lie where they are not read.",
        "Inside a repository, settings.local.json is read from the repository's root, not from the "
        "directory you start in.",
        "Move the file, or its content, to the repository's root.",
    ),
    Code(
        "SET002",
        "setting-wrong-kind",
        "warning",
        "A setting has the wrong kind of value.",
        "The value can't be read as what the key means, so this entry is skipped; the rest of the file is "
        "in effect.",
        "Give it the kind of value that is named.",
    ),
    Code(
        "HANDLER001",
        "hook-malformed",
        "warning",
        "A hook entry is malformed.",
        "Hooks are written `{event: [{matcher, hooks: [{type, ...}]}]}`. What has another form never runs.",
        "Write it in that form.",
    ),
    Code(
        "SERVER001",
        "server-malformed",
        "warning",
        "A server entry is malformed.",
        "A server is an object with `command`, or with `type` and `url`. What has another form is not used.",
        "Write it in that form.",
    ),
    Code(
        "PLUGIN001",
        "plugin-refused",
        "error",
        "A plugin can't be loaded.",
        "Its manifest lacks a name, or a known key has the wrong type. The whole plugin is left out.",
        "Correct the manifest.",
    ),
    Code(
        "PLUGIN002",
        "plugin-not-installed",
        "warning",
        "An enabled plugin is not installed.",
        "`enabledPlugins` names it, but nothing was found in the plugin cache. None of its parts are in "
        "effect.",
        "Install it, or remove the entry.",
    ),
    Code(
        "PLUGIN003",
        "plugin-path-outside",
        "error",
        "A path leaves the plugin.",
        "Paths in a manifest are relative and stay inside the plugin. This one does not, so it is not "
        "followed.",
        "Move the files into the plugin and start the path with `./`.",
    ),
    Code(
        "PLUGIN004",
        "plugin-path-missing",
        "warning",
        "A plugin names a file that does not exist.",
        "The manifest points at a component that is not there, so it is not loaded.",
        "Correct the path, or remove it.",
    ),
    Code(
        "PLUGIN005",
        "plugin-key-ignored",
        "warning",
        "A manifest key is ignored.",
        "The format does not know the key, or it has the wrong type where that is forgiven. The plugin is "
        "loaded without it.",
        "Correct it, or remove it.",
    ),
    Code(
        "MARKET001",
        "marketplace-refused",
        "error",
        "A marketplace lacks what it must have.",
        "It needs `name`, `owner` and `plugins`. Without them its plugins can't be installed.",
        "Add what is missing.",
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
        "`@path` names a file that does not exist, so nothing is imported, silently.",
        "Correct the path, or put the text in backquotes if it is not meant as an import.",
    ),
    Code(
        "IMP002",
        "import-outside",
        "warning",
        "An import leaves the project.",
        "A file outside the project is only imported after the user approved it; until then it is left "
        "out, silently.",
        "Copy the text into the project.",
    ),
    Code(
        "IMP003",
        "import-too-deep",
        "warning",
        "An import lies too deep.",
        "Imports are followed four files deep. What lies deeper is not loaded.",
        "Import it nearer to the top.",
    ),
    Code(
        "IMP004",
        "import-again",
        "info",
        "A file is imported again.",
        "Each file is loaded once, at its first place; this import adds nothing.",
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
    """A finding of a reader: severity, reason and, where none is given, the hint are the table's."""
    entry = CODES[code]
    return Diagnostic(
        code, entry.severity, message, origin, reason=entry.why, hint=hint or entry.hint, related=related
    )
