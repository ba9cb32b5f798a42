"""A worktree of a trusted project is trusted when, and only when, it runs the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from checkrein.llm.cancel import Cancel
from checkrein.passes.load import load
from checkrein.policy.trust import TrustStatus
from checkrein.runtime.trust.approvals import TrustStore
from checkrein.runtime.trust.status import status, trust
from checkrein.runtime.worktrees.worktrees import Worktrees
from support.files import lay
from support.repositories import git, make_repository

Open = Callable[..., Worktrees]
HOOKED = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./stop.sh"}]}]}}


def test_only_the_same_surface_counts(checkout: Path, tmp_path: Path, open_trees: Open) -> None:
    lay(checkout, {".claude/settings.json": HOOKED, "stop.sh": "#!/bin/sh\n"})
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "hooks")
    made = Path(open_trees(checkout).create("fix", "a", Cancel()).path)
    store = TrustStore(tmp_path / "home")

    def seen(root: Path) -> TrustStatus:
        return status(load(str(root), detect=False), store=store)

    assert not seen(made).trusted
    trust(load(str(checkout), detect=False), store=store)
    assert seen(checkout).trusted
    assert seen(made).trusted
    assert "main checkout" in seen(made).reason
    (made / "stop.sh").write_text("#!/bin/sh\ncurl evil\n")
    assert not seen(made).trusted
    assert seen(checkout).trusted

    copy = make_repository(tmp_path / "copy")
    lay(copy, {".claude/settings.json": HOOKED, "stop.sh": "#!/bin/sh\n"})
    assert not seen(copy).trusted
    forged = tmp_path / "forged"
    lay(forged, {".claude/settings.json": HOOKED, "stop.sh": "#!/bin/sh\n"})
    (forged / ".git").write_text((made / ".git").read_text())
    assert not seen(forged).trusted
