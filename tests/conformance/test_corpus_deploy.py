"""Real files deploy to every agent without a crash and without a loss that is not listed.

`CHECKREIN_CORPUS` names a directory of extension files for the long run; a sample of the oddities found in
such files runs always.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import UsageError
from checkrein.base.files import read_text
from checkrein.deploy.manifest import Manifest
from checkrein.deploy.paths import Paths
from checkrein.deploy.plan import make_plan
from checkrein.deploy.sources import guess_kind, read_file, source
from checkrein.deploy.targets import chosen_targets, writer
from checkrein.dialects.generic.written import Options, Written, content_fields
from checkrein.facts.agents import targets
from checkrein.model.items import Item
from checkrein.model.project import Sources

SHARDS = 6
KINDS = {
    "skills": "skill",
    "commands": "command",
    "agents": "agent",
    "servers": "server",
    "hooks": "hook",
    "instructions": "instruction",
}
SAMPLE = {
    "skills/a/SKILL.md": "---\nname: a\ndescription: Use when: the user asks\nversion: 1.2\n---\nBody\n",
    "skills/b/SKILL.md": (
        "---\nname: b\ndescription: >\n  folded\n  text\nmetadata:\n  nested: {x: [1, 2]}\n---\n"
    ),
    "skills/c/SKILL.md": "no frontmatter at all\n",
    "skills/d/SKILL.md": "---\nname: [\n---\nbroken\n",
    "skills/é/SKILL.md": "---\r\nname: é\r\ndescription: dos\r\n---\r\nline\r\n",
    "skills/f/SKILL.md": (
        "---\ndescription: 2026-01-02\nallowed-tools: Bash(git log:*), Read, Write\npaths: a,b\n---\n"
    ),
    "agents/x.md": (
        '---\nname: x\ndescription: "Line\\n\\nExamples: <e>"\ntools: "*"\nmodel: opus\ncolor: cyan\n---\n'
        "You.\n"
    ),
    "agents/y.md": (
        "---\nname: y\ndescription: d\ntools: [Read, mcp__a__b, Bash]\nhooks:\n  Stop: []\n---\nY\n"
    ),
    "commands/z.md": (
        "---\nargument-hint: [a] [b]\n---\nRun !`date` on $1 with @a/b.md and ${CLAUDE_PLUGIN_ROOT}\n"
    ),
    "rules/r.mdc": "---\nglobs: *.ts,*.tsx\nalwaysApply: false\n---\nRule\n",
    "p/q.agent.md": (
        "---\ndescription: d\ntools: ['edit', 'search']\nmodel: GPT-5\nhandoffs:\n  - label: x\n---\nQ\n"
    ),
    "p/r.prompt.md": "---\nagent: agent\ndescription: d\n---\nDo ${input:x}\n",
    "p/s.instructions.md": "---\napplyTo: '**/*.py'\ndescription: d\n---\nS\n",
    ".mcp.json": '{"a": {"url": "https://x"}, "b": {"command": "c", "env": {"K": "${K:-d}"}}, "c": 3}',
    "hooks.json": (
        '{"description": "d", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}], "Y": 3}}'
    ),
    "empty.md": "",
    "AGENTS.md": "# Guide\n<!-- note -->\nSee @other.md\n",
}


def dialects_of(path: str) -> Iterator[str]:
    yield "claude"
    if path.endswith((".agent.md", ".prompt.md", ".instructions.md")):
        yield "copilot"
    elif path.endswith(".mdc"):
        yield "cursor"


def sources_of(text: str, path: str) -> Iterator[Sources]:
    for dialect in dialects_of(path):
        try:
            yield read_file(text, path, dialect)[0]
        except UsageError:
            assert guess_kind(text, path) in ("rule", "command", "hooks")


def check_accounts(sources: Sources, written: Written) -> None:
    seen = {(outcome.kind, outcome.origin.file, outcome.field) for outcome in written.outcomes}
    gone = {(o.kind, o.origin.file) for o in written.outcomes if not o.field and o.status == "lost"}
    for name, kind in KINDS.items():
        for item in getattr(sources, name):
            assert (kind, item.origin.file, "") in seen
            if (kind, item.origin.file) not in gone:
                missing = [f for f in content_fields(item) if (kind, item.origin.file, f) not in seen]
                assert not missing, (item.origin.file, missing)
    for loss in written.losses:
        assert loss.origin.line
        assert loss.code
        assert loss.message


def comparable(value: Any) -> Any:
    if isinstance(value, Item):
        return {
            name: comparable(getattr(value, name)) for name in content_fields(value) if hasattr(value, name)
        }
    return [comparable(item) for item in value] if isinstance(value, tuple | list) else value


def check_exact(sources: Sources, written: Written, dialect: str) -> None:
    """What is said to be kept comes back as it was."""
    back = source(dialect)[1]({file.path: file.text for file in written.files}, "")
    found = [*back.skills, *back.commands, *back.agents]
    given = [*sources.skills, *sources.commands, *sources.agents]
    if len(given) != 1 or len(found) != 1:
        return
    for outcome in written.outcomes:
        field = outcome.field
        if (
            outcome.status == "kept"
            and field
            and "." not in field
            and hasattr(given[0], field)
            and hasattr(found[0], field)
        ):
            if field == "model" and given[0].model == "inherit":
                continue
            assert comparable(getattr(found[0], field)) == comparable(getattr(given[0], field)), outcome


def deploy_everywhere(text: str, path: str, *, twice: bool = True) -> int:
    count = 0
    for sources in sources_of(text, path):
        for key, target in targets().items():
            written = writer(target)(sources, Options())
            if twice:
                assert writer(target)(sources, Options()).files == written.files
            check_accounts(sources, written)
            for file in written.files:
                assert "\nbehavior:" not in file.text
            name = "cursor" if key == "cursor-agent" else key
            if name in ("copilot", "codex", "gemini", "opencode", "cursor"):
                check_exact(sources, written, name)
            count += 1
    return count


@pytest.mark.parametrize("path", SAMPLE)
def test_a_sample_of_oddities(path: str) -> None:
    assert deploy_everywhere(SAMPLE[path], path) >= len(targets())


def test_the_sample_as_one_project(tmp_path: Path) -> None:
    whole = Sources()
    for path, text in SAMPLE.items():
        for sources in sources_of(text, path):
            whole += sources
    rows = chosen_targets(["all"])
    written = {row.key: writer(row)(whole, Options()) for row in rows}
    plan = make_plan(Paths(tmp_path), written, Manifest())
    assert not [found for found in plan.diagnostics if found.code == "DEP010"]


def corpus() -> list[str]:
    root = os.environ.get("CHECKREIN_CORPUS")
    if not root:
        return []
    return [os.path.join(folder, file) for folder, _, files in os.walk(root) for file in sorted(files)]


@pytest.mark.untraced
@pytest.mark.campaign
@pytest.mark.skipif(not corpus(), reason="set CHECKREIN_CORPUS to a directory of extension files")
@pytest.mark.parametrize("shard", range(SHARDS))
def test_the_whole_corpus(shard: int) -> None:
    deployed = 0
    paths = corpus()[shard::SHARDS]
    for number, path in enumerate(paths):
        found = read_text(path)
        if found.readable:
            deployed += deploy_everywhere(found.text, path, twice=number % 10 == 0)
    assert deployed >= len(paths) * len(targets()) * 0.95
