"""Source items -> Cursor's files."""

from __future__ import annotations

from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options, Written
from checkrein.model.project import Sources


def write(sources: Sources, options: Options) -> Written:
    """Rules with paths become .mdc files; commands and skills become skills."""
    return write_for("cursor-agent", sources, options)
