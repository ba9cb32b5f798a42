"""Source items -> GitHub Copilot's files."""

from __future__ import annotations

from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options, Written
from checkrein.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Commands become agent files with a prompt that starts each; skills, rules and hooks keep their kind."""
    return write_for("copilot", sources, options)
