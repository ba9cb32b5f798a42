"""Every name is either refused or one folder, one branch and one file."""

from __future__ import annotations

import os
import subprocess

from hypothesis import example, given, settings
from hypothesis import strategies as st

from checkrein.base.errors import UsageError
from checkrein.runtime.worktrees.worktree_names import any_name, branch_of, folder_name

NAMES = st.one_of(
    st.text(max_size=80),
    st.text(alphabet="ab./-_+~^:@{}\\ \n*?[", max_size=12),
    st.lists(st.sampled_from(["a", "..", ".", "-", "x.lock", "b.", "CON", "@", ".git", ""]), max_size=4).map(
        "/".join
    ),
)


@settings(max_examples=300, deadline=None)
@given(NAMES)
@example("a/../b")
@example("a.lock")
@example("a..b")
@example("@{-1}")
@example("a\n")
def test_a_name_is_refused_or_safe(name: str) -> None:
    try:
        folder = folder_name(name)
    except UsageError:
        return
    assert "/" not in folder
    assert not folder.startswith((".", "-"))
    assert os.path.basename(os.path.normpath(f"/place/{folder}")) == folder
    checked = ["git", "check-ref-format", "--branch", branch_of(folder)]
    assert subprocess.run(checked, capture_output=True, check=False).returncode == 0


def test_a_made_up_name_is_one_too() -> None:
    name = any_name()
    assert folder_name(name) == name
    assert any_name() != name
