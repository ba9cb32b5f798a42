"""The fields of a recipe's YAML. The reader takes them from here, and docs/recipes.md lists them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Form = Literal["text", "flag", "integer", "seconds", "texts", "mapping", "captures", "special"]
"""`special` fields have a form of their own, which the reader knows."""


class RecipeField(Struct, frozen=True):
    """`attribute` is the name in the model; empty: the same. The source does not have `is_own` fields."""

    key: str
    form: Form
    meaning: str
    attribute: str = ""
    is_own: bool = False

    @property
    def name(self) -> str:
        return self.attribute or self.key


RECIPE_FIELDS: tuple[RecipeField, ...] = (
    RecipeField("name", "text", "The name that people and campaigns use."),
    RecipeField("description", "text", "What the recipe is for."),
    RecipeField("summary", "text", "The way through the recipe in one line."),
    RecipeField("kind", "special", "`standard`, `campaign` or `food-truck`."),
    RecipeField(
        "checkrein_version",
        "special",
        "The version of Checkrein that the file was written for.",
        "version",
        is_own=True,
    ),
    RecipeField("autoskillit_version", "special", "The same for files of the source.", "version"),
    RecipeField("ingredients", "special", "The inputs by name."),
    RecipeField("steps", "special", "The steps by name, in order; the first is the entry."),
    RecipeField("kitchen_rules", "special", "Constraints in prose for the models that work on steps."),
    RecipeField("requires_packs", "texts", "Packs that are switched on for the run."),
    RecipeField("experimental", "flag", "The recipe may still change."),
    RecipeField("workspace", "text", "The git repository that a run works in.", is_own=True),
    RecipeField("dispatches", "special", "The runs of a campaign, in order."),
    RecipeField("continue_on_failure", "flag", "A campaign goes on after a dispatch that failed."),
    RecipeField("requires_recipe_packs", "texts", "Packs that the recipes of a campaign come from."),
    RecipeField("allowed_recipes", "texts", "The only recipes that a campaign may dispatch."),
    RecipeField("categories", "texts", "Categories of the recipe."),
)

INGREDIENT_FIELDS: tuple[RecipeField, ...] = (
    RecipeField("description", "text", "What the input is."),
    RecipeField("required", "flag", "A run needs a value."),
    RecipeField("default", "text", 'The value without one; `""` asks for detection.'),
    RecipeField("hidden", "flag", "People are not asked for it."),
    RecipeField(
        "type",
        "text",
        "`string`, `boolean`, `integer`, `number`, `path` or `list`; values of the last are split at commas.",
    ),
    RecipeField("authority", "text", "`config`: only the configuration sets it."),
)

STEP_FIELDS: tuple[RecipeField, ...] = (
    RecipeField("tool", "special", "Call this tool.", "subject"),
    RecipeField("action", "special", "`route`, `stop`, `confirm` or `wait`.", "kind"),
    RecipeField("python", "special", "Call this Python function, by its dotted name.", "subject"),
    RecipeField("constant", "special", "The result is this value.", "subject"),
    RecipeField("sub_recipe", "special", "The steps of this sub-recipe, if `gate` is on.", "subject"),
    RecipeField(
        "foreach",
        "special",
        "Run `steps` for each item of this list; `as` names the item in `context`.",
        "subject",
        is_own=True,
    ),
    RecipeField(
        "parallel", "special", "Run these branches, each with `steps`, at the same time.", is_own=True
    ),
    RecipeField(
        "as", "text", "The name of an item of `foreach`; `item` by default.", "variable", is_own=True
    ),
    RecipeField("steps", "special", "The body of a `foreach`.", is_own=True),
    RecipeField("limit", "integer", "How many bodies run at the same time.", is_own=True),
    RecipeField("with", "mapping", "The arguments.", "with_args"),
    RecipeField("capture", "captures", "Names in `context` for parts of the result."),
    RecipeField("capture_list", "captures", "The same for lists."),
    RecipeField("on_success", "text", "The next step; without it the one below."),
    RecipeField("on_failure", "text", "The step after a failure; without it the run fails."),
    RecipeField(
        "on_context_limit", "text", "The step when a worker's context is full; without it `on_failure`."
    ),
    RecipeField("on_result", "special", "Routes `{when, route}`; the first whose condition holds is taken."),
    RecipeField("on_exhausted", "text", "The step when all retries are used up; `escalate` by default."),
    RecipeField("retries", "integer", "How often a retriable outcome is tried again; 3 by default."),
    RecipeField("optional", "flag", "The step may be skipped; needs `skip_when_false`."),
    RecipeField("skip_when_false", "text", "Skip the step when this input is false or empty."),
    RecipeField("message", "text", "What `stop` reports, and what `confirm` asks."),
    RecipeField("note", "text", "A remark. The engine never reads it."),
    RecipeField("description", "text", "What the step is for."),
    RecipeField("model", "text", "The model of a worker."),
    RecipeField("stale_threshold", "seconds", "A worker without progress is stopped after this time."),
    RecipeField("idle_output_timeout", "seconds", "The same for one without output; 0 switches it off."),
    RecipeField("timeout", "seconds", "The longest time that the step may take.", is_own=True),
    RecipeField("gate", "text", "The input that lets a sub-recipe in."),
    RecipeField("optional_context_refs", "texts", "Names in `context` that may be missing."),
    RecipeField("block", "text", "The named region that the step belongs to."),
    RecipeField(
        "effect",
        "special",
        "What a second start after a crash means: `pure`, `keyed` or `once`.",
        is_own=True,
    ),
    RecipeField(
        "queue",
        "text",
        "A queue for the step. It has no effect yet: the limits of the run's queue hold.",
        is_own=True,
    ),
)

DISPATCH_FIELDS: tuple[RecipeField, ...] = (
    RecipeField("name", "text", "The name of the dispatch."),
    RecipeField("recipe", "text", "The recipe that it runs."),
    RecipeField("task", "text", "Its input `task`."),
    RecipeField("ingredients", "mapping", "Its other inputs."),
    RecipeField("depends_on", "texts", "The dispatch that must come before, at most one."),
    RecipeField("capture", "captures", "Names in `campaign` for parts of its result."),
    RecipeField("gate", "text", "`confirm`: a person answers instead of a recipe."),
    RecipeField("message", "text", "What the gate asks."),
    RecipeField("skip_when", "text", "Skip it when this condition holds."),
)

DISCRIMINATORS: tuple[str, ...] = (
    "tool",
    "action",
    "python",
    "constant",
    "sub_recipe",
    "foreach",
    "parallel",
)
"""The fields of a step of which it has exactly one."""

LATER_FIELDS: frozenset[str] = frozenset(
    {
        "recipe_version",
        "requires_features",
        "dispatch_only",
        "delivery_segments",
        "on_rate_limit",
        "on_skip",
        "skip_when_true",
        "provider",
        "pass_through",
        "phoropter_family",
    }
)
"""Fields of later versions of the source. They load and have no effect."""
