"""A project as everybody who clones it has it: without the files and settings of this user and machine."""

from __future__ import annotations

import os
from collections.abc import Sequence

from checkrein.model.project import Project
from checkrein.passes.load import load

_NOWHERE = os.path.join(os.devnull, "nowhere")


def load_shared(path: str, sources: Sequence[str] = ("project",)) -> Project:
    """`sources` are the settings files that count. `~` still means this user's home."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("CHECKREIN_")}
    env |= {"CHECKREIN_HOME": _NOWHERE, "CLAUDE_CONFIG_DIR": _NOWHERE}
    return load(path, env=env, managed_dir=_NOWHERE, setting_sources=tuple(sources), detect=False)
