"""What a run finds where it starts."""

from __future__ import annotations

import os
from pathlib import Path

from checkrein.base.config import load_config
from checkrein.base.home import checkrein_home
from checkrein.facts.config import KEYS
from checkrein.model.project import Project
from checkrein.passes.recipes.inputs import Surroundings


def surroundings_of(project: Project) -> Surroundings:
    """`source_dir` is the repository, `base_branch` the configured one."""
    config = load_config(KEYS, Path(project.place.root), checkrein_home(), os.environ)
    branch = str(config.get("branching.default_base_branch"))
    return Surroundings(detected={"source_dir": project.place.root, "base_branch": branch})
