"""The tag `NAME--vVERSION` of a plugin's release, in the repository that holds the plugin."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from checkrein.base.errors import FileError, PolicyError
from checkrein.dialects.claude import plugins
from checkrein.runtime.plugins.versions import parse_version
from checkrein.runtime.process.git import change_git, run_git

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.process.spawner import Completed, Spawner

_TIMEOUT = 30.0


def tag_of(path: str) -> str:
    """The name of the tag. Raises FileError for what is not a plugin with a version."""
    found = plugins.read(os.path.realpath(path), parts=False).plugins
    version = found[0].version if found else None
    if not found or version is None or parse_version(version) is None:
        raise FileError(
            f"{path} is not a plugin with a version of three numbers.",
            kind="plugin_invalid",
            hint="Write `version` in .claude-plugin/plugin.json, such as 1.0.0.",
        )
    return f"{found[0].name}--v{version}"


def create_tag(tag: str, path: str, env: Mapping[str, str], spawner: Spawner, cancel: Cancel) -> str:
    """Tag the current commit; gives it. Raises PolicyError where the tag would not name what is there."""

    def ask(*words: str) -> Completed:
        return run_git(words, cwd=path, env=env, spawner=spawner, cancel=cancel)

    head = ask("rev-parse", "--verify", "-q", "HEAD^{commit}")
    if head.exit_code:
        raise _refusal(f"{path} is not in a git repository with a commit.", "Commit the plugin first.")
    if ask("status", "--porcelain", "--untracked-files=normal", "--", ".").stdout.strip():
        raise _refusal(f"{path} has changes that are not committed.", "Commit them, and tag then.")
    if ask("rev-parse", "--verify", "-q", f"refs/tags/{tag}").exit_code == 0:
        raise _refusal(f"The tag {tag} exists already.", "Write a new version into the manifest.")
    words = ("tag", "-a", "--no-sign", "-m", tag, "--", tag)
    made = change_git(words, cwd=path, env=env, spawner=spawner, cancel=cancel, timeout=_TIMEOUT)
    if made.exit_code:
        raise _refusal(f"git made no tag: {made.stderr.decode('utf-8', 'replace').strip()}", None)
    return head.stdout.decode().strip()


def _refusal(message: str, hint: str | None) -> PolicyError:
    return PolicyError(message, kind="tag_refused", hint=hint)
