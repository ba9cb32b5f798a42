"""Source items -> Windsurf's files."""

from __future__ import annotations

from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options, Written
from checkrein.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Commands become workflows, rules keep the paths they hold for."""
    return write_for("windsurf", sources, options)
