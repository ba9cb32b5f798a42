"""Every plugin and marketplace of the corpus validates or gets diagnostics, loads, and deploys to five agents
with every skill counted. `CHECKREIN_CORPUS` names the corpus."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from checkrein.deploy.deploy import prepare
from checkrein.deploy.targets import chosen_targets
from checkrein.dialects.claude import plugins
from checkrein.dialects.generic.written import Options
from checkrein.passes.load import load
from checkrein.runtime.plugins.capability_surface import of_plugin

CORPUS = os.environ.get("CHECKREIN_CORPUS", "")
MARKETPLACES = sorted(
    {path.parents[1] for path in Path(CORPUS).rglob(".claude-plugin/marketplace.json")} if CORPUS else ()
)
PLUGINS = sorted(
    {path.parents[1] for path in Path(CORPUS).rglob(".claude-plugin/plugin.json")} if CORPUS else ()
)
TARGETS = "codex,copilot,cursor,gemini,opencode"
needs_corpus = pytest.mark.skipif(not CORPUS, reason="CHECKREIN_CORPUS names no corpus")


@needs_corpus
def test_every_plugin_loads_or_says_why() -> None:
    assert len(PLUGINS) > 100
    for root in PLUGINS:
        found = plugins.read(str(root))
        assert found.plugins or any(one.severity == "error" for one in found.diagnostics), root
        files = {path.parent.name for path in (root / "skills").glob("*/SKILL.md")}
        assert len(found.skills) >= len(files) * bool(found.plugins), root
        if found.plugins:
            of_plugin(found.plugins[0], found)


@needs_corpus
@pytest.mark.parametrize("root", MARKETPLACES, ids=lambda root: root.name)
def test_every_marketplace_deploys_with_every_skill(root: Path) -> None:
    project = load(root)
    expected = {one.directory for one in project.sources.skills if one.origin.scope == "plugin"}
    prepared = prepare(project, chosen_targets((TARGETS,)), Options())
    taken = {one.directory for one in prepared.gathered.sources.skills}
    assert expected <= taken
    for name, written in prepared.written.items():
        skills = [file.path for file in written.files if file.path.endswith("SKILL.md")]
        assert len(skills) >= len(expected), name
