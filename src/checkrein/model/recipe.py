"""A recipe as its file says it: inputs, steps and routes, each with its place.

A Recipe is raw: values of a wrong type stay in `unknown`, and the reader's diagnostics say so. What runs is
a `Plan` of `checkrein.model.recipe_plan`, which exists only for a recipe without errors.
"""

from __future__ import annotations

import re
from typing import Any, Literal

from msgspec import Struct, field

from checkrein.base.origin import Origin
from checkrein.model.items import Item

RecipeKind = Literal["standard", "campaign", "food-truck"]
StepKind = Literal[
    "tool",
    "python",
    "constant",
    "route",
    "stop",
    "confirm",
    "wait",
    "sub_recipe",
    "foreach",
    "parallel",
    "dispatch",
    "none",
]
"""What a step does: the one discriminator of its YAML. `none` is a step that has not exactly one. Only the
plan of a campaign has `dispatch` steps."""

Effect = Literal["pure", "keyed", "once"]
"""What a second start of a step after a crash means: nothing (`pure`), the same key again (`keyed`), or a
person must say what happened (`once`)."""

DONE, ESCALATE = "done", "escalate"
"""The two targets that are no steps: the end of the recipe, and its failure. A step of that name wins."""

RUN_SKILL = "run_skill"
"""The tool that runs a skill in a worker."""

BODY_ITEM = "item"
"""The name of a `foreach`'s item in `context`, where `as` gives no other."""


_INPUT = re.compile(r"(?:\$\{\{\s*)?inputs\.([\w-]+)(?:\s*\}\})?")


def input_name(text: str) -> str:
    """The ingredient that a `gate` or a `skip_when_false` names: `x`, `inputs.x` or `${{ inputs.x }}`."""
    match = _INPUT.fullmatch(text.strip())
    return match[1] if match else text.strip()


class Ingredient(Item, frozen=True, kw_only=True):
    """A typed input. Without a default it is None; `""` asks for detection. `authority` "config" means that a
    model may not set it."""

    description: str = ""
    required: bool = False
    default: str | None = None
    hidden: bool = False
    type: str = "string"
    authority: str | None = None


class Arm(Struct, frozen=True, kw_only=True):
    """One route of `on_result`: the first arm whose condition holds is taken, one without always holds."""

    route: str
    when: str | None = None
    origin: Origin


class Branch(Struct, frozen=True, kw_only=True):
    """A body of steps with its own names: of a `foreach`, or one of a `parallel`. Its `done` ends the body,
    its `escalate` fails it."""

    name: str
    steps: tuple[Step, ...]
    origin: Origin


class Step(Item, frozen=True, kw_only=True):
    """One step. `subject` is what the discriminator names: a tool, a dotted callable, a sub-recipe, the
    expression whose items a `foreach` walks, or the value of a constant.

    `with_args` is `with`. `routes_field` names the field of the old form of `on_result` ({field, routes});
    its arms carry the value as a condition.
    """

    kind: StepKind
    subject: Any = None
    with_args: dict[str, Any] = field(default_factory=dict)
    capture: dict[str, str] = field(default_factory=dict)
    capture_list: dict[str, str] = field(default_factory=dict)
    on_success: str | None = None
    on_failure: str | None = None
    on_context_limit: str | None = None
    on_result: tuple[Arm, ...] = ()
    routes_field: str | None = None
    on_exhausted: str = ESCALATE
    retries: int = 3
    optional: bool = False
    skip_when_false: str | None = None
    message: str | None = None
    note: str | None = None
    description: str = ""
    model: str | None = None
    stale_threshold: float | None = None
    idle_output_timeout: float | None = None
    timeout: float | None = None
    gate: str | None = None
    optional_context_refs: tuple[str, ...] = ()
    block: str | None = None
    effect: Effect | None = None
    queue: str | None = None
    variable: str | None = None
    limit: int | None = None
    branches: tuple[Branch, ...] = ()

    @property
    def tool(self) -> str | None:
        """The tool that the step calls, if it calls one by name."""
        return str(self.subject) if self.kind == "tool" else None

    @property
    def skill_command(self) -> str | None:
        """The command line of a worker: a skill with its arguments."""
        command = self.with_args.get("skill_command") if self.tool == RUN_SKILL else None
        return command if isinstance(command, str) else None

    @property
    def skill(self) -> str | None:
        """The skill that the step runs, without slash and namespace; None when only the run can tell."""
        words = (self.skill_command or "").split()
        name = words[0].removeprefix("/").rpartition(":")[2] if words else ""
        return name if name and "${{" not in name else None


class Dispatch(Item, frozen=True, kw_only=True):
    """One run of a recipe in a campaign, or a gate that a person answers."""

    recipe: str | None = None
    task: str | None = None
    ingredients: dict[str, Any] = field(default_factory=dict)
    depends_on: tuple[str, ...] = ()
    capture: dict[str, str] = field(default_factory=dict)
    gate: str | None = None
    message: str | None = None
    skip_when: str | None = None


class Recipe(Item, frozen=True, kw_only=True):
    """`version` is the version of Checkrein (or of the source's program) that the file was written for.
    `workspace` is the git repository that a run works in. `digest` is that of the file's bytes."""

    kind: RecipeKind = "standard"
    description: str = ""
    summary: str = ""
    version: str | None = None
    ingredients: tuple[Ingredient, ...] = ()
    steps: tuple[Step, ...] = ()
    kitchen_rules: tuple[str, ...] | None = None
    requires_packs: tuple[str, ...] = ()
    experimental: bool = False
    workspace: str | None = None
    is_sub_recipe: bool = False
    dispatches: tuple[Dispatch, ...] = ()
    continue_on_failure: bool = False
    requires_recipe_packs: tuple[str, ...] = ()
    allowed_recipes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    digest: str = ""

    def step(self, name: str) -> Step | None:
        return next((one for one in self.steps if one.name == name), None)

    def ingredient(self, name: str) -> Ingredient | None:
        return next((one for one in self.ingredients if one.name == name), None)
