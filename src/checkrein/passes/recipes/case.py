"""One recipe with all that a rule asks about it; every answer is worked out once."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property

from msgspec import Struct

from checkrein.facts.recipe_rules import rule_facts
from checkrein.model.expression import Reference, references_in
from checkrein.model.items import Invocable
from checkrein.model.project import Project
from checkrein.model.recipe import Recipe, Step
from checkrein.model.skill_contract import Contract
from checkrein.passes.recipes.contracts import Contracts
from checkrein.passes.recipes.dataflow import names_read, result_field, writes
from checkrein.passes.recipes.flow_graph import Flow, flows
from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.parents import sub_recipes
from checkrein.passes.recipes.skill_call import SkillCall, skill_call
from checkrein.passes.recipes.skill_shelf import SkillShelf

_TRUE = ("true", "1", "yes")


class SkillStep(Struct, frozen=True):
    """A step that runs a skill. `item` and `contract` are None where there is none."""

    flow: Flow
    step: Step
    call: SkillCall
    item: Invocable | None
    contract: Contract | None

    @property
    def name(self) -> str:
        return self.call.name

    @property
    def changes_files(self) -> bool:
        """Whether it is known to change files, always or now and then."""
        if self.contract is not None and self.contract.write_behavior != "none":
            return True
        return self.name in rule_facts().skills.worktree

    @property
    def must_write(self) -> bool:
        return self.contract is not None and self.contract.write_behavior == "always"


class Case:
    def __init__(self, recipe: Recipe, library: Library, shelf: SkillShelf) -> None:
        self.recipe = recipe
        self.library = library
        self.shelf = shelf

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        return tuple(flows(self.recipe))

    @cached_property
    def steps(self) -> tuple[tuple[Flow, Step], ...]:
        """Every step with the flow that holds it."""
        return tuple((flow, step) for flow in self.flows for step in flow.steps.values())

    @cached_property
    def skills(self) -> tuple[SkillStep, ...]:
        found = []
        for flow, step in self.steps:
            call = skill_call(step)
            if call is not None:
                item, contract = self.shelf.item(call), self.shelf.contract(call)
                found.append(SkillStep(flow, step, call, item, contract))
        return tuple(found)

    def skill(self, step: Step) -> SkillStep | None:
        return next((one for one in self.skills if one.step is step), None)

    def calls(self, *tools: str) -> Iterator[tuple[Flow, Step]]:
        """The steps that call one of these tools."""
        return ((flow, step) for flow, step in self.steps if step.tool in tools)

    def named(
        self, flow: Flow, *, tools: Collection[str] = (), skills: Collection[str] = ()
    ) -> frozenset[str]:
        """The steps of a flow that call one of the tools or run one of the skills."""
        by_tool = {step.name for step in flow.steps.values() if step.tool in tools}
        by_skill = {one.step.name for one in self.skills if one.flow is flow and one.name in skills}
        return frozenset(by_tool | by_skill)

    def commands(self) -> Iterator[tuple[Flow, Step, str]]:
        """The steps that run a shell command, with its text."""
        for flow, step in self.calls("run_cmd"):
            text = step.with_args.get("cmd")
            if isinstance(text, str):
                yield flow, step, text

    def comes_from(self, reference: Reference, field: str) -> bool:
        """Whether a variable holds a field of a result: it was captured from it."""
        if reference.namespace != "context":
            return False
        found = [
            text for _, step in self.steps for name, text in writes(step).items() if name == reference.name
        ]
        return bool(found) and all(result_field(text) == field for text in found)

    @cached_property
    def sources(self) -> frozenset[str]:
        """The inputs that name the repository a person works in."""
        cloned = {
            one.name
            for _, step in self.calls("clone_repo")
            for one in references_in(step.with_args.get("source_dir"))
            if one.namespace == "inputs"
        }
        declared = {one.name for one in self.recipe.ingredients}
        return frozenset(cloned | (rule_facts().inputs.source & declared))

    def is_in_source(self, step: Step, *arguments: str) -> str | None:
        """The argument, one of these, that is a person's own repository."""
        for name in arguments:
            for one in references_in(step.with_args.get(name)):
                if one.namespace == "inputs" and one.name in self.sources:
                    return name
        return None

    def read_outside(self, flow: Flow) -> frozenset[str]:
        """The variables that other flows read, and the sub-recipes and campaigns that share them."""
        others = (names_read(step, deep=False) for other, step in self.steps if other is not flow)
        return frozenset().union(*others, self._merged, self._dispatched)

    @cached_property
    def _merged(self) -> frozenset[str]:
        """The variables that the recipe's sub-recipes read, and those in them."""
        parts = sub_recipes(self.recipe, self.library)
        return frozenset(name for part in parts for step in part.steps for name in names_read(step))

    @cached_property
    def _dispatched(self) -> frozenset[str]:
        """The fields that campaigns take from runs of this recipe."""
        campaigns = (one.item for one in self.library.recipes.values() if one.item.dispatches)
        return frozenset(
            field
            for campaign in campaigns
            for dispatch in campaign.dispatches
            if dispatch.recipe == self.recipe.name
            for text in dispatch.capture.values()
            if (field := result_field(text)) is not None
        )


def cases_of(project: Project, library: Library, contracts: Contracts) -> tuple[Case, ...]:
    """The recipes and sub-recipes of a project that are in effect."""
    shelf = SkillShelf(project, contracts)
    held = (*project.recipes.values(), *project.sub_recipes.values())
    return tuple(Case(one.item, library, shelf) for one in held)


def is_true(value: object) -> bool:
    return str(value).strip().lower() in _TRUE
