"""Every code a reader can report, in one table: `bridle check --explain CODE` prints it."""

from __future__ import annotations

from msgspec import Struct

from bridle.base.diagnostic import Diagnostic, Severity
from bridle.base.origin import Origin

Log = list[Diagnostic]


class Code(Struct, frozen=True):
    """`summary` is what is wrong in one line; `explanation` why it matters and what to do."""

    code: str
    severity: Severity
    summary: str
    explanation: str


_TABLE = (
    Code(
        "ROOT001",
        "warning",
        "no workspace root was found",
        "No directory above holds `.claude/` or `.git/`. The directory of the file itself is taken as the "
        "workspace, so settings and instructions further up are not seen. Run `git init`, or name the "
        "project's directory.",
    ),
    Code(
        "FILE001",
        "error",
        "a file can't be read",
        "The operating system refused to open the file. Everything else is loaded; what this file says is "
        "not in effect. Check its permissions and owner.",
    ),
    Code(
        "FILE002",
        "error",
        "not a regular file",
        "A directory, a pipe or a device stands where a file is expected, for example a directory named "
        "SKILL.md. Replace it by a file.",
    ),
    Code(
        "FILE003",
        "error",
        "a symbolic link leads nowhere",
        "The link leads back to itself or to something that does not exist, so there is nothing to read. "
        "Point it at a real file or remove it.",
    ),
    Code(
        "FILE004",
        "error",
        "a file is too large",
        "Files over the limit are skipped whole, because they would fill the context. Split the file.",
    ),
    Code(
        "FILE005",
        "warning",
        "not UTF-8",
        "Bytes that are not UTF-8 were replaced by U+FFFD, so the text the model sees differs from the "
        "file. Save the file as UTF-8.",
    ),
    Code(
        "FILE006",
        "warning",
        "the skill's file has the wrong name",
        "A skill is a directory with a file named exactly SKILL.md. Other spellings are found on some "
        "file systems and by some agents only. Rename it to SKILL.md.",
    ),
    Code(
        "FILE007",
        "warning",
        "a skill lies too deep",
        "Skills are the direct children of `skills/`. One that lies a folder deeper is not loaded. Move "
        "it up.",
    ),
    Code(
        "FILE008",
        "warning",
        "the file is empty",
        "The file is loaded, but it says nothing: no description for the model to choose by and no text "
        "to use.",
    ),
    Code(
        "FM001",
        "warning",
        "the frontmatter was repaired by quoting",
        "A value holds characters that YAML reads otherwise, mostly a `: ` inside the text. It was read "
        "as if it stood in quotes. Other agents may drop the whole file. Put the value in quotes.",
    ),
    Code(
        "FM002",
        "warning",
        "the frontmatter was repaired by joining lines",
        "Lines that start no known field were joined to the value before them. Other agents may drop the "
        "whole file. Indent the continued lines and use `|` or `>`.",
    ),
    Code(
        "FM003",
        "error",
        "the frontmatter is not YAML",
        "No repair gave a list of fields. The body is still loaded, without any of its fields: no "
        "description, no limits, no tools.",
    ),
    Code(
        "FM004",
        "error",
        "the frontmatter is never closed",
        "The file starts with `---` but no second `---` line follows, so all of it counts as text. Add "
        "the closing line.",
    ),
    Code(
        "FM005",
        "error",
        "the frontmatter is not a list of fields",
        "Between the two `---` lines stands something else than `field: value` lines, so no field is set.",
    ),
    Code(
        "FM006",
        "warning",
        "a field is given twice",
        "The last one counts; the one before it has no effect. Remove one of them.",
    ),
    Code(
        "FM007",
        "warning",
        "a field has the wrong kind of value",
        "The value can't be read as what the field means, so the field is not in effect. It is kept as "
        "written.",
    ),
    Code(
        "AGENT001",
        "info",
        "a file among the agents is no agent",
        "An agent is known by `name` in its frontmatter. A file without one counts as documentation and "
        "is not loaded.",
    ),
    Code(
        "AGENT002",
        "warning",
        "an agent's name can't be used",
        "Names that start with `-` or hold a `:` are refused; the agent is not loaded. Use lowercase "
        "letters, digits and `-`.",
    ),
    Code(
        "AGENT003",
        "warning",
        "an agent has no description",
        "Without a description nothing is ever handed to it, and it is not loaded. Say when to use it.",
    ),
    Code(
        "JSON001",
        "error",
        "not JSON",
        "The file must be strict JSON: no comments, no comma after the last element. None of it is in "
        "effect until it is corrected.",
    ),
    Code(
        "JSON002",
        "error",
        "the file holds no JSON object",
        "The whole file must be one `{ ... }`. None of it is in effect.",
    ),
    Code(
        "JSON003",
        "warning",
        "a key is given twice",
        "The last one counts; what the first one says is lost. Join the two.",
    ),
    Code(
        "SET001",
        "warning",
        "these local settings are not read",
        "Inside a repository, settings.local.json is read from the repository's root, not from the "
        "directory you start in. Move the file, or its content, there.",
    ),
    Code(
        "SET002",
        "warning",
        "a setting has the wrong kind of value",
        "The value can't be read as what the key means, so this entry is skipped; the rest of the file is "
        "in effect.",
    ),
    Code(
        "HANDLER001",
        "warning",
        "a hook entry is malformed",
        "Hooks are written `{event: [{matcher, hooks: [{type, ...}]}]}`. This entry has another form, so "
        "it never runs.",
    ),
    Code(
        "SERVER001",
        "warning",
        "a server entry is malformed",
        "A server is an object with `command`, or with `type` and `url`. This entry has another form, so "
        "the server is not started.",
    ),
    Code(
        "PLUGIN001",
        "error",
        "a plugin can't be loaded",
        "Its manifest lacks a name, or a known key has the wrong type. The whole plugin is left out.",
    ),
    Code(
        "PLUGIN002",
        "warning",
        "an enabled plugin is not installed",
        "`enabledPlugins` names it, but nothing was found in the plugin cache. None of its parts are in "
        "effect. Install it, or remove the entry.",
    ),
    Code(
        "PLUGIN003",
        "error",
        "a plugin's path leaves the plugin",
        "Paths in a manifest are relative, start with `./` and stay inside the plugin. This one does not, "
        "so it is not followed.",
    ),
    Code(
        "PLUGIN004",
        "warning",
        "a plugin names a file that does not exist",
        "The manifest points at a component that is not there, so it is not loaded.",
    ),
    Code(
        "PLUGIN005",
        "warning",
        "a manifest key is ignored",
        "The key is not one the format knows, or has the wrong type where that is forgiven. The plugin is "
        "loaded without it.",
    ),
    Code(
        "MARKET001",
        "error",
        "a marketplace can't be loaded",
        "It needs `name`, `owner` and `plugins`. Without them none of its plugins can be installed.",
    ),
    Code(
        "MARKET002",
        "warning",
        "a marketplace entry is malformed",
        "An entry needs `name` and a `source` of a known kind with the fields of that kind. This one "
        "can't be installed.",
    ),
    Code(
        "IMP001",
        "warning",
        "an import leads nowhere",
        "`@path` names a file that does not exist, so nothing is imported and nobody is told. Correct the "
        "path, or put the text in backquotes if it is not meant as an import.",
    ),
    Code(
        "IMP002",
        "warning",
        "an import leaves the project",
        "A file outside the project is only imported after the user approved it; until then it is left "
        "out silently. Copy the text into the project.",
    ),
    Code(
        "IMP003",
        "warning",
        "an import lies too deep",
        "Imports are followed four files deep. What lies deeper is not loaded. Import it nearer to the top.",
    ),
    Code(
        "IMP004",
        "info",
        "a file is imported again",
        "Each file is loaded once, at its first place; this import adds nothing.",
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
    """A finding of a reader; its severity is the table's."""
    return Diagnostic(code, CODES[code].severity, message, origin, hint=hint, related=related)
