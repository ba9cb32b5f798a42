"""Source items -> Agent Skills directories, as the open standard has them: six fields and nothing else."""

from __future__ import annotations

from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options, Written
from checkrein.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Skills and commands become `.agents/skills/<name>/SKILL.md`; everything else is a loss."""
    return write_for("agent-skills", sources, options)
