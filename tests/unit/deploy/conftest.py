"""A small project with one of everything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from checkrein.deploy.deploy import Deployment, prepare
from checkrein.deploy.targets import chosen_targets
from checkrein.dialects.generic.written import Options
from checkrein.passes.load import load

FILES = {
    "CLAUDE.md": "# Rules\nUse pnpm. See @docs/style.md\n",
    "docs/style.md": "Short sentences.\n",
    "web/CLAUDE.md": "Only web.\n",
    ".claude/rules/ts.md": '---\npaths: "src/**/*.ts"\n---\nStrict types.\n',
    ".claude/skills/review/SKILL.md": (
        "---\nname: review\ndescription: 'Review: the diff'\nallowed-tools: Read\nmodel: opus\n---\n"
        "Review $ARGUMENTS.\n"
    ),
    ".claude/skills/review/scripts/x.sh": "#!/bin/sh\n",
    ".claude/commands/git/commit.md": "---\ndescription: Commit\n---\nCommit $ARGUMENTS\n",
    ".claude/agents/checker.md": (
        "---\nname: checker\ndescription: Checks\ntools: Read, Bash(git log:*)\nmodel: sonnet\n---\n"
        "You check.\n"
    ),
    ".claude/settings.json": (
        '{"permissions": {"allow": ["Bash(npm test:*)"], "deny": ["Bash(rm:*)"]},\n'
        ' "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./g.sh",'
        ' "timeout": 5}]}]}}\n'
    ),
    ".mcp.json": (
        '{"mcpServers": {"gh": {"command": "npx", "args": ["gh-mcp"],'
        ' "env": {"GITHUB_TOKEN": "ghp_abcdefghijklmnopqrstuvwx1234"}}}}\n'
    ),
}

Prepare = Callable[..., Deployment]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for path, text in FILES.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (root / ".git").mkdir()
    (root / ".claude/skills/review/scripts/x.sh").chmod(0o755)
    return root


@pytest.fixture
def ready(project: Path, tmp_path: Path) -> Prepare:
    def prepared(
        *names: str, prefer: str | None = None, force: bool = False, **options: object
    ) -> Deployment:
        loaded = load(project, env={"HOME": str(tmp_path / "home")}, managed_dir=str(tmp_path / "managed"))
        chosen = Options(**options)  # type: ignore[arg-type]  # fields vary by test
        return prepare(loaded, chosen_targets(names), chosen, prefer=prefer, force=force)

    return prepared
