"""The files that differ from a revision, with what git does not track yet."""

from __future__ import annotations

import os
from collections.abc import Mapping

from checkrein.base.errors import UsageError
from checkrein.llm.cancel import Cancel
from checkrein.runtime.process.git import run_git
from checkrein.runtime.process.spawner import Spawner


def changed_files(root: str, revision: str, env: Mapping[str, str]) -> frozenset[str]:
    """Real paths of files that were added, changed, moved or removed since the branch left `revision`."""
    with Spawner(lambda origin: True) as spawner:

        def names(*arguments: str) -> list[str]:
            done = run_git(arguments, cwd=root, env=env, spawner=spawner, cancel=Cancel())
            if done.exit_code:
                said = done.stderr.decode("utf-8", "replace").strip().splitlines()
                raise UsageError(
                    f"git can't compare with {revision}: {said[-1] if said else 'it failed'}",
                    kind="revision_not_found",
                    hint="Name a commit, tag or branch of this repository, and fetch enough of its history.",
                )
            return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]

        if revision.startswith("-"):
            raise UsageError(f"{revision} is not a revision", kind="revision_not_found")
        top = os.fsdecode(b"".join(_line(root, env, spawner)))
        base = names("merge-base", revision, "HEAD")[0].strip()
        changed = names("diff", "--name-only", "--no-renames", "-z", base, "--")
        untracked = names("ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", top)
    return frozenset(os.path.realpath(os.path.join(top, name)) for name in (*changed, *untracked))


def _line(root: str, env: Mapping[str, str], spawner: Spawner) -> list[bytes]:
    done = run_git(("rev-parse", "--show-toplevel"), cwd=root, env=env, spawner=spawner, cancel=Cancel())
    if done.exit_code:
        raise UsageError(
            f"{root} is not in a git repository",
            kind="revision_not_found",
            hint="`--diff-base` needs a repository.",
        )
    return [done.stdout.rstrip(b"\n")]
