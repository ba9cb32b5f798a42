"""The semantic rules beyond their examples: what they must find, and what they must leave alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import dedent, indent

import pytest

from checkrein.base.diagnostic import Diagnostic
from checkrein.passes.checks.table import checks
from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.validity import problems

Shelf = Callable[[Mapping[str, str]], Library]

SKILL = "---\nname: {name}\ndescription: Do the part {name}. Use when asked.\n---\n{body}\n"
URL = "https://example.com/r.git"


def judged(
    shelf: Shelf,
    steps: str,
    *,
    top: str = "",
    skills: Mapping[str, str] | None = None,
    bodies: Mapping[str, str] | None = None,
    more: Mapping[str, str] | None = None,
) -> list[Diagnostic]:
    rules = "" if "kitchen_rules" in top else "kitchen_rules: [Never use Bash yourself]\n"
    text = f"name: main\ndescription: x\n{rules}{dedent(top)}steps:\n{indent(dedent(steps).strip(), '  ')}\n"
    files = {"main.yaml": text, **(more or {})}
    for name, contract in (skills or {}).items():
        body = (bodies or {}).get(name, "Report as plain text.")
        files[f"/.claude/skills/{name}/SKILL.md"] = SKILL.format(name=name, body=body)
        if contract:
            files[f"/.claude/skills/{name}/contract.yaml"] = contract
    library = shelf(files)
    recipe = library.recipe("main")
    assert recipe is not None
    return problems(recipe, library)


def named(found: list[Diagnostic]) -> set[str]:
    return {checks()[one.code].name if one.code in checks() else one.code for one in found}


LOOPS = {
    "nothing-ends-it": (
        "a: {action: wait, with: {seconds: 1}, on_success: b, on_failure: b}\n"
        "b: {action: wait, with: {seconds: 1}, on_success: a, on_failure: a}",
        "error",
    ),
    "only-a-failure": (
        "a: {tool: test_check, with: {worktree_path: .}, on_success: a, on_failure: done}",
        "warning",
    ),
    "only-when-retries-are-used-up": (
        "a: {tool: test_check, with: {worktree_path: .}, on_success: a, on_exhausted: b}\n"
        "b: {action: stop, message: Gave up}",
        "warning",
    ),
    "a-success": ("a: {tool: test_check, with: {worktree_path: .}, on_success: done, on_failure: a}", None),
    "a-condition": (
        "a: {tool: test_check, with: {worktree_path: .}, on_failure: a,"
        " on_result: [{when: '${{ result.passed }}', route: done}, {route: a}]}",
        None,
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops(shelf: Shelf, name: str) -> None:
    steps, severity = LOOPS[name]
    found = [one.severity for one in judged(shelf, steps) if one.code == "RCP070"]
    assert found == ([severity] if severity else [])


ONE = (
    "a: {tool: run_cmd, with: {cmd: CMD, cwd: .}CAPTURE}\nb: {action: stop, message: 'Saw ${{ context.x }}'}"
)
SAID = "outputs: [{name: x}]\n"
CASES: dict[str, tuple[str, dict[str, str], set[str]]] = {
    "a command may run a script that prints": (
        ONE.replace("CMD", "./build.sh").replace("CAPTURE", ", capture: {x: '${{ result.x }}'}"),
        {},
        set(),
    ),
    "a command that prints the name": (
        ONE.replace("CMD", "'echo x=1'").replace("CAPTURE", ", capture: {x: '${{ result.x }}'}"),
        {},
        set(),
    ),
    "a command's own fields": (
        ONE.replace("CMD", "git log").replace("CAPTURE", ", capture: {x: '${{ result.stdout }}'}"),
        {},
        set(),
    ),
    "a command that does not": (
        ONE.replace("CMD", "git log").replace("CAPTURE", ", capture: {x: '${{ result.x }}'}"),
        {},
        {"run-cmd-emit-alignment"},
    ),
    "an input by its name": (
        "a: {tool: run_skill, with: {skill_command: '/s task=now', cwd: .}}",
        {"s": "inputs: [{name: task, required: true}]\n"},
        set(),
    ),
    "an input by a reference of another name": (
        "m: {constant: 1, capture: {plan: x}}\n"
        "a: {tool: run_skill, with: {skill_command: '/s ${{ context.plan }}', cwd: .}}",
        {"s": "inputs: [{name: task, required: true}]\n"},
        set(),
    ),
    "the second of two inputs": (
        "a: {tool: run_skill, with: {skill_command: '/s one', cwd: .}}",
        {"s": "inputs: [{name: task, required: true}, {name: place, required: true}]\n"},
        {"missing-ingredient"},
    ),
    "a skill that only a run knows": (
        "m: {constant: 1, capture: {s: /x}}\n"
        "a: {tool: run_skill, with: {skill_command: '${{ context.s }}', cwd: .}}",
        {},
        set(),
    ),
    "the last skill keeps its outputs": (
        "a: {tool: run_skill, with: {skill_command: /s, cwd: .}}\n"
        "b: {tool: test_check, with: {worktree_path: .}}",
        {"s": SAID},
        set(),
    ),
    "a skill that routes by its output": (
        "a: {tool: run_skill, with: {skill_command: /s, cwd: .}, on_failure: b,"
        " on_result: [{when: '${{ result.x }} == 1', route: b}, {route: done}]}\n"
        "b: {tool: run_skill, with: {skill_command: /t, cwd: .}}",
        {"s": SAID, "t": ""},
        set(),
    ),
    "a verdict in another case": (
        "a: {tool: run_skill, with: {skill_command: /s, cwd: .}, on_failure: b, on_result:"
        " [{when: '${{ result.v }} == \"no go\"', route: b}, {when: '${{ result.v }} == GO', route: done}]}\n"
        "b: {action: stop, message: No}",
        {"s": "outputs: [{name: v, allowed_values: [GO, NO GO]}]\n"},
        set(),
    ),
    "a read-only skill before a merge": (
        "a: {tool: run_skill, with: {skill_command: /s, cwd: .}}\n"
        "m: {tool: merge_worktree, with: {worktree_path: w, base_branch: b},"
        " capture: {c: '${{ result.cleanup_succeeded }}'}}",
        {"s": "write_behavior: none\n"},
        set(),
    ),
    "a merge that routes only success": (
        "m: {tool: merge_worktree, with: {worktree_path: w, base_branch: b},"
        " on_result: [{when: '${{ result.cleanup_succeeded }}', route: done}, {route: f}], on_failure: f}\n"
        "f: {action: stop, message: No}",
        {},
        set(),
    ),
    "tests in a clone without worktrees": (
        "c: {tool: clone_repo, with: {source_dir: ., run_name: r},"
        " capture: {p: '${{ result.clone_path }}'}}\n"
        "t: {tool: test_check, with: {worktree_path: '${{ context.p }}'}}",
        {},
        set(),
    ),
    "a merge of a clone": (
        "c: {tool: clone_repo, with: {source_dir: ., run_name: r},"
        " capture: {p: '${{ result.clone_path }}'}}\n"
        "m: {tool: merge_worktree, with: {worktree_path: '${{ context.p }}', base_branch: b},"
        " capture: {c: '${{ result.cleanup_succeeded }}'}}",
        {},
        {"clone-root-as-worktree"},
    ),
    "a push after a merge needs no force": (
        "r: {tool: run_cmd, with: {cmd: git rebase main, cwd: .}}\n"
        "m: {tool: merge_worktree, with: {worktree_path: w, base_branch: b},"
        " capture: {c: '${{ result.cleanup_succeeded }}'}}\n"
        f"p: {{tool: push_to_remote, with: {{clone_path: ., branch: b, remote_url: '{URL}'}}}}\n"
        "e: {action: stop, message: '${{ context.c }}'}",
        {},
        set(),
    ),
    "an aborted rebase": (
        "r: {tool: run_cmd, with: {cmd: git rebase --abort, cwd: .}}\n"
        f"p: {{tool: push_to_remote, with: {{clone_path: ., branch: b, remote_url: '{URL}'}}}}",
        {},
        set(),
    ),
    "any server's tool and any of the session": (
        "a: {tool: mcp__tracker__list}\nb: {tool: Bash, with: {command: ls}}",
        {},
        set(),
    ),
    "all states of the merge queue without routes": (
        "q: {tool: wait_for_merge_queue, with: {pr_number: 1, target_branch: main}}",
        {},
        set(),
    ),
    "a loop that reads what it captures later, as it may": (
        "a: {tool: run_cmd, with: {cmd: 'echo ${{ context.x }}', cwd: .}, optional_context_refs: [x]}\n"
        "b: {tool: test_check, with: {worktree_path: .}, capture: {x: '${{ result.stdout }}'},"
        " on_success: done, on_failure: a}",
        {},
        set(),
    ),
    "what a rule asks to capture may stay unread": (
        "m: {tool: merge_worktree, with: {worktree_path: w, base_branch: b},"
        " capture: {c: '${{ result.cleanup_succeeded }}'}}\n"
        "t: {tool: test_check, with: {worktree_path: .}}",
        {},
        set(),
    ),
    "two readers of the same parts": (
        "d: {tool: run_skill, with: {skill_command: /d, cwd: .},"
        " capture_list: {plan_parts: '${{ result.plan_parts }}'}}\n"
        "p: {foreach: '${{ context.plan_parts }}', steps: {t: {tool: test_check, with: {worktree_path: .}}}}",
        {"d": "outputs: [{name: plan_parts}]\n"},
        set(),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_cases(shelf: Shelf, name: str) -> None:
    steps, skills, expected = CASES[name]
    found = judged(shelf, steps, skills=skills)
    assert named(found) == expected, [one.message for one in found]


def test_parts_by_notes_need_all_three(shelf: Shelf) -> None:
    """The source walks over parts by notes: what is missing is named, one after the other."""
    skills = {"d": "outputs: [{name: plan_parts}]\n", "b": ""}
    steps = """
    d:
      tool: run_skill
      with: {skill_command: /d, cwd: .}
      capture_list: {plan_parts: "${{ result.plan_parts }}"}
      NOTE
    b: {tool: run_skill, with: {skill_command: "/b ${{ context.plan_parts[0] }}", cwd: .}NEXT}
    """
    for note, rules, following, expected in (
        ("", "Never use Bash", "", "multipart-glob-note"),
        ("note: Find all parts", "Never use Bash", "", "multipart-sequential-kitchen-rule"),
        ("note: Find all parts", "Never use Bash. Parts are sequential", "", "multipart-route-back"),
        ("note: Find all parts", "Never use Bash. Parts are sequential", ", on_failure: b", None),
    ):
        text = steps.replace("NOTE", note).replace("NEXT", following)
        found = judged(shelf, text, top=f"kitchen_rules: ['{rules}']\n", skills=skills)
        messages = [one.message for one in found if one.code == "RCP066"]
        assert [expected in message for message in messages] == ([True] if expected else []), (
            expected,
            messages,
        )


def test_a_persons_repository(shelf: Shelf) -> None:
    top = "ingredients: {source_dir: {description: x, default: ''}, repo: {description: y, default: ''}}\n"
    place = "cwd: '${{ inputs.source_dir }}'"
    skills = {
        "implement-worktree": "write_behavior: always\n",
        "notes": "write_behavior: always\n",
        "look": "write_behavior: none\n",
    }
    for skill, severity in (("implement-worktree", "error"), ("notes", "warning"), ("look", None)):
        steps = (
            f"a: {{tool: run_skill, with: {{skill_command: /{skill}, {place}}},"
            " retries: 0, on_context_limit: e}\n"
            "e: {action: stop, message: '${{ inputs.repo }}'}"
        )
        found = judged(shelf, steps, top=top, skills=skills)
        assert [one.severity for one in found if one.code == "RCP092"] == ([severity] if severity else [])
        other = judged(shelf, steps.replace("inputs.source_dir", "inputs.repo"), top=top, skills=skills)
        assert not [one for one in other if one.code == "RCP092"]


def test_a_skill_that_the_project_replaces(shelf: Shelf) -> None:
    """T-OVR: only the namespaced name of a bundled skill is a promise that is not kept."""
    step = "a: {tool: run_skill, with: {skill_command: /NAME, cwd: .}}"
    own = {"review-changes": ""}
    for name, skills, expected in (
        ("checkrein:review-changes", {}, False),
        ("checkrein:review-changes", own, True),
        ("autoskillit:review-changes", own, True),
        ("review-changes", own, False),
        ("checkrein:audit-tests", own, False),
    ):
        found = judged(shelf, step.replace("NAME", name), skills=skills)
        assert ("project-local-skill-override" in named(found)) is expected, name
        assert {one.severity for one in found} <= {"warning"}


def test_disabled_subsets_warn_and_unknown_tools_stay_errors(shelf: Shelf) -> None:
    """T-VAL: a run may still enable a subset; nothing makes a tool exist."""
    steps = """
    a: {tool: batch_cleanup_clones}
    b: {tool: run_skill, with: {skill_command: /audit-tests, cwd: .}}
    c: {tool: no_such_tool}
    """
    config = {"/checkrein.toml": '[subsets]\ndisabled = ["clone", "audit"]\n'}
    found = judged(shelf, steps, more=config)
    assert {checks()[one.code].name: one.severity for one in found} == {
        "subset-disabled-tool": "warning",
        "subset-disabled-skill": "warning",
        "unknown-tool": "error",
    }


def test_a_pack_is_off_until_the_recipe_requires_it(shelf: Shelf) -> None:
    step = "a: {tool: run_skill, with: {skill_command: /study, cwd: .}}"
    text = "---\nname: study\ndescription: Study. Use when asked.\ncategories: [research]\n---\nRead.\n"
    more = {"/.claude/skills/study/SKILL.md": text}
    assert named(judged(shelf, step, more=more)) == {"subset-disabled-skill"}
    assert named(judged(shelf, step, top="requires_packs: [research]\n", more=more)) == set()


def test_custom_tags_are_subsets_too(shelf: Shelf) -> None:
    step = "a: {tool: run_skill, with: {skill_command: /review-changes, cwd: .}}"
    config = '[subsets]\ndisabled = ["mine"]\n[subsets.custom_tags]\nmine = ["review-changes"]\n'
    found = judged(shelf, step, more={"/checkrein.toml": config})
    assert named(found) == {"subset-disabled-skill"}


BODIES = {
    "a variable of the shell": ("```bash\necho ${name} $(date)\n```", set()),
    "the words of awk": ("```bash\nawk '{print}' x | jq '{name}'\n```", set()),
    "an expansion": ("```bash\ncp a.{b,c} {}\n```", set()),
    "the form of gh": ("```bash\ngh api repos/{owner}/{repo}\n```", set()),
    "a name that the text explains": ("The plan path is given.\n\n```bash\ncat {plan_path}\n```", set()),
    "a name that nothing explains": ("```bash\ncat {plan_path}\n```", {"undefined-bash-placeholder"}),
    "a branch of origin": ("```bash\ngit rebase origin/main; git fetch upstream\n```", set()),
    "origin with options": ("```bash\ngit push -u origin HEAD\n```", {"hardcoded-origin-remote"}),
    "another language": ("```text\ngit push origin HEAD\n```", set()),
    "an import of the project": ("```python\nimport checkreinish\n```", set()),
    "an import from inside": (
        "```python\nfrom autoskillit.core import x\n```",
        {"no-autoskillit-import-in-skill-python-block"},
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_texts_of_skills(shelf: Shelf, name: str) -> None:
    body, expected = BODIES[name]
    step = "a: {tool: run_skill, with: {skill_command: /s, cwd: .}}"
    assert named(judged(shelf, step, skills={"s": ""}, bodies={"s": body})) == expected


def test_skills_that_no_recipe_names_are_left_alone(shelf: Shelf) -> None:
    body = {"other": "```bash\ngit push origin {nothing}\n```"}
    found = judged(
        shelf, "a: {tool: test_check, with: {worktree_path: .}}", skills={"other": ""}, bodies=body
    )
    assert named(found) == set()


def test_a_pattern_that_could_take_for_ever_ends(shelf: Shelf) -> None:
    contract = (
        f"outputs: [{{name: x}}]\nexpected_output_patterns: ['(a+)+b']\npattern_examples: ['{'a' * 60}']\n"
    )
    step = "a: {tool: run_skill, with: {skill_command: /s, cwd: .}}"
    assert named(judged(shelf, step, skills={"s": contract})) == {"pattern-examples-match"}


def test_findings_name_file_line_and_fix(shelf: Shelf) -> None:
    (found,) = judged(
        shelf, "a: {action: route, on_success: c}\nb: {tool: test_check}\nc: {action: stop, message: x}"
    )
    assert (found.code, found.origin.line) == ("RCP044", 6)
    assert found.hint
    assert found.reason
