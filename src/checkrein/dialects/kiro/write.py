"""Source items -> Kiro's files."""

from __future__ import annotations

from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options, Written
from checkrein.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Commands become prompts, agents JSON files, rules steering files."""
    return write_for("kiro-cli", sources, options)
