"""Codes of findings about recipes that no check makes: of reading a file, and of starting a run."""

from __future__ import annotations

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin
from checkrein.facts.codes import Code

_TABLE = (
    Code(
        "RECIPE001",
        "validation-error",
        "error",
        "A file in a folder of recipes is not a recipe.",
        "It is not YAML, or not a mapping. The recipe can't be listed or run.",
        "Correct the named line; a value that holds `: ` or ` #` needs quotes.",
    ),
    Code(
        "RECIPE002",
        "recipe-field-type",
        "error",
        "A field of a recipe has a value of another type.",
        "The value has no effect, so the recipe does not run.",
        "Write the value in the form that docs/recipes.md gives.",
    ),
    Code(
        "RECIPE003",
        "recipe-field-unknown",
        "warning",
        "A recipe has a field that does not exist.",
        "It has no effect; a misspelt field leaves the default in place.",
        "Correct the name, or remove the field.",
    ),
    Code(
        "RECIPE004",
        "recipe-retry-block",
        "error",
        "A step has the block `retry` of old recipes.",
        "The block is not read, so the step would never be tried again.",
        "Write `retries: N` and `on_exhausted: STEP`.",
    ),
    Code(
        "RECIPE005",
        "recipe-field-twice",
        "error",
        "A mapping of a recipe has a key twice.",
        "YAML keeps only the last one, so a step or a route is lost.",
        "Remove or rename one of them.",
    ),
    Code(
        "RECIPE010",
        "recipe-input-missing",
        "error",
        "A run of a recipe lacks a required input.",
        "The input is required and has no default, so no step starts.",
        "Give it with `--input NAME=VALUE`.",
    ),
    Code(
        "RECIPE011",
        "recipe-input-unknown",
        "error",
        "A run of a recipe has an input that the recipe does not declare.",
        "Nothing would read it; a misspelt name would leave the meant input at its default.",
        "`checkrein recipe show NAME` lists the inputs.",
    ),
    Code(
        "RECIPE012",
        "recipe-input-type",
        "error",
        "An input of a run has another type than the recipe says.",
        "Steps would compare or count with a value that means something else.",
        "Give a value of the named type.",
    ),
    Code(
        "RECIPE013",
        "recipe-input-reserved",
        "error",
        "A run sets an input that only the configuration may set.",
        "The recipe declares it with `authority: config`, so that no model changes it.",
        "Set it in the configuration, or leave it out.",
    ),
    Code(
        "RECIPE014",
        "recipe-part-missing",
        "error",
        "A sub-recipe of a recipe can't be put in its place.",
        "It does not exist, has no steps, or contains itself.",
        "Correct the name in `sub_recipe`.",
    ),
    Code(
        "RECIPE015",
        "recipe-value-missing",
        "error",
        "A value that a run needs at its start can't be computed.",
        "Its expression refers to something that has no value before the first step.",
        "Use only `inputs.` there.",
    ),
    Code(
        "RECIPE016",
        "recipe-subset-disabled",
        "error",
        "A run needs a skill, a tool or a pack that the configuration switches off.",
        "A step would start a worker without its skill, or call a tool that is hidden; so no step starts.",
        "Run it with --enable-once, or enable the subset in the configuration.",
    ),
)

CODES: dict[str, Code] = {entry.code: entry for entry in _TABLE}


def recipe_finding(code: str, message: str, origin: Origin, hint: str | None = None) -> Diagnostic:
    """Severity and reason come from the table, and so does a missing hint."""
    entry = CODES[code]
    return Diagnostic(code, entry.severity, message, origin, reason=entry.why, hint=hint or entry.hint)
