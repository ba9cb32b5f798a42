"""The plugin's manifest, and the tables of the pages about visibility."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
Between = Callable[[str, str, list[str]], str]


def plugin_manifest(_: Between) -> str:
    from checkrein import __version__
    from checkrein.facts.kitchen import kitchen_tools
    from checkrein.passes.visibility.bundled_skills import bundled_skills, default_tiers

    skills = bundled_skills()
    later = len(default_tiers(skills))
    summary = (
        f"Checkrein in Claude Code: {len(skills) - later} skills in every session, {later} more in"
        f" `checkrein cook`, and {len(kitchen_tools())} tools that the kitchen opens."
    )
    manifest = {
        "name": "checkrein",
        "version": __version__,
        "description": summary,
        "license": "Apache-2.0",
        "mcpServers": {"checkrein": {"command": "checkrein", "args": ["serve", "mcp"]}},
    }
    return json.dumps(manifest, indent=2) + "\n"


def skill_visibility(between: Between) -> str:
    from checkrein.passes.visibility.bundled_skills import bundled_skills, default_tiers

    skills = bundled_skills()
    tiers = default_tiers(skills)
    lines = ["", "| skill | tier | categories | what it does |", "|---|---|---|---|"]
    for one in sorted(skills, key=lambda skill: (tiers.get(skill.name, 1), skill.name)):
        first = (one.description or "").partition(". ")[0].rstrip(".")
        lines.append(f"| `{one.name}` | {tiers.get(one.name, 1)} | {', '.join(one.categories)} | {first}. |")
    page = (ROOT / "docs" / "skill-visibility.md").read_text("utf-8")
    return between(page, "bundled skills", lines)


def subset_categories(between: Between) -> str:
    from checkrein.facts.kitchen import categories, kitchen_tools
    from checkrein.passes.visibility.bundled_skills import bundled_skills

    skills, tools = bundled_skills(), kitchen_tools().values()
    lines = ["", "| category | what | by default | tools | bundled skills |", "|---|---|---|---|---|"]
    for name, one in categories().items():
        own = ", ".join(f"`{tool.name}`" for tool in tools if name in tool.categories)
        held = ", ".join(f"`{skill.name}`" for skill in skills if name in skill.categories)
        lines.append(f"| `{name}` | {one.summary} | {'on' if one.on else 'off'} | {own} | {held} |")
    page = (ROOT / "docs" / "subset-categories.md").read_text("utf-8")
    return between(page, "categories", lines)
