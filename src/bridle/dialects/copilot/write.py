"""Source items -> GitHub Copilot's files."""

from __future__ import annotations

from bridle.dialects.generic.write import write_for
from bridle.dialects.generic.written import Options, Written
from bridle.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Commands become agent files with a prompt that starts each; skills, rules and hooks keep their kind."""
    return write_for("copilot", sources, options)
