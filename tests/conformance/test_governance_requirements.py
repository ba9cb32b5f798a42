"""Every requirement of the source's change has a test, or a line in `docs/divergences.md`."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.base.config import load_config
from checkrein.facts.config import KEYS
from checkrein.facts.kitchen import kitchen_tools

ROOT = Path(__file__).parents[2]
DIVERGENCE = "divergence"
TOOLS = "tests/unit/passes/visibility/test_tool_visibility.py"
CONFIGURATION = "tests/unit/passes/visibility/test_configuration.py"
SESSIONS = "tests/recordings/test_governed_skills.py"
DIRECTORIES = "tests/unit/runtime/skills/test_session_dirs.py"
HERE = "tests/conformance/test_governance_requirements.py"

EVIDENCE: dict[str, tuple[str, str] | str] = {
    "TIER-1": (DIRECTORIES, "test_cc_002_tier_1_and_tier_2_the_plugin_shows_only_its_entry_skills"),
    "TIER-2": (DIRECTORIES, "test_cc_002_tier_1_and_tier_2_the_plugin_shows_only_its_entry_skills"),
    "TIER-3": (DIRECTORIES, "test_tier_3_and_req_tier_011_cook_passes_the_plugin_and_the_directory"),
    "TIER-4": (
        "tests/conformance/test_claude_skills.py",
        "test_tier_4_claude_code_sees_what_the_view_shows",
    ),
    "TIER-5": (DIRECTORIES, "test_tier_5_both_directories_are_read_and_no_name_is_in_both"),
    "TIER-6": (SESSIONS, "test_tier_6_the_tiers_come_through_the_layers"),
    "REQ-TIER-009": (SESSIONS, "test_req_tier_009_a_skill_in_two_tiers_stops_a_session"),
    "REQ-TIER-010": (SESSIONS, "test_req_tier_010_unknown_names_warn_once_and_are_ignored"),
    "REQ-TIER-011": (DIRECTORIES, "test_tier_3_and_req_tier_011_cook_passes_the_plugin_and_the_directory"),
    "REQ-TIER-012": DIVERGENCE,
    "TOOL-1": (TOOLS, "test_tool_1_every_tool_of_the_source_is_there"),
    "TOOL-2": (TOOLS, "test_tool_2_only_these_are_free"),
    "TOOL-3": (TOOLS, "test_tool_3_test_check_has_both_tags_and_needs_no_open_kitchen"),
    "TOOL-4": (TOOLS, "test_tool_4_a_worker_sees_exactly_the_headless_tools"),
    "TOOL-5": (TOOLS, "test_tool_5_nothing_opens_the_kitchen_of_a_worker"),
    "TOOL-6": (TOOLS, "test_tool_6_and_req_vis_008_a_disabled_subset_stays_hidden_after_opening"),
    "TOOL-7": (TOOLS, "test_tool_7_tags_cover_all_tools_without_overlap"),
    "CAT-1": (TOOLS, "test_cat_1_the_registry_knows_every_category_of_a_tool"),
    "CAT-2": (CONFIGURATION, "test_cat_2_every_bundled_skill_outside_the_plugin_has_a_known_category"),
    "CAT-3": (CONFIGURATION, "test_cat_3_a_custom_tag_hides_its_skills"),
    "CFG-1": (CONFIGURATION, "test_cfg_1_disabled_subsets_resolve_through_the_layers"),
    "CFG-2": (CONFIGURATION, "test_cfg_2_an_unknown_subset_warns_and_a_category_of_a_skill_is_known"),
    "CFG-3": (CONFIGURATION, "test_cfg_3_nothing_is_disabled_by_default"),
    "VIS-1": (TOOLS, "test_vis_1_the_visible_tools_of_every_state"),
    "REQ-VIS-008": (TOOLS, "test_tool_6_and_req_vis_008_a_disabled_subset_stays_hidden_after_opening"),
    "VIS-3": (DIRECTORIES, "test_vis_3_a_worker_gets_no_skill_of_a_disabled_subset"),
    "REQ-OVR-001": (SESSIONS, "test_req_ovr_001_an_override_is_detected_loaded_and_wins"),
    "REQ-OVR-002": (SESSIONS, "test_req_ovr_002_the_bundled_copy_is_gone_in_a_cook_session_too"),
    "REQ-OVR-003": DIVERGENCE,
    "REQ-OVR-004": (
        "tests/unit/passes/recipes/test_policy_agreement.py",
        "test_req_ovr_004_a_recipe_warns_where_the_project_replaces_a_bundled_skill",
    ),
    "REQ-VAL-004": (
        "tests/unit/passes/recipes/test_subset_gate.py",
        "test_req_val_004_a_recipe_that_needs_something_disabled_is_refused",
    ),
    "REQ-DOC-001": (HERE, "test_req_doc_the_pages_are_there_and_generated"),
    "REQ-DOC-002": (HERE, "test_req_doc_the_pages_are_there_and_generated"),
    "REQ-DOC-003": (HERE, "test_req_doc_the_pages_are_there_and_generated"),
    "REQ-DOC-004": (HERE, "test_req_doc_the_pages_are_there_and_generated"),
    "REQ-DOC-005": (HERE, "test_req_doc_the_pages_are_there_and_generated"),
    "REQ-DOC-006": (HERE, "test_req_doc_the_pages_are_there_and_generated"),
    "REQ-DOC-007": (HERE, "test_req_doc_the_pages_are_there_and_generated"),
    "REQ-DOC-008": (HERE, "test_req_doc_008_every_tool_has_a_row"),
    "CC-001": (DIRECTORIES, "test_cc_001_a_session_directory_has_the_layout_of_add_dir"),
    "CC-002": (DIRECTORIES, "test_cc_002_tier_1_and_tier_2_the_plugin_shows_only_its_entry_skills"),
    "CC-HEADLESS-001": (
        "tests/unit/runtime/worker/test_claude_backend.py",
        "test_cc_headless_001_and_tier_4_the_command_line",
    ),
    "CS-1": (
        "tests/unit/runtime/worker/test_adjudication.py",
        "test_cs_1_a_contract_violation_is_never_retriable",
    ),
    "META-1": (DIRECTORIES, "test_meta_1_the_manifest_has_the_version_and_the_counts"),
}

SIGHTS = "tests/unit/passes/visibility/test_sights.py"
KITCHEN = "tests/unit/serve/mcp/test_kitchen.py"
CONFIG = "tests/unit/base/test_config.py"
SKILLS = "tests/unit/serve/mcp/test_skills.py"
WORKER = "tests/unit/runtime/worker/test_worker.py"
ADJUDICATION = "tests/unit/runtime/worker/test_adjudication.py"

POINTS: dict[int, tuple[tuple[str, str], ...]] = {
    1: (
        (SIGHTS, "test_the_visible_set_is_the_tables"),
        (DIRECTORIES, "test_cc_002_tier_1_and_tier_2_the_plugin_shows_only_its_entry_skills"),
    ),
    2: ((SESSIONS, "test_promotion_changes_what_the_model_sees_and_loads"),),
    3: (
        (SESSIONS, "test_req_tier_009_a_skill_in_two_tiers_stops_a_session"),
        (SESSIONS, "test_req_tier_010_unknown_names_warn_once_and_are_ignored"),
        (CONFIGURATION, "test_cfg_2_an_unknown_subset_warns_and_a_category_of_a_skill_is_known"),
    ),
    4: (
        (CONFIG, "test_layers_override_in_order_and_lists_replace"),
        (CONFIG, "test_environment_values_are_json_or_text"),
        (HERE, "test_point_4_a_secret_outside_its_layer_is_an_error"),
    ),
    5: (
        (KITCHEN, "test_tools_are_hidden_shown_and_hidden_again"),
        (KITCHEN, "test_a_disabled_subset_stays_hidden_after_opening"),
        (KITCHEN, "test_a_hidden_tool_that_is_called_by_name_is_refused"),
        ("tests/unit/serve/mcp/test_list_and_call.py", "test_what_is_not_listed_is_refused"),
    ),
    6: (
        (KITCHEN, "test_a_worker_sees_the_tools_for_workers_only"),
        (WORKER, "test_10_6_a_worker_starts_no_worker"),
    ),
    7: (
        (SKILLS, "test_10_7_what_is_refused_is_refused_before_anything_starts"),
        (WORKER, "test_10_7_a_disabled_skill_is_refused_before_anything_starts"),
    ),
    8: (
        (SESSIONS, "test_req_ovr_001_an_override_is_detected_loaded_and_wins"),
        (DIRECTORIES, "test_an_override_in_our_directory_is_copied_with_its_files"),
    ),
    10: (
        (ADJUDICATION, "test_every_cell"),
        (ADJUDICATION, "test_cs_1_a_contract_violation_is_never_retriable"),
    ),
}
"""The points of the acceptance list that are not about recipes."""


SECTIONS = (
    *("test_check.command", "test_check.timeout", "classify_fix.path_prefixes"),
    *("reset_workspace.command", "reset_workspace.preserve_dirs", "implement_gate"),
    *("safety.reset_guard_marker", "safety.require_dry_walkthrough", "safety.test_gate_on_merge"),
    *("safety.protected_branches", "read_db.timeout", "read_db.max_rows", "run_skill.timeout"),
    *("run_skill.stale_threshold", "run_skill.completion_marker", "completion_drain_timeout"),
    *("exit_after_stop_delay_ms", "run_skill.natural_exit_grace_seconds"),
    *("run_skill.idle_output_timeout", "run_skill.max_suppression_seconds", "model.default"),
    *("model.override", "worktree_setup.command", "migration", "token_usage", "quota_guard"),
    *("github.token", "github.default_repo", "github.in_progress_label", "github.staged_label"),
    *("github.allowed_labels", "report_bug", "logging", "linux_tracing"),
    *("mcp_response.alert_threshold_tokens", "branching.default_base_branch"),
    *("branching.promotion_target", "ci.workflow", "ci.event", "subsets.disabled", "subsets.custom_tags"),
    *("packs.enabled", "workspace.worktree_root", "workspace.runs_root", "workspace.temp_dir"),
)
"""The configuration of the source document, keys and whole sections; TIER-6 is about those of tiers."""


def numbered(prefix: str, last: int, digits: int = 1) -> set[str]:
    return {f"{prefix}-{number:0{digits}}" for number in range(1, last + 1)}


EVERY = (
    numbered("TIER", 6)
    | {f"REQ-TIER-{number:03}" for number in (9, 10, 11, 12)}
    | numbered("TOOL", 7)
    | numbered("CAT", 3)
    | numbered("CFG", 3)
    | {
        "VIS-1",
        "REQ-VIS-008",
        "VIS-3",
        "REQ-VAL-004",
        "CC-001",
        "CC-002",
        "CC-HEADLESS-001",
        "CS-1",
        "META-1",
    }
    | numbered("REQ-OVR", 4, 3)
    | numbered("REQ-DOC", 8, 3)
)


def test_every_requirement_is_accounted_for() -> None:
    assert EVIDENCE.keys() == EVERY


@pytest.mark.parametrize("requirement", sorted(EVIDENCE))
def test_a_requirement_has_its_test_or_its_line(requirement: str) -> None:
    evidence = EVIDENCE[requirement]
    if isinstance(evidence, str):
        assert f"({requirement})" in (ROOT / "docs" / "divergences.md").read_text("utf-8")
    else:
        file, name = evidence
        assert f"def {name}(" in (ROOT / file).read_text("utf-8")


@pytest.mark.parametrize("point", sorted(POINTS))
def test_a_point_has_its_tests(point: int) -> None:
    for file, name in POINTS[point]:
        assert f"def {name}(" in (ROOT / file).read_text("utf-8")


def test_every_point_without_recipes_is_there() -> None:
    assert set(POINTS) == {*range(1, 9), 10}


@pytest.mark.parametrize("layer", ["user", "project", "env"])
def test_point_4_a_secret_outside_its_layer_is_an_error(tmp_path: Path, layer: str) -> None:
    root, home = tmp_path / "project", tmp_path / "home"
    root.mkdir()
    home.mkdir()
    text = '[github]\ntoken = "t"\n'
    env = {"CHECKREIN_GITHUB__TOKEN": "t"} if layer == "env" else {}
    if layer != "env":
        (home / "config.toml" if layer == "user" else root / "checkrein.toml").write_text(text)
    config = load_config(KEYS, root, home, env)
    assert config.get("github.token") is None
    (finding,) = config.diagnostics
    assert (finding.code, finding.severity) == ("CFG003", "error")
    assert "secrets" in finding.message
    secrets = root / ".checkrein" / "secrets.toml"
    secrets.parent.mkdir()
    secrets.write_text(text)
    secrets.chmod(0o600)
    assert load_config(KEYS, root, home, {}).get("github.token") == "t"


def test_a_key_of_the_source_is_read_or_has_a_line() -> None:
    """A key that nothing reads does not exist; `tests/unit` shows the effect of each that does."""
    keys = {key.name for key in KEYS}
    program = "".join(
        file.read_text("utf-8") for file in (ROOT / "src").rglob("*.py") if file.name != "config.py"
    )
    lines = (ROOT / "docs" / "divergences.md").read_text("utf-8")
    for name in SECTIONS:
        assert f'"{name}"' in program if name in keys else f"`{name}`" in lines, name


def test_req_doc_008_every_tool_has_a_row() -> None:
    page = (ROOT / "docs" / "mcp-tool-access.md").read_text("utf-8")
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    assert set(rows) == set(kitchen_tools())
    for name, row in kitchen_tools().items():
        state = rows[name].split("|")[5].strip()
        assert (
            state
            == {None: "real", "gh": "needs `gh`", "recipes": "not offered: comes with recipes"}[row.needs]
        )


def test_req_doc_the_pages_are_there_and_generated() -> None:
    """The tables come from the code; `tests/arch/test_generated.py` compares them."""
    generator = (ROOT / "scripts" / "generate.py").read_text("utf-8")
    for page in ("skill-visibility", "subset-categories", "mcp-tool-access"):
        assert f"docs/{page}.md" in generator
        assert "generated by scripts/generate.py" in (ROOT / "docs" / f"{page}.md").read_text("utf-8").lower()
    assert (ROOT / "docs" / "project-local-overrides.md").is_file()
    assert "skills_extended/" in (ROOT / "docs" / "skill-visibility.md").read_text("utf-8")
