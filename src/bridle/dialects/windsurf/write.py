"""Source items -> Windsurf's files."""

from __future__ import annotations

from bridle.dialects.generic.write import write_for
from bridle.dialects.generic.written import Options, Written
from bridle.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Commands become workflows, rules keep the paths they hold for."""
    return write_for("windsurf", sources, options)
