"""The real `claude plugin validate` accepts what `plugin init` and `deploy` write."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

from checkrein.cli.main import run

_SDK = importlib.util.find_spec("claude_agent_sdk")
CLAUDE = Path(_SDK.origin).parent / "_bundled" / "claude" if _SDK and _SDK.origin else Path("/nowhere")
pytestmark = pytest.mark.skipif(not CLAUDE.exists(), reason="the SDK's own CLI is not installed")
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
}


def validate(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (str(CLAUDE), "plugin", "validate", str(path)),
        env={**os.environ, **QUIET},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.project({}, inside=".")
@pytest.mark.untraced
def test_what_we_write_is_valid(project: Path) -> None:
    assert run(["plugin", "init", "reviewer", "--marketplace", "--author", "Ann"]) == 0
    done = validate(project / "reviewer")
    assert done.returncode == 0, done.stdout + done.stderr
    (project / "reviewer/.claude-plugin/marketplace.json").unlink()
    assert validate(project / "reviewer").returncode == 0
    assert run(["deploy", "--to", "claude", "--plugin", "reviewer"]) == 0
    done = validate(project / ".claude")
    assert done.returncode == 0, done.stdout + done.stderr
    (project / "reviewer/.claude-plugin/plugin.json").write_text('{"name": 1}')
    assert validate(project / "reviewer").returncode != 0
