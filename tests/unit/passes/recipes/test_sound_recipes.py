"""Recipes that do nothing wrong, with every kind of step, have no finding at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.validity import problems

Shelf = Callable[[Mapping[str, str]], Library]

SKILL = "---\nname: {name}\ndescription: Do the part {name}. Use when a recipe asks for it.\n---\n{body}\n"
RULES = "kitchen_rules: [Never use Bash or Edit outside a step]\n"

EVERY_KIND = f"""\
name: main
description: Every kind of step.
{RULES}
ingredients:
  task: {{description: What to do, required: true}}
  source_dir: {{description: The repository, default: ""}}
  audit: {{description: Whether to audit, default: "false"}}
  sprint: {{description: Whether to prepare, default: "true"}}
  run_mode: {{description: How it was started, default: manual, hidden: true}}
requires_packs: [research]
steps:
  prepare: {{sub_recipe: prepare, gate: sprint, on_success: clone, on_failure: failed}}
  clone:
    tool: clone_repo
    with: {{source_dir: "${{{{ inputs.source_dir }}}}", run_name: "${{{{ inputs.run_mode }}}}"}}
    capture: {{clone_path: "${{{{ result.clone_path }}}}", remote_url: "${{{{ result.remote_url }}}}"}}
  branch:
    tool: create_unique_branch
    with: {{slug: work, cwd: "${{{{ context.clone_path }}}}"}}
    capture: {{base: "${{{{ result.branch_name }}}}"}}
  publish_base:
    tool: push_to_remote
    with:
      clone_path: "${{{{ context.clone_path }}}}"
      branch: "${{{{ context.base }}}}"
      remote_url: "${{{{ context.remote_url }}}}"
  mode: {{constant: careful, capture: {{mode: "${{{{ result.value }}}}"}}}}
  count:
    python: tools.count.lines
    with: {{mode: "${{{{ context.mode }}}}"}}
  design:
    tool: run_skill
    with: {{skill_command: "/design ${{{{ inputs.task }}}}", cwd: "${{{{ context.clone_path }}}}"}}
    capture_list: {{plan_parts: "${{{{ result.plan_parts }}}}"}}
    on_context_limit: failed
    model: opus
  parts:
    foreach: ${{{{ context.plan_parts }}}}
    as: part
    steps:
      implement:
        tool: run_skill
        with:
          skill_command: /implement-worktree ${{{{ context.part }}}} ${{{{ context.base }}}}
          cwd: "${{{{ context.clone_path }}}}"
        capture: {{worktree_path: "${{{{ result.worktree_path }}}}"}}
        retries: 0
        on_context_limit: resume
      check:
        tool: test_check
        with: {{worktree_path: "${{{{ context.worktree_path }}}}"}}
        on_failure: mend
      commit:
        tool: run_cmd
        with: {{cmd: "git add -A && git commit -m part", cwd: "${{{{ context.worktree_path }}}}"}}
      join:
        tool: merge_worktree
        with: {{worktree_path: "${{{{ context.worktree_path }}}}", base_branch: "${{{{ context.base }}}}"}}
        capture: {{cleaned: "${{{{ result.cleanup_succeeded }}}}"}}
        on_failure: escalate
        on_result:
          - {{when: "${{{{ result.failed_step }}}} == dirty_tree", route: commit}}
          - {{when: "${{{{ result.failed_step }}}} == test_gate", route: mend}}
          - {{when: "${{{{ result.failed_step }}}} == post_rebase_test_gate", route: mend}}
          - {{when: "${{{{ result.failed_step }}}} == rebase", route: mend}}
          - {{route: done}}
      mend:
        tool: run_skill
        with: {{skill_command: /resolve-failures, cwd: "${{{{ context.worktree_path }}}}"}}
        retries: 0
        on_context_limit: escalate
        on_success: check
      resume:
        tool: run_skill
        with: {{skill_command: /retry-worktree, cwd: "${{{{ context.worktree_path }}}}"}}
        optional_context_refs: [worktree_path]
        retries: 0
        on_context_limit: escalate
        on_success: check
  views:
    parallel:
      bounds:
        look:
          tool: run_skill
          with: {{skill_command: /lens-boundaries, cwd: "${{{{ context.clone_path }}}}"}}
      tests:
        look: {{tool: run_skill, with: {{skill_command: /audit-tests, cwd: "${{{{ context.clone_path }}}}"}}}}
  audit:
    tool: run_skill
    with: {{skill_command: "/audit-impl ${{{{ inputs.task }}}}", cwd: "${{{{ context.clone_path }}}}"}}
    optional: true
    skip_when_false: inputs.audit
    on_context_limit: ask
    on_failure: ask
    on_result:
      - {{when: "${{{{ result.verdict }}}} == GO", route: ask}}
      - {{when: "${{{{ result.verdict }}}} == NO GO", route: pause}}
      - {{route: ask}}
  ask: {{action: confirm, message: "Push ${{{{ context.base }}}}?", on_success: push, on_failure: failed}}
  pause: {{action: wait, with: {{seconds: 60}}, on_success: choose}}
  choose:
    action: route
    on_result: [{{when: "${{{{ inputs.audit }}}} == strict", route: failed}}, {{route: design}}]
  push:
    tool: push_to_remote
    with:
      clone_path: "${{{{ context.clone_path }}}}"
      branch: "${{{{ context.base }}}}"
      remote_url: "${{{{ context.remote_url }}}}"
    on_success: state
  state:
    tool: check_repo_merge_state
    with: {{branch: "${{{{ context.base }}}}"}}
    capture: {{ci_event: "${{{{ result.ci_event }}}}"}}
    block: pre_queue_gate
  watch:
    tool: wait_for_ci
    with: {{branch: "${{{{ context.base }}}}", event: "${{{{ context.ci_event }}}}"}}
    on_success: over
    on_failure: failed
  over: {{action: stop, message: Published}}
  failed: {{action: stop, message: It failed}}
"""
SUB = f"""\
name: prepare
description: Prepare the work.
{RULES}
steps:
  triage: {{tool: run_cmd, with: {{cmd: "git status", cwd: .}}, on_success: done, on_failure: escalate}}
"""
CAMPAIGN = f"""\
name: season
description: Two runs and a question.
{RULES}
kind: campaign
allowed_recipes: [main]
dispatches:
  - {{name: first, recipe: main, task: Mend it, capture: {{base: "${{{{ result.base }}}}"}}}}
  - {{name: ask, gate: confirm, message: "Go on from ${{{{ campaign.base }}}}?", depends_on: [first]}}
  - name: second
    recipe: main
    task: More on ${{{{ campaign.base }}}}
    ingredients: {{audit: "true"}}
    depends_on: [ask]
"""
CONTRACTS = {
    "design": "inputs: [{name: task, required: true}]\noutputs: [{name: plan_parts, type: file_path_list}]\n"
    'expected_output_patterns: ["plan_parts = .+"]\npattern_examples: [plan_parts = /a.md]\n',
    "implement-worktree": "write_behavior: always\n",
    "resolve-failures": "write_behavior: conditional\nwrite_expected_when: [mended]\n",
    "retry-worktree": "",
    "audit-impl": "outputs: [{name: verdict, allowed_values: [GO, NO GO]}]\n",
}


def files() -> dict[str, str]:
    found = {"main.yaml": EVERY_KIND, "sub-recipes/prepare.yaml": SUB, "season.yaml": CAMPAIGN}
    for name, contract in CONTRACTS.items():
        text = SKILL.format(name=name, body="Work in {place}, the directory. Report as plain text.")
        found[f"/.claude/skills/{name}/SKILL.md"] = text
        if contract:
            found[f"/.claude/skills/{name}/contract.yaml"] = contract
    return found


def test_every_kind_of_step_without_a_finding(shelf: Shelf) -> None:
    library = shelf(files())
    for name in ("main", "season"):
        recipe = library.recipe(name)
        assert recipe is not None
        found = problems(recipe, library)
        assert not found, [f"{one.code} {one.origin.line} {one.message}" for one in found]
    main = library.recipe("main")
    assert main is not None
    inner = {one.kind for step in main.steps for branch in step.branches for one in branch.steps}
    assert {step.kind for step in main.steps} | inner == {
        "tool", "python", "constant", "route", "stop", "confirm", "wait", "sub_recipe", "foreach", "parallel"
    }  # fmt: skip
