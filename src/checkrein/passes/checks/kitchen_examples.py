"""Recipes for the examples of checks: small, well formed, and without other findings."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent, indent

from checkrein.passes.checks.check import Files
from checkrein.passes.checks.examples import skill

RECIPES = ".checkrein/recipes"
CONFIG = "checkrein.toml"
_RULES = "kitchen_rules:\n  - Never use Bash, Edit or Write outside a step.\n"
_FAILED = "failed: {action: stop, message: It failed}"
_USE = "Do the part {name} of a pipeline. Use when a recipe asks for it."


def example(
    steps: str,
    *,
    top: str = "",
    skills: Mapping[str, str] | None = None,
    bodies: Mapping[str, str] | None = None,
    name: str = "example",
    rules: str = _RULES,
    more: Files | None = None,
) -> Files:
    """A project with one recipe, and the skills that it names with their contracts; an empty one is none."""
    files: Files = {f"{RECIPES}/{name}.yaml": recipe(steps, top=top, name=name, rules=rules)}
    for one, contract in (skills or {}).items():
        folder = f".claude/skills/{one}"
        body = (bodies or {}).get(one, "Do the work and report.\n")
        files[f"{folder}/SKILL.md"] = skill(
            name=one, description=_USE.format(name=one), body=dedent(body).lstrip("\n")
        )
        if contract:
            files[f"{folder}/contract.yaml"] = dedent(contract).lstrip("\n")
    return {**files, **(more or {})}


def recipe(steps: str, *, top: str = "", name: str = "example", rules: str = _RULES) -> str:
    """A recipe with these steps, and a step `failed` where they lead to one."""
    head = f"name: {name}\ndescription: An example.\n{rules}{dedent(top).lstrip(chr(10))}"
    end = f"\n{_FAILED}" if _FAILED.partition(":")[0] in steps else ""
    return f"{head}steps:\n{indent(dedent(steps).strip(chr(10)) + end, '  ')}\n"


def campaign(
    dispatches: str, *, top: str = "kind: campaign\n", targets: Mapping[str, str] | None = None
) -> Files:
    """A campaign, and the recipes that it dispatches: by name the lines of each before its steps."""
    listed = f"dispatches:\n{indent(dedent(dispatches).strip(chr(10)), '  ')}\n" if dispatches else ""
    head = f"name: season\ndescription: A campaign.\n{_RULES}{dedent(top).lstrip(chr(10))}"
    files: Files = {f"{RECIPES}/season.yaml": f"{head}{listed}"}
    for name, lines in (targets or {"repair": TASK}).items():
        files[f"{RECIPES}/{name}.yaml"] = recipe(STOP, top=lines, name=name)
    return files


SOURCE = "ingredients:\n  source_dir: {description: The repository, default: ''}\n"
TASK = "ingredients:\n  task: {description: What to do, required: true}\n"
STOP = "end: {action: stop, message: 'Finished: ${{ inputs.task }}'}"

IMPLEMENT = {"implement-worktree": ""}


def merge(*, cleanup: bool = True, guard: bool = True, then: str = "", routes: str = "") -> str:
    """The steps of a recipe that builds in a worktree, commits and merges."""
    arguments = '{cmd: "git add -A && git commit -m work", cwd: "${{ context.worktree_path }}"}'
    committed = f"commit: {{tool: run_cmd, with: {arguments}}}"
    captured = "\n  capture: {cleaned: '${{ result.cleanup_succeeded }}'}" if cleanup else ""
    report = '\nend: {action: stop, message: "Merged; cleaned: ${{ context.cleaned }}"}' if cleanup else ""
    return f"""
build:
  tool: run_skill
  with: {{skill_command: /implement-worktree, cwd: .}}
  capture: {{worktree_path: "${{{{ result.worktree_path }}}}"}}
  retries: 0
  on_context_limit: failed
{committed if guard else ""}
join:
  tool: merge_worktree
  with: {{worktree_path: "${{{{ context.worktree_path }}}}", base_branch: work}}{captured}{routes}
{then}{report}
"""
