"""The real Claude Code finds the skills of a View: those of the plugin, of the session's directory, and no
others of the project."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from uuid import uuid4

import claude_agent_sdk
import pytest

from checkrein.passes.load import load, session_view
from checkrein.runtime.skills.claude_session import ClaudeTerms, words
from checkrein.runtime.skills.session_dirs import session_dir
from checkrein.testing import ScriptedServer

CLAUDE = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
FORMAT = ("--output-format", "stream-json", "--verbose")


def skill(text: str, more: str = "") -> str:
    return f"---\ndescription: says {text}\n{more}---\n{text}\n"


@pytest.mark.skipif(not CLAUDE.exists(), reason="this SDK has no Claude Code in it")
@pytest.mark.project(
    {
        ".claude/skills/work/SKILL.md": skill("WORK", "activate_deps: [audit-tests]\n"),
        ".claude/skills/hidden-one/SKILL.md": skill("HIDDEN"),
        ".claude/skills/quiet-one/SKILL.md": skill("QUIET"),
        ".checkrein/skills/ours/SKILL.md": skill("OURS"),
        "checkrein.toml": '[skills]\ntier2 = ["quiet-one"]\ntier3 = ["hidden-one"]\n',
    }
)
def test_tier_4_claude_code_sees_what_the_view_shows(project: Path, tmp_path: Path) -> None:
    view = session_view(load(project, bundled=True), "headless", target="work")
    session = str(uuid4())
    (tmp_path / "root").mkdir()
    with (
        ScriptedServer([{"text": "done"} for _ in range(4)]) as server,
        session_dir(view, session, tmp_path / "root") as extra,
    ):
        line = words(view, ClaudeTerms(print=True, prompt="/quiet-one"), session, extra)
        env = {
            "PATH": os.defpath,
            "HOME": os.environ["HOME"],
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": server.url,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        ran = subprocess.run(
            [str(CLAUDE), *FORMAT, *line], cwd=project, env=env, capture_output=True, text=True, timeout=120
        )
        asked = b"\n".join(one.body for one in server.requests).decode()
    frames = [json.loads(one) for one in ran.stdout.splitlines()]
    first = next(one for one in frames if one.get("subtype") == "init")
    named = set(first["skills"])
    assert {"checkrein:open-kitchen", "checkrein:close-kitchen"} <= named, "tier 1, from the plugin"
    assert {"audit-tests", "lens-boundaries", "ours", "work"} <= named, "from the session's directory"
    assert not {"diagnose-ci", "checkrein:diagnose-ci", "hidden-one"} & named
    assert "says OURS" in asked, "the model may choose it"
    for unseen in ("says HIDDEN", "- quiet-one: says QUIET", "- lens-boundaries"):
        assert unseen not in asked
    assert "QUIET" in asked, "a user may start it"
